"""Missing files, irrelevant messages and repeated failures end an import with a clear error."""

import json
from collections.abc import Iterator
from gzip import decompress as gunzip

import pytest

from shared.integration.imports.validation import FILE_GONE
from shared.kernel import aws
from shared.kernel.config import config
from shared.kernel.queued_work import MAX_ATTEMPTS
from tests.clock import Clock
from tests.faults import AwsFaults, Fault, refusal, refuse_calls
from tests.import_scenario import ImportScenario, leave_all_to_worker
from tests.integration.call_faults import at_calls
from tests.integration.imports.import_files import as_csv
from tests.integration.imports.outcome import all_imports, report_problems, snapshot

GOOD = [f"P-{number}" for number in range(1, 7)]
GOODS = as_csv([["item_code", "name"], *([code, "Good"] for code in GOOD), ["BAD", ""]])


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave everything to the worker, in several chunks and transactions."""
    leave_all_to_worker(monkeypatch)
    monkeypatch.setattr("shared.integration.imports.validation._CHUNK_ROWS", 3)
    monkeypatch.setattr("shared.integration.imports.kinds.importer.MAX_PLANNED_ACTIONS", 8)


def delete_files(scenario: ImportScenario, part: str, *, containing: bytes = b"") -> list[str]:
    """Delete the tenant's work files with `part` in the name and this content; return the names."""
    s3, bucket = aws.client("s3"), config().import_work_bucket
    deleted = []
    for each in s3.list_objects_v2(Bucket=bucket, Prefix=f"{scenario.slug}/")["Contents"]:
        name = each["Key"]
        if part not in name:
            continue
        content = s3.get_object(Bucket=bucket, Key=name)["Body"].read()
        if not containing or containing in gunzip(content):
            s3.delete_object(Bucket=bucket, Key=name)
            deleted.append(name)
    assert deleted
    return deleted


def message(scenario: ImportScenario, number: object, **more: object) -> str:
    return json.dumps({"tenant": scenario.slug, "import": number} | more)


def uploaded(scenario: ImportScenario) -> int:
    answer = scenario.upload("products", "goods.csv", GOODS)
    assert answer.data["status"] == "validating"
    return int(answer.data["id"])


def committing(scenario: ImportScenario) -> int:
    number = int(scenario.import_file("products", "goods.csv", GOODS)["id"])
    assert scenario.erp.post(f"/imports/{number}/commit").data["status"] == "committing"
    return number


def refusal_message(scenario: ImportScenario, number: int) -> str:
    answer = scenario.erp.post(f"/imports/{number}/commit")
    assert (answer.status, answer.code) == (409, "import_refused")
    text: str = answer.json()["message"]
    return text


def test_a_missing_upload_fails_the_import(scenario: ImportScenario) -> None:
    number = uploaded(scenario)
    delete_files(scenario, "/sources/")
    scenario.drain_queue()
    one = scenario.get_import(number)
    assert (one["status"], one["structure_errors"]) == ("failed", [FILE_GONE])
    assert "its validation failed" in refusal_message(scenario, number)


def test_a_missing_part_file_fails_the_validation(
    scenario: ImportScenario, aws_faults: AwsFaults
) -> None:
    number = uploaded(scenario)
    after_three_chunks = at_calls(
        "TransactWriteItems", [3], after=lambda: delete_files(scenario, "/parts/")
    )  # the first transaction takes the lease
    for body in scenario.take_messages():
        with aws_faults.faulty(after_three_chunks):
            assert not scenario.deliver(body)
    one = scenario.get_import(number)
    assert (one["status"], one["structure_errors"]) == ("failed", [FILE_GONE])
    assert "its validation failed" in refusal_message(scenario, number)


def test_a_missing_part_file_fails_the_commit(scenario: ImportScenario) -> None:
    number = committing(scenario)
    delete_files(scenario, "/parts/")
    scenario.drain_queue()
    one = scenario.get_import(number)
    assert (one["status"], one["structure_errors"]) == ("failed", [FILE_GONE])
    repeated = scenario.erp.post(f"/imports/{number}/commit")
    assert (repeated.status, repeated.data["structure_errors"]) == (202, [])
    scenario.drain_queue()
    assert scenario.get_import(number)["status"] == "failed"
    assert scenario.erp.walk("/products") == []


def test_missing_rejected_rows_do_not_fail_the_commit(
    scenario: ImportScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.integration.imports.validation._CHUNK_ROWS", 6)
    number = committing(scenario)
    report = report_problems(scenario, scenario.get_import(number))
    assert report == {(8, "name", "is required")}
    assert len(delete_files(scenario, "/parts/", containing=b"problems")) == 1, "one is rejected"
    scenario.drain_queue()
    one = scenario.get_import(number)
    assert (one["status"], one["documents"]["committed"]) == ("committed", 6)
    assert report_problems(scenario, one) == report


def test_a_missing_report_is_not_found(scenario: ImportScenario) -> None:
    number = scenario.import_file("products", "goods.csv", GOODS)["id"]
    delete_files(scenario, "/report-")
    answer = scenario.erp.get(f"/imports/{number}/error-report")
    assert (answer.status, answer.code) == (404, "not_found")
    assert scenario.commit(number)["status"] == "committed"


def test_a_dropped_file_that_was_replaced_fails_its_first_import(scenario: ImportScenario) -> None:
    scenario.put_file("drop/products/goods.csv", GOODS)
    [first] = scenario.take_messages()
    scenario.put_file("drop/products/goods.csv", as_csv([["item_code", "name"], ["NEW", "New"]]))
    [second] = scenario.take_messages()
    for body in (first, second, first):
        assert not scenario.deliver(body)
    scenario.drain_queue()
    one, two = all_imports(scenario)
    assert (one["status"], one["structure_errors"]) == ("failed", [FILE_GONE])
    assert (two["status"], two["rows"]["total"]) == ("validated", 1)


def test_an_upload_that_was_replaced_fails_the_import(scenario: ImportScenario) -> None:
    answer = scenario.erp.post("/imports/uploads", {"kind": "products", "filename": "goods.csv"})
    name = answer.data["upload"]["fields"]["key"].partition("/")[2]
    scenario.put_file(name, GOODS)
    bodies = scenario.take_messages()
    scenario.put_file(name, as_csv([["item_code", "name"], ["NEW", "New"]]))
    for body in bodies:
        assert not scenario.deliver(body)
    scenario.drain_queue()
    [one] = all_imports(scenario)
    assert (one["status"], one["structure_errors"]) == ("failed", [FILE_GONE])


def notification(key: str) -> str:
    return json.dumps({"Records": [{"s3": {"object": {"key": key, "size": 1}}}]})


IRRELEVANT_MESSAGES = (
    '{"tenant": "acme", "import": 77}',
    '{"tenant": "acme", "import": -1}',
    '{"tenant": "acme", "import": 1000000000000000000000}',
    '{"tenant": "nobody", "import": 1}',
    '{"Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": "b"}',
    '{"Records": []}',
    notification("nobody/drop/products/a.csv"),
    notification("acme/elsewhere/a.csv"),
    notification("acme/uploads/77/a.csv"),
    notification("acme/uploads/x/a.csv"),
    notification("acme/uploads/%C2%B2/a.csv"),
    notification("acme"),
    notification("/"),
)


def test_an_irrelevant_message_has_no_effect(scenario: ImportScenario) -> None:
    before = scenario.stack.items()
    for receives in (1, MAX_ATTEMPTS):
        assert scenario.deliver(*IRRELEVANT_MESSAGES, receives=receives) == []
    assert scenario.stack.items() == before
    assert scenario.take_messages() == []
    assert scenario.files() == {}


def test_only_the_failed_messages_of_a_batch_are_returned(scenario: ImportScenario) -> None:
    for poison in ("", "nonsense", "[]", "5", '{"import": 1}', '{"Records": [1]}'):
        numbers = [uploaded(scenario) for _ in range(2)]
        scenario.take_messages()
        first, second = (message(scenario, number) for number in numbers)
        assert scenario.deliver(first, poison, second, first, second) == [poison]
        assert {scenario.get_import(number)["status"] for number in numbers} == {"validated"}


def test_a_message_for_an_import_of_another_tenant_has_no_effect(scenario: ImportScenario) -> None:
    number = uploaded(scenario)
    scenario.take_messages()
    other_tenant = ImportScenario(scenario.stack, "beta")
    assert scenario.deliver(message(other_tenant, number)) == []
    assert scenario.get_import(number)["status"] == "validating"


def deliveries(
    scenario: ImportScenario, clock: Clock, aws_faults: AwsFaults, operation: str
) -> Iterator[bool]:
    """Deliver the newest message as often as the queue does, and yield whether each failed."""
    body = scenario.take_messages()[-1]
    for receives in range(1, MAX_ATTEMPTS + 1):
        clock.advance(720)
        with aws_faults.faulty(refuse_calls(operation, code="InvalidRequest")):
            yield bool(scenario.deliver(body, receives=receives))


def test_a_validation_that_always_fails_is_given_up(
    scenario: ImportScenario, clock: Clock, aws_faults: AwsFaults
) -> None:
    number = uploaded(scenario)
    outcomes = list(deliveries(scenario, clock, aws_faults, "GetObject"))
    assert outcomes == [True, True, True, True, False]
    one = scenario.get_import(number)
    assert one["status"] == "failed"
    assert one["structure_errors"] == [
        "Processing failed 5 times at the same point. Upload the file again."
    ]
    assert "its validation failed" in refusal_message(scenario, number)
    clock.advance(720)
    scenario.drain_queue()
    assert scenario.get_import(number) == one


def test_a_commit_that_was_given_up_can_be_resumed(
    scenario: ImportScenario, clock: Clock, aws_faults: AwsFaults
) -> None:
    number = committing(scenario)
    outcomes = list(deliveries(scenario, clock, aws_faults, "GetObject"))
    assert outcomes == [True, True, True, True, False]
    one = scenario.get_import(number)
    assert (one["status"], one["structure_errors"]) == (
        "failed",
        ["Processing failed 5 times at the same point. Commit the import again."],
    )
    scenario.take_messages()
    assert scenario.commit(number)["documents"] == {
        "total": 7,
        "valid": 6,
        "committed": 6,
        "skipped": 0,
    }
    products = [product["item_code"] for product in scenario.erp.walk("/products")]
    assert products == GOOD


def test_a_commit_that_makes_progress_is_not_given_up(
    scenario: ImportScenario, clock: Clock, aws_faults: AwsFaults
) -> None:
    number = committing(scenario)
    body = scenario.take_messages()[-1]
    for receives in range(1, MAX_ATTEMPTS + 1):
        clock.advance(720)
        with aws_faults.faulty(fail_after_one_step()):
            failed = scenario.deliver(body, receives=receives)
        assert bool(failed) == (scenario.get_import(number)["status"] == "committing")
        if not failed:
            break
    clock.advance(720)
    scenario.drain_queue()
    one = scenario.get_import(number)
    assert (one["status"], one["documents"]["committed"]) == ("committed", 6)
    assert set(snapshot(scenario).values()) == {1}


def fail_after_one_step() -> Fault:
    """Return a fault that lets only one transaction succeed after the lease is taken."""
    return at_calls("TransactWriteItems", range(2, 100), answer=lambda _: refusal("InvalidRequest"))


def test_the_last_delivery_sends_another_message(
    scenario: ImportScenario, clock: Clock, aws_faults: AwsFaults
) -> None:
    number = committing(scenario)
    body = scenario.take_messages()[-1]
    clock.advance(720)
    with aws_faults.faulty(fail_after_one_step()):
        assert scenario.deliver(body, receives=MAX_ATTEMPTS) == []
    (letter,) = scenario.dead_letters()
    assert letter.body == body
    clock.advance(720)
    scenario.drain_queue()
    assert scenario.get_import(number)["status"] == "committed"
