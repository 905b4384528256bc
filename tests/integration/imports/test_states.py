"""What may be asked of an import in each of its states, and who may ask."""

from collections.abc import Callable, Iterator

import pytest

from operations import provisioning
from shared.identity.auth.scopes import SCOPES
from shared.identity.tenancy.directory import directory
from shared.identity.tenancy.tenant import MODULES
from tests.gateway import Erp, Form
from tests.import_scenario import ImportDesk
from tests.integration.imports.import_files import as_csv
from tests.integration.imports.outcome import made

GOODS = as_csv([["item_code", "name"], ["A", "Good"]])
FORM = Form({"kind": "products"}, ("goods.csv", GOODS))


def uploaded(desk: ImportDesk) -> int:
    body = {"kind": "products", "filename": "goods.csv"}
    return int(desk.erp.post("/imports/uploads", body).data["id"])


def upload(desk: ImportDesk, content: bytes = GOODS) -> int:
    return int(desk.upload("products", "goods.csv", content).data["id"])


def invalid(desk: ImportDesk) -> int:
    return upload(desk, b"item_code,name\nA,\n")


def committing(desk: ImportDesk) -> int:
    number = upload(desk)
    desk.drain()
    desk.erp.post(f"/imports/{number}/commit")
    return number


def cancelled(desk: ImportDesk) -> int:
    number = upload(desk)
    desk.erp.post(f"/imports/{number}/cancel")
    return number


def committed(desk: ImportDesk) -> int:
    number = upload(desk)
    desk.commit(number)
    return number


type Make = Callable[[ImportDesk], int]

BY_WORKER: dict[str, tuple[Make, str]] = {
    "validating": (upload, "it is still being validated"),
    "committing": (committing, "a commit is running"),
}
AT_ONCE: dict[str, tuple[Make, str]] = {
    "uploaded": (uploaded, "its file has not arrived"),
    "invalid": (invalid, "none of its rows is valid"),
    "committed": (committed, "it is committed already"),
    "cancelled": (cancelled, "it was cancelled"),
}


def by_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shared.integration.imports.service._AT_ONCE_BYTES", 0)
    monkeypatch.setattr("shared.integration.imports.service._AT_ONCE_UNITS", 0)


def test_what_cannot_be_committed_says_why(
    desk: ImportDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for status, (make, why) in [*AT_ONCE.items(), *BY_WORKER.items()]:
        if status in BY_WORKER:
            by_worker(monkeypatch)
        number = make(desk)
        before = desk.show(number)
        assert before["status"] == status
        for key in (None, "k"):
            answer = desk.erp.post(f"/imports/{number}/commit", key=key)
            assert (answer.status, answer.code) == (409, "import_refused")
            message = f"Import {number} cannot be committed: {why}."
            assert answer.json()["message"] == message
        assert desk.show(number) == before
        desk.take()
        desk.stack.empty()


def test_what_can_be_cancelled(desk: ImportDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = {"uploaded", "validating", "validated"}
    for status, (make, _) in [*AT_ONCE.items(), ("validated", (upload, "")), *BY_WORKER.items()]:
        if status in BY_WORKER:
            by_worker(monkeypatch)
        number = make(desk)
        assert desk.show(number)["status"] == status
        before = made(desk)
        answer = desk.erp.post(f"/imports/{number}/cancel")
        if status in ends:
            assert (answer.status, answer.data["status"]) == (200, "cancelled")
        else:
            assert (answer.status, answer.code) == (409, "import_refused")
            assert status in answer.json()["message"]
            assert made(desk) == before
        if status in ends:
            desk.drain()
            assert desk.show(number)["status"] == "cancelled"
        desk.take()
        desk.stack.empty()


def test_a_file_that_arrives_after_all_stays_where_it_is(desk: ImportDesk) -> None:
    answer = desk.erp.post("/imports/uploads", {"kind": "products", "filename": "goods.csv"})
    number = answer.data["id"]
    desk.erp.post(f"/imports/{number}/cancel")
    desk.put(answer.data["upload"]["fields"]["key"].partition("/")[2], GOODS)
    desk.drain()
    assert desk.show(number)["status"] == "cancelled"


def paths(number: int) -> Iterator[tuple[str, str, object]]:
    yield "GET", "/imports", None
    yield "GET", f"/imports/{number}", None
    yield "GET", f"/imports/{number}/error-report", None
    yield "GET", "/imports/templates/products", None
    yield "POST", "/imports", FORM
    yield "POST", "/imports/uploads", {"kind": "products", "filename": "goods.csv"}
    yield "POST", f"/imports/{number}/commit", None
    yield "POST", f"/imports/{number}/cancel", None


def refusals(erp: Erp, number: int) -> set[tuple[int, str]]:
    answers = [erp.send(method, path, body) for method, path, body in paths(number)]
    return {(answer.status, answer.code) for answer in answers}


def test_a_neighbours_import_is_not_found(desk: ImportDesk, beta: Erp) -> None:
    number = upload(desk)
    for method, path, body in paths(number):
        if str(number) in path:
            answer = beta.send(method, path, body)
            assert (answer.status, answer.code) == (404, "not_found"), path


def test_while_the_module_is_off(desk: ImportDesk) -> None:
    number = upload(desk)
    provisioning.set_modules(desk.slug, MODULES - {"bulk_import"})
    directory.forget()
    assert refusals(desk.erp, number) == {(404, "bulk_import_disabled")}


def test_who_may_not_import(desk: ImportDesk) -> None:
    number = upload(desk)
    user = Erp(desk.stack.gateway, desk.stack.user_token(permissions="inventory.manage"))
    assert refusals(user, number) == {(403, "forbidden")}
    reader = desk.stack.erp(scopes=set(SCOPES) - {"products:write"})
    for method, path, body in paths(number):
        answer = reader.send(method, path, body)
        assert method == "GET" or (answer.status, answer.code) == (403, "missing_scope")
    allowed = Erp(desk.stack.gateway, desk.stack.user_token(permissions="imports.run"))
    assert allowed.post(f"/imports/{number}/commit").status == 202


def test_what_is_not_there(desk: ImportDesk) -> None:
    for path in ("/imports/7", "/imports/7/error-report", "/imports/templates/stock"):
        answer = desk.erp.get(path)
        assert (answer.status, answer.code) == (404, "not_found")
    for path in ("/imports/7/commit", "/imports/7/cancel"):
        answer = desk.erp.post(path)
        assert (answer.status, answer.code) == (404, "not_found")
    number = committed(desk)
    answer = desk.erp.get(f"/imports/{number}/error-report")
    assert (answer.status, answer.code) == (404, "not_found")


def test_progress_is_shown_while_the_worker_is_at_it(
    desk: ImportDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_worker(monkeypatch)
    monkeypatch.setattr("shared.integration.imports.validation._CHUNK_ROWS", 2)
    monkeypatch.setattr("shared.integration.imports.commit.MAX_ACTIONS", 8)
    seen: list[tuple[str, object, object]] = []

    def look() -> None:
        one = desk.show(1)
        seen.append((one["status"], one["rows"]["valid"], one["documents"]["committed"]))

    content = as_csv([["item_code", "name"], *([f"P-{n}", "Good"] for n in range(5))])
    upload(desk, content)
    look()
    slow(desk, monkeypatch, look)
    desk.erp.post("/imports/1/commit")
    look()
    slow(desk, monkeypatch, look)
    assert [one for at, one in enumerate(seen) if one not in seen[:at]] == [
        ("validating", None, None),
        ("validating", 2, 0),
        ("validating", 4, 0),
        ("validating", 5, 0),
        ("validated", 5, 0),
        ("committing", 5, 0),
        ("committing", 5, 2),
        ("committing", 5, 4),
        ("committing", 5, 5),
        ("committed", 5, 5),
    ]


def slow(desk: ImportDesk, monkeypatch: pytest.MonkeyPatch, look: Callable[[], None]) -> None:
    """Let the worker do one step with each message, and look after each."""
    with monkeypatch.context() as patch:
        patch.setattr("shared.integration.imports.context.Workspace.deadline", _Late())
        while bodies := desk.take():
            for body in bodies:
                assert not desk.work(body)
                look()


class _Late:
    """A deadline that has passed whenever somebody asks."""

    remaining = 0.0
