"""With `imports_require_kind_scope`, an import also needs the rights of what it imports."""

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from functions.catalog.app import routes as catalog
from functions.documents.app import routes as documents
from functions.imports.app import routes as imports
from functions.stock.adjustments import routes as adjustments
from functions.stock.app import routes as stock
from functions.transfer_orders.app import routes as transfer_orders
from functions.warehouses.pick_faces import routes as pick_faces
from functions.work.returns import routes as returns
from shared.identity.auth.scopes import PERMISSIONS, SCOPES
from shared.integration.imports.kind_access import ACCESS_OF_KIND
from shared.integration.imports.models import IMPORT_KINDS
from tests.gateway import Erp, Form, Response
from tests.import_scenario import ImportScenario
from tests.integration.imports.import_files import as_csv, table
from tests.integration.imports.kind_examples import EXITS, KIND_EXAMPLES, PRODUCTS, KindExample
from tests.warehouse_scenario import WarehouseScenario

_READS = ("detail", "report")
_WRITES = ("upload", "request upload", "commit", "cancel")
_ALLOWED = {
    "detail": 200, "report": 200, "upload": 202, "request upload": 201, "commit": 202,
    "cancel": 409,
}  # fmt: skip
"""Status of the response of each route to a caller with the rights; `cancel` follows the commit."""

each_kind = pytest.mark.parametrize("example", KIND_EXAMPLES, ids=lambda each: each.kind)


@pytest.fixture
def strict(yard_with_returns: WarehouseScenario) -> WarehouseScenario:
    """The master data of a company whose imports also need the rights of their kind."""
    yard_with_returns.change_settings(imports_require_kind_scope=True)
    return yard_with_returns


def client(scenario: ImportScenario, *, without: Iterable[str] = ()) -> Erp:
    """Return an integration client with every scope except some."""
    return scenario.stack.erp(scopes=SCOPES.keys() - set(without))


def user(scenario: ImportScenario, *, without: Iterable[str] = ()) -> Erp:
    """Return a user with every permission except some."""
    permissions = " ".join(sorted(PERMISSIONS.keys() - set(without)))
    return Erp(scenario.stack.gateway, scenario.stack.user_token(permissions=permissions))


def upload_with_an_error(scenario: ImportScenario, example: KindExample) -> int:
    """Upload the example and a row that is rejected; return the id of the import."""
    rows = [*example.rows(), {"item_code": "UNKNOWN"}]
    made = scenario.import_file(example.kind, "file.csv", as_csv(table(example.kind, rows)))
    assert made["status"] == "validated"
    number: int = made["id"]
    return number


def answers(erp: Erp, kind: str, number: int) -> Iterator[tuple[str, Response]]:
    """Yield the response of each route that concerns one import of a kind."""
    yield "detail", erp.get(f"/imports/{number}")
    yield "report", erp.get(f"/imports/{number}/error-report")
    yield "upload", erp.post("/imports", Form({"kind": kind}, ("a.csv", b"x\n")))
    yield "request upload", erp.post("/imports/uploads", {"kind": kind, "filename": "a.csv"})
    yield "commit", erp.post(f"/imports/{number}/commit")
    yield "cancel", erp.post(f"/imports/{number}/cancel")


@each_kind
def test_a_client_needs_the_scopes_of_the_kind(
    example: KindExample, scenario: ImportScenario, strict: WarehouseScenario
) -> None:
    access = ACCESS_OF_KIND[example.kind]
    number = upload_with_an_error(scenario, example)
    before = strict.erp.get(example.list_path).json()["meta"]["total"]

    for scope, names in ((access.write_scope, _WRITES), (access.read_scope, _READS)):
        assert scenario.get_import(number)["status"] == "validated"
        assert strict.erp.get(example.list_path).json()["meta"]["total"] == before
        if names == _READS and access.always:  # the scope to write is enough
            continue
        refused = {
            (name, answer.json()["error"]["code"], answer.json()["error"]["scope"])
            for name, answer in answers(client(scenario, without=[scope]), example.kind, number)
            if answer.status == 403
        }
        assert refused == {(name, "missing_scope", scope) for name in names}


@each_kind
@pytest.mark.usefixtures("strict")
def test_if_match_needs_no_scope_to_read(example: KindExample, scenario: ImportScenario) -> None:
    number = upload_with_an_error(scenario, example)
    tag = scenario.erp.get(f"/imports/{number}").headers["ETag"]
    access = ACCESS_OF_KIND[example.kind]
    erp = client(scenario, without=[access.read_scope])

    for action in ("commit", "cancel"):
        path = f"/imports/{number}/{action}"
        assert erp.post(path, headers={"If-Match": 'W/"0"'}).code == "stale_state"
        other = client(scenario, without=[access.read_scope, access.write_scope])
        refused = other.post(path, headers={"If-Match": tag}).json()["error"]
        assert (refused["code"], refused["scope"]) == ("missing_scope", access.write_scope)
    assert erp.post(f"/imports/{number}/commit", headers={"If-Match": tag}).status == 202


@each_kind
@pytest.mark.usefixtures("strict")
def test_a_user_needs_the_permission_of_the_kind(
    example: KindExample, scenario: ImportScenario
) -> None:
    number = upload_with_an_error(scenario, example)
    other = user(scenario, without=[ACCESS_OF_KIND[example.kind].permission])
    for name, answer in answers(other, example.kind, number):
        assert (answer.status, answer.code) == (403, "forbidden"), name
    able = user(scenario, without=PERMISSIONS.keys() - {
        "imports.run", ACCESS_OF_KIND[example.kind].permission,
    })  # fmt: skip
    assert {name: one.status for name, one in answers(able, example.kind, number)} == _ALLOWED


@each_kind
@pytest.mark.usefixtures("yard_with_returns")
def test_without_the_setting_the_rights_of_imports_are_enough(
    example: KindExample, scenario: ImportScenario
) -> None:
    number = upload_with_an_error(scenario, example)
    scopes = {"products:read", "products:write"}
    if example.kind == "stock_counts":
        refused = answers(scenario.stack.erp(scopes=scopes), example.kind, number)
        assert {answer.code for _, answer in refused} == {"missing_scope"}
        refused = answers(user(scenario, without=["inventory.manage"]), example.kind, number)
        assert {answer.code for _, answer in refused} == {"forbidden"}
        reader = scenario.stack.erp(scopes={*scopes, "stocks:read"})
        able = {name for name, one in answers(reader, example.kind, number) if one.status == 200}
        assert able == set(_READS)
        scopes.add("stocks:write")
    erp = scenario.stack.erp(scopes=scopes)
    assert {name: one.status for name, one in answers(erp, example.kind, number)} == _ALLOWED


@pytest.mark.usefixtures("strict")
def test_the_list_hides_what_the_files_of_other_kinds_contain(
    scenario: ImportScenario,
) -> None:
    upload_with_an_error(scenario, EXITS)
    upload_with_an_error(scenario, PRODUCTS)
    scenario.import_file("exit_documents", "secret.csv", b"nothing\n1\n")

    everything = scenario.erp.walk("/imports")
    shown = client(scenario, without=["pickings:read"]).walk("/imports")

    hidden: dict[str, Any] = {"file": None, "structure_errors": [], "error_report_url": None}
    assert any(each["structure_errors"] for each in everything)
    assert shown == [
        each | hidden if each["kind"] == "exit_documents" else each for each in everything
    ]


@pytest.mark.usefixtures("strict")
def test_a_refused_caller_does_not_learn_whether_the_body_is_valid(
    scenario: ImportScenario,
) -> None:
    erp = client(scenario, without=["pickings:write"])
    answer = erp.post("/imports", Form({"kind": "exit_documents", "options[on_duplicate]": "x"}))
    assert (answer.status, answer.code) == (403, "missing_scope")
    answer = erp.post("/imports/uploads", {"kind": "exit_documents"})
    assert (answer.status, answer.code) == (403, "missing_scope")


@pytest.mark.usefixtures("strict")
def test_a_refusal_is_not_kept_under_the_idempotency_key(
    scenario: ImportScenario,
) -> None:
    number = upload_with_an_error(scenario, EXITS)
    path = f"/imports/{number}/commit"
    assert client(scenario, without=["pickings:write"]).post(path, key="k").status == 403
    answer = client(scenario).post(path, key="k")
    assert (answer.status, answer.data["status"]) == (202, "committed")


def test_a_commit_that_has_begun_is_completed_when_the_setting_is_switched_on(
    scenario: ImportScenario, yard_with_returns: WarehouseScenario
) -> None:
    number = upload_with_an_error(scenario, EXITS)
    erp = scenario.stack.erp(scopes={"products:read", "products:write"})
    assert erp.post(f"/imports/{number}/commit").status == 202
    yard_with_returns.change_settings(imports_require_kind_scope=True)
    scenario.drain_queue()
    assert scenario.get_import(number)["status"] == "committed"


def test_access_of_each_kind_is_that_of_the_routes_of_its_entities() -> None:
    operations = {
        each.name: each
        for group in (
            catalog,
            documents,
            transfer_orders,
            returns,
            adjustments,
            stock,
            pick_faces,
        )
        for each in group.operations
    }
    for example in KIND_EXAMPLES:
        access = ACCESS_OF_KIND[example.kind]
        write, read = operations[f"POST {example.path}"], operations[f"GET {example.list_path}"]
        assert access.read_scope == read.scope
        assert (access.write_scope, access.permission) == (write.scope, write.permission)
        assert access.module == write.module
    assert {example.kind for example in KIND_EXAMPLES} == set(IMPORT_KINDS)


def test_every_route_of_one_import_is_covered() -> None:
    about_no_kind = {"GET /imports", "GET /imports/templates/{kind}"}
    names = {each.name for each in imports.operations} - about_no_kind
    assert len(names) == len({*_READS, *_WRITES})
