"""Files that are gone, messages about nothing, imports that fail again and again.

Whatever comes, the worker survives it, and the import ends in words for people.
"""

import json
from collections.abc import Iterator
from gzip import decompress as gunzip
from typing import Any

import pytest

from shared.integration.imports.validation import FILE_GONE
from shared.integration.imports.worker import MOST_STALLS
from shared.kernel import aws
from shared.kernel.config import config
from tests.clock import Clock
from tests.faults import Answer, AwsFaults, Call, Forward, refusal
from tests.import_scenario import ImportDesk
from tests.integration.imports.import_files import as_csv
from tests.integration.imports.outcome import complained, imports, made

GOOD = [f"P-{number}" for number in range(1, 7)]
GOODS = as_csv([["item_code", "name"], *([code, "Good"] for code in GOOD), ["BAD", ""]])


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave everything to the worker, in several steps."""
    monkeypatch.setattr("shared.integration.imports.service._AT_ONCE_BYTES", 0)
    monkeypatch.setattr("shared.integration.imports.service._AT_ONCE_UNITS", 0)
    monkeypatch.setattr("shared.integration.imports.validation._CHUNK_ROWS", 3)
    monkeypatch.setattr("shared.integration.imports.commit.MAX_ACTIONS", 8)


def lose(desk: ImportDesk, part: str) -> None:
    """Delete the tenant's working files whose names have this in them."""
    s3, bucket = aws.client("s3"), config().import_work_bucket
    found = s3.list_objects_v2(Bucket=bucket, Prefix=f"{desk.slug}/").get("Contents", [])
    names = [each["Key"] for each in found if part in each["Key"]]
    assert names
    for name in names:
        s3.delete_object(Bucket=bucket, Key=name)


def message(desk: ImportDesk, number: object, **more: object) -> str:
    return json.dumps({"tenant": desk.slug, "import": number} | more)


def uploaded(desk: ImportDesk) -> int:
    answer = desk.upload("products", "goods.csv", GOODS)
    assert answer.data["status"] == "validating"
    return int(answer.data["id"])


def committing(desk: ImportDesk) -> int:
    number = int(desk.imported("products", "goods.csv", GOODS)["id"])
    assert desk.erp.post(f"/imports/{number}/commit").data["status"] == "committing"
    return number


def refused(desk: ImportDesk, number: int) -> str:
    answer = desk.erp.post(f"/imports/{number}/commit")
    assert (answer.status, answer.code) == (409, "import_refused")
    told: str = answer.json()["message"]
    return told


# Files


def test_a_source_that_is_gone(desk: ImportDesk) -> None:
    number = uploaded(desk)
    lose(desk, "/sources/")
    desk.drain()
    one = desk.show(number)
    assert (one["status"], one["structure_errors"]) == ("failed", [FILE_GONE])
    assert "not validated to the end" in refused(desk, number)


def test_a_rejected_part_that_is_gone_before_the_report(
    desk: ImportDesk, aws_faults: AwsFaults
) -> None:
    number = uploaded(desk)
    for body in desk.take():
        with aws_faults.faulty(after_the_last_chunk(desk)):
            assert not desk.work(body)
    one = desk.show(number)
    assert (one["status"], one["structure_errors"]) == ("failed", [FILE_GONE])
    assert "not validated to the end" in refused(desk, number)


def after_the_last_chunk(desk: ImportDesk) -> Any:
    """Lose the parts once three chunks have been written down."""
    changes = 0

    def fault(call: Call, forward: Forward) -> Answer:
        nonlocal changes
        answer = forward()
        changes += call.operation == "TransactWriteItems"
        if changes == 4 and call.operation == "TransactWriteItems":  # the claim, three chunks
            lose(desk, "/parts/")
        return answer

    return fault


def test_a_part_that_is_gone_before_the_commit(desk: ImportDesk) -> None:
    number = committing(desk)
    lose(desk, "/parts/")
    desk.drain()
    one = desk.show(number)
    assert (one["status"], one["structure_errors"]) == ("failed", [FILE_GONE])
    again = desk.erp.post(f"/imports/{number}/commit")
    assert (again.status, again.data["structure_errors"]) == (202, [])
    desk.drain()
    assert desk.show(number)["status"] == "failed"
    assert desk.erp.walk("/products") == []


def test_rejected_rows_that_are_gone_do_not_undo_a_commit(
    desk: ImportDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.integration.imports.validation._CHUNK_ROWS", 6)
    number = committing(desk)
    report = complained(desk, desk.show(number))
    assert report == {(8, "name", "is required")}
    lose_rejected(desk)
    desk.drain()
    one = desk.show(number)
    assert (one["status"], one["documents"]["committed"]) == ("committed", 6)
    assert complained(desk, one) == report


def lose_rejected(desk: ImportDesk) -> None:
    """Delete the smallest part: the one row that is rejected."""
    s3, bucket = aws.client("s3"), config().import_work_bucket
    parts = [
        each
        for each in s3.list_objects_v2(Bucket=bucket, Prefix=f"{desk.slug}/")["Contents"]
        if "/parts/" in each["Key"]
    ]
    rejected = [
        each["Key"]
        for each in parts
        if b"problems" in gunzip(s3.get_object(Bucket=bucket, Key=each["Key"])["Body"].read())
    ]
    assert len(rejected) == 1
    s3.delete_object(Bucket=bucket, Key=rejected[0])


def test_a_report_that_is_gone(desk: ImportDesk) -> None:
    number = desk.imported("products", "goods.csv", GOODS)["id"]
    lose(desk, "/report-")
    answer = desk.erp.get(f"/imports/{number}/error-report")
    assert (answer.status, answer.code) == (404, "not_found")
    assert desk.commit(number)["status"] == "committed"


def test_an_arrival_that_was_replaced_is_not_taken_for_the_first(desk: ImportDesk) -> None:
    desk.put("drop/products/goods.csv", GOODS)
    [first] = desk.take()
    desk.put("drop/products/goods.csv", as_csv([["item_code", "name"], ["NEW", "New"]]))
    [second] = desk.take()
    for body in (first, second, first):
        assert not desk.work(body)
    desk.drain()
    one, two = imports(desk)
    assert (one["status"], one["structure_errors"]) == ("failed", [FILE_GONE])
    assert (two["status"], two["rows"]["total"]) == ("validated", 1)


def test_an_announced_file_that_was_replaced(desk: ImportDesk) -> None:
    answer = desk.erp.post("/imports/uploads", {"kind": "products", "filename": "goods.csv"})
    name = answer.data["upload"]["fields"]["key"].partition("/")[2]
    desk.put(name, GOODS)
    bodies = desk.take()
    desk.put(name, as_csv([["item_code", "name"], ["NEW", "New"]]))
    for body in bodies:
        assert not desk.work(body)
    desk.drain()
    [one] = imports(desk)
    assert (one["status"], one["structure_errors"]) == ("failed", [FILE_GONE])


# Messages


def arrived(key: str) -> str:
    return json.dumps({"Records": [{"s3": {"object": {"key": key, "size": 1}}}]})


ABOUT_NOTHING = (
    '{"tenant": "acme", "import": 77}',
    '{"tenant": "acme", "import": -1}',
    '{"tenant": "acme", "import": 1000000000000000000000}',
    '{"tenant": "nobody", "import": 1}',
    "{}",
    '{"Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": "b"}',
    '{"Records": []}',
    arrived("nobody/drop/products/a.csv"),
    arrived("acme/elsewhere/a.csv"),
    arrived("acme/uploads/77/a.csv"),
    arrived("acme/uploads/x/a.csv"),
    arrived("acme/uploads/%C2%B2/a.csv"),
    arrived("acme"),
    arrived("/"),
)


def test_a_message_about_nothing_does_nothing(desk: ImportDesk) -> None:
    before = desk.stack.items()
    for receives in (1, MOST_STALLS):
        assert desk.work(*ABOUT_NOTHING, receives=receives) == []
    assert desk.stack.items() == before
    assert desk.take() == []
    assert desk.files() == {}


def test_of_a_batch_only_what_failed_is_told(desk: ImportDesk) -> None:
    for poison in ("", "nonsense", "[]", "5", '{"import": 1}', '{"Records": [1]}'):
        numbers = [uploaded(desk) for _ in range(2)]
        desk.take()
        first, second = (message(desk, number) for number in numbers)
        assert desk.work(first, poison, second, first, second) == [poison]
        assert {desk.show(number)["status"] for number in numbers} == {"validated"}


def test_a_neighbours_import_is_not_found(desk: ImportDesk) -> None:
    number = uploaded(desk)
    desk.take()
    neighbour = ImportDesk(desk.stack, "beta")
    assert desk.work(message(neighbour, number)) == []
    assert desk.show(number)["status"] == "validating"


# Failing again and again


def broken(operation: str) -> Any:
    """AWS refuses every call of an operation."""

    def fault(call: Call, forward: Forward) -> Answer:
        return refusal("InvalidRequest") if call.operation == operation else forward()

    return fault


def deliveries(
    desk: ImportDesk, clock: Clock, aws_faults: AwsFaults, operation: str
) -> Iterator[bool]:
    """Deliver the newest message as often as the queue does; whether it failed."""
    body = desk.take()[-1]
    for receives in range(1, MOST_STALLS + 1):
        clock.advance(720)
        with aws_faults.faulty(broken(operation)):
            yield bool(desk.work(body, receives=receives))


def test_a_validation_that_fails_each_time_is_given_up(
    desk: ImportDesk, clock: Clock, aws_faults: AwsFaults
) -> None:
    number = uploaded(desk)
    outcomes = list(deliveries(desk, clock, aws_faults, "GetObject"))
    assert outcomes == [True, True, True, True, False]
    one = desk.show(number)
    assert one["status"] == "failed"
    assert one["structure_errors"] == [
        "The import failed several times in the same place; upload the file again."
    ]
    assert "not validated to the end" in refused(desk, number)
    clock.advance(720)
    desk.drain()
    assert desk.show(number) == one


def test_a_commit_that_was_given_up_goes_on_where_it_stopped(
    desk: ImportDesk, clock: Clock, aws_faults: AwsFaults
) -> None:
    number = committing(desk)
    outcomes = list(deliveries(desk, clock, aws_faults, "GetObject"))
    assert outcomes == [True, True, True, True, False]
    one = desk.show(number)
    assert (one["status"], one["structure_errors"]) == (
        "failed",
        ["The import failed several times in the same place; it can be committed again."],
    )
    desk.take()
    assert desk.commit(number)["documents"] == {"total": 7, "valid": 6, "committed": 6}
    products = [product["item_code"] for product in desk.erp.walk("/products")]
    assert products == GOOD


def test_who_gets_ahead_is_not_given_up(
    desk: ImportDesk, clock: Clock, aws_faults: AwsFaults
) -> None:
    number = committing(desk)
    body = desk.take()[-1]
    for receives in range(1, MOST_STALLS + 1):
        clock.advance(720)
        with aws_faults.faulty(stops_after_a_step()):
            failed = desk.work(body, receives=receives)
        assert bool(failed) == (desk.show(number)["status"] == "committing")
        if not failed:
            break
    clock.advance(720)
    desk.drain()
    one = desk.show(number)
    assert (one["status"], one["documents"]["committed"]) == ("committed", 6)
    assert set(made(desk).values()) == {1}


def stops_after_a_step() -> Any:
    """Let one transaction after the claim pass."""
    passed = 0

    def fault(call: Call, forward: Forward) -> Answer:
        nonlocal passed
        passed += call.operation == "TransactWriteItems"
        broken = call.operation == "TransactWriteItems" and passed > 2
        return refusal("InvalidRequest") if broken else forward()

    return fault


def test_the_last_delivery_leaves_a_message_behind(
    desk: ImportDesk, clock: Clock, aws_faults: AwsFaults
) -> None:
    number = committing(desk)
    body = desk.take()[-1]
    clock.advance(720)
    with aws_faults.faulty(stops_after_a_step()):
        assert desk.work(body, receives=MOST_STALLS) == [body]
    clock.advance(720)
    desk.drain()
    assert desk.show(number)["status"] == "committed"
