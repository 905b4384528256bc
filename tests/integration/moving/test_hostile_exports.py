"""An export made by somebody hostile changes nothing outside its tenant."""

import json
import random
from base64 import b64encode
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from moto.dynamodb.models import dynamodb_backends

from operations import provisioning
from operations.api_clients import create_client
from operations.items_file import outbox_entries
from operations.moved_items import from_json, to_json
from operations.tenant_import import Terms, import_tenant, open_export
from operations.tenant_import.line_checks import RefusedLine, checked_line
from operations.tenant_rules import NewTenant
from shared.identity.tenancy.access import session_policy
from shared.kernel.clock import instant, now_ms
from shared.kernel.config import config
from shared.kernel.db import schema
from shared.kernel.db.items import pack
from shared.kernel.errors import Conflict, ValidationFailed
from shared.kernel.json_text import dumps
from tests.aws_calls import recorded_calls
from tests.cases import each_case
from tests.faults import AwsFaults, kill_after
from tests.iam import Access, Policy, allows, read_policy
from tests.integration.moving.crafted_exports import (
    CraftedExport,
    Line,
    as_text,
    first,
    mutations,
    replaced,
)
from tests.integration.moving.fuzzed_items import problem_of
from tests.integration.moving.two_deployments import (
    ADDRESS,
    HOST,
    PASSPHRASE,
    TwoDeployments,
    control_items,
    import_export,
)
from tests.integration.roles import ARNS, Roles
from tests.snapshot import stored_items
from tests.stack import ACCOUNT, REGION, Stack

BETA_CLIENT = "stw_beta_0123456789abcdef01234567"


@pytest.fixture
def export(export: CraftedExport) -> CraftedExport:
    """An export of acme, and a target with the tenant beta, which has a client."""
    provisioning.create_tenant(NewTenant("beta", base_url=ADDRESS))
    create_client("beta", "ERP of beta")
    return export


def _outside(both: TwoDeployments) -> dict[str, Any]:
    """Return everything in the target that does not belong to acme."""
    tables = dynamodb_backends[ACCOUNT][REGION].tables
    found = {}
    for name in tables:
        if not name.startswith("other-") or name == "other-tenant-acme":
            continue
        for item in stored_items(ACCOUNT, REGION, name):
            key = " ".join(item[part]["S"] for part in ("pk", "PK", "SK") if part in item)
            is_own = key == "TENANT#acme" or key.startswith(("CLIENT#stw_acme_", "acme#"))
            if not is_own:
                found[f"{name} {key}"] = item
    assert f"{both.other.environment()['CONTROL_TABLE']} TENANT#beta" in found
    return found


def _policy() -> Policy:
    """Return the session policy of an import of acme."""
    arn = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}"
    policy = session_policy("acme", config().tenant_table("acme"), arn, access="everything")
    return read_policy(json.loads(policy)["Statement"], str)


def _write_of(where: str, item: Line) -> Access:
    match where:
        case "table":
            table = config().tenant_table("acme")
            return Access("dynamodb:BatchWriteItem", ARNS.table(table), (item["PK"]["S"],))
        case "event":
            table = config().outbox_table
            return Access("dynamodb:BatchWriteItem", ARNS.table(table), (item["PK"]["S"],))
        case "file":
            bucket, key = config().import_work_bucket, item.get("key", {"S": ""})["S"]
            return Access("s3:PutObject", f"arn:aws:s3:::{bucket}/acme/{key}")
        case _:
            table = config().control_table
            return Access("dynamodb:PutItem", ARNS.table(table), (item["pk"]["S"],))


def _accepted(lines: list[Line]) -> Iterator[tuple[int, Line]]:
    """Yield number and mutation of lines that are accepted, for one line of each kind."""
    kinds = {_kind(line): number for number, line in enumerate(lines)}
    assert len(kinds) > 40
    for number in kinds.values():
        line = lines[number]
        for changed in mutations(line):
            try:
                checked_line(as_text(changed), "acme")
            except RefusedLine:
                continue
            yield number, changed


def _is_valid(line: Line) -> bool:
    """Return whether the items of a table are accepted with this line among them."""
    return line["where"] != "table" or problem_of([from_json(line["item"])]) is None


def _kind(line: Line) -> tuple[str, ...]:
    keys = [line["item"].get(name, {"S": ""})["S"].partition("#")[0] for name in ("PK", "SK")]
    return (line["where"], keys[0], keys[1][:4])


def test_changed_line_is_refused_or_belongs_to_the_tenant(export: CraftedExport) -> None:
    policy = _policy()
    for _, line in _accepted(export.lines()):
        where, item = checked_line(as_text(line), "acme")
        if where != "manifest":
            assert allows(policy, _write_of(where, item)), line
        assert item.get("tenant", {}).get("S", "acme") in {"acme", "acme#revoked"}, line


def test_import_of_changed_lines_changes_nothing_outside_the_tenant(
    both: TwoDeployments, export: CraftedExport
) -> None:
    lines, before, seed = export.lines(), _outside(both), random.Random(34)  # noqa: S311 - not security
    restore = both.source.take_snapshot()
    # With other numbers of audit entries, the import waits until it gives up.
    accepted = [
        (number, line)
        for number, line in _accepted(lines)
        if _kind(lines[number])[1] not in {"sequence", "count"} and _is_valid(line)
    ]
    ends = set()
    for _ in range(4):
        changed = list(lines)
        for number, line in seed.sample(accepted, 3):
            changed[number] = line
        try:
            import_export(export.write(changed))
            ends.add("imported")
        except Conflict:
            ends.add("refused")
        assert _outside(both) == before
        dynamodb_backends[ACCOUNT][REGION].tables.pop("other-tenant-acme", None)
        restore()
    assert "imported" in ends


def _replaced(where: str, **attributes: Any) -> Callable[[list[Line]], list[Line]]:
    """Return the replacement of attributes in the first line of a place."""
    return lambda lines: replaced(lines, where, lambda item: {**item, **attributes})


def _with_key(line: Line, key: str) -> Line:
    """Return the line with this key in the bucket, if it is that of a file that is moved."""
    if line["item"].get("bucket") != {"S": "work"}:
        return line
    return {**line, "item": {**line["item"], "key": {"S": key}}}


def _added(where: str, **attributes: Any) -> Callable[[list[Line]], list[Line]]:
    """Return the addition of a line like the first one of a place, with other attributes."""
    return lambda lines: [
        *lines, {"where": where, "item": {**first(lines, where)["item"], **attributes}},
    ]  # fmt: skip


@each_case(
    ("change", "message"),
    [
        (_added("client", pk={"S": f"CLIENT#{BETA_CLIENT}"}), "is not the key of a client of acme"),
        (_replaced("client", tenant={"S": "beta"}), "belongs to another tenant"),
        (
            _replaced("client", scopes={"SS": ["all:write"]}),
            "has the scope all:write, which this release does not know",
        ),
        (_added("event", PK={"S": "beta#0"}), "is not the key of an event of acme"),
        (_added("event", type={"S": "product.sold"}), "does not know the event product.sold"),
        (
            _added("table", PK={"S": "HOST#wms.beta.test"}),
            "is not the key of an item of a tenant's",
        ),
        (_added("table", tenant={"S": "beta"}), "belongs to another tenant"),
        (
            _added("table", PK={"S": "schema"}, SK={"S": "HEAD"}, version={"S": "2"}),
            "schema HEAD: version: Input should be a valid integer",
        ),
        (
            _added("table", PK={"S": f"idempotency#{BETA_CLIENT}#key"}),
            f"the client {BETA_CLIENT} belongs to another tenant",
        ),
        (lambda lines: [*lines, {**lines[1], "where": "host"}], "there is no place host"),
        (_added("tenant"), "does not have the lines of an export in their order"),
        (lambda lines: lines[1:], "does not have the lines of an export in their order"),
        (lambda lines: lines[:1], "does not have the lines of an export in their order"),
        (lambda _: [], "does not have the lines of an export in their order"),
        (
            lambda lines: [line for line in lines if line["where"] != "tenant"],
            "does not have the lines of an export in their order",
        ),
        (lambda lines: [lines[0], first(lines, "file"), *lines[1:]], "has an item twice"),
        (_replaced("file", file={"S": "../../.ssh/id_rsa"}), "is no file of an export"),
        (
            lambda lines: [_with_key(line, "../beta/sources/0a1b") for line in lines],
            "../beta/sources/0a1b is no key of a file of an import",
        ),
        (_added("table"), "has an item twice"),
        (_added("client"), "has an item twice"),
        (_replaced("tenant", pk={"S": "TENANT#beta"}), "TENANT#beta is not the tenant acme"),
        (
            _replaced("tenant", unlimited={"BOOL": True}),
            "the tenant has unlimited, which this release does not know",
        ),
        (
            _replaced("tenant", table_version={"N": f"{schema.SCHEMA_VERSION - 1}"}),
            f"has the schema version {schema.SCHEMA_VERSION - 1}, and its items have",
        ),
        (
            _replaced("tenant", receipt_tolerance={"N": "1000"}),
            "receipt_tolerance: must be a number from 0 to 100",
        ),
    ],
)
def test_crafted_export_is_refused_before_anything_is_written(
    both: TwoDeployments,
    export: CraftedExport,
    aws_faults: AwsFaults,
    change: Callable[[list[Line]], list[Line]],
    message: str,
) -> None:
    lines = change(export.lines())
    with aws_faults.recorded() as seen, pytest.raises(Conflict, match=message):
        open_export(export.write(lines), PASSPHRASE)
    assert seen.operations == []
    assert "TENANT#acme" not in control_items(both.other)


def test_items_that_were_replaced_after_the_check_are_checked_again(
    both: TwoDeployments, export: CraftedExport
) -> None:
    opened, before = open_export(export.folder, PASSPHRASE), _outside(both)
    export.write(_added("client", pk={"S": f"CLIENT#{BETA_CLIENT}"})(export.lines()))
    with pytest.raises(Conflict, match="is not the key of a client of acme"):
        import_tenant(opened, opened.terms, base_url=ADDRESS)
    assert _outside(both) == before
    assert control_items(both.other)["TENANT#acme"]["state"] == {"S": "creating"}


def test_file_that_was_replaced_after_the_check_keeps_the_tenant_closed(
    both: TwoDeployments, export: CraftedExport
) -> None:
    opened = open_export(export.folder, PASSPHRASE)
    _, path, _ = next(opened.files())
    path.write_bytes(path.read_bytes().upper())
    with pytest.raises(Conflict, match="The files that were written are not those of the export"):
        import_tenant(opened, opened.terms, base_url=ADDRESS)
    assert control_items(both.other)["TENANT#acme"]["state"] == {"S": "creating"}


def test_everything_is_written_with_credentials_of_the_tenant_only(
    both: TwoDeployments, export: CraftedExport
) -> None:
    opened = open_export(export.folder, PASSPHRASE)
    roles = Roles(Stack(both.other))
    host = "wms.acme.test"
    with recorded_calls(ARNS, lambda _: {}) as watch:
        run = watch.wrap_function("", lambda: import_tenant(opened, opened.terms, host=host))
        assert run().compared
    writes = [
        made
        for made in watch.made
        if any(each.action.rpartition(":")[2] in _WRITING for each in made.accesses)
    ]
    assert {made.session and made.session.role for made in writes} == {
        f"arn:aws:iam::{ACCOUNT}:role/other-TenantImportRole"
    }
    assert roles.denied(writes) == []
    table = ARNS.table(config().control_table)
    rights = roles.rights(writes[0])
    for key in (f"HOST#{HOST}", "HOST#*", "TENANT#beta", f"CLIENT#{BETA_CLIENT}", "KEYS"):
        for action in ("PutItem", "UpdateItem"):
            asking = Access(f"dynamodb:{action}", table, (key,))
            assert not all(allows(policy, asking) for policy in rights), key


_WRITING = {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "PutObject", "DeleteObject"}


def test_events_that_are_combined_in_an_item_are_checked_one_by_one() -> None:
    def line(kind: str) -> Line:
        event = {"type": kind, "object": "product", "id": 1, "version": 1,
                 "href": "/products/1", "attributes": None}  # fmt: skip
        key = {"PK": {"S": "acme#1"}, "SK": {"S": f"evt_{1:032x}"}}
        events = {"B": b64encode(pack(dumps([event]))[0]).decode()}
        return {"where": "event", "item": {**key, "created_at": {"S": "now"}, "events": events}}

    checked_line(as_text(line("product.created")), "acme")
    with pytest.raises(RefusedLine, match=r"does not know the event product\.sold"):
        checked_line(as_text(line("product.sold")), "acme")


def test_entries_that_requests_add_to_the_outbox_are_accepted(stack: Stack) -> None:
    erp = stack.erp()
    headers = {"traceparent": f"00-{1:032x}-{1:016x}-01"}
    erp.post("/products", {"item_code": "TRACED", "name": "Traced"}, headers=headers).ok(201)
    body = {"url": "https://hooks.example.com/stowage", "events": ["product.created"]}
    hook = erp.post("/webhooks", body).id
    event = erp.post(f"/webhooks/{hook}/test").data["id"]
    assert erp.post(f"/webhooks/{hook}/deliveries/{event}/redeliver").status == 202
    since = instant(now_ms() - 1_000)
    assert erp.post(f"/webhooks/{hook}/recover", {"since": since}).status == 202

    entries = list(outbox_entries("acme"))
    for entry in entries:
        checked_line(f'{{"where":"event","item":{to_json(entry)}}}', "acme")

    assert {name for entry in entries for name in entry} >= {"traceparent", "round", "since"}


def test_no_function_may_assume_the_role_of_imports(both: TwoDeployments) -> None:
    roles = Roles(both.source)
    asking = Access("sts:AssumeRole", roles._arns["TenantImportRole"])
    assert not [name for name, rights in roles.functions.items() if allows(rights, asking)]


def test_deployment_without_the_role_is_refused(
    export: CraftedExport, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = open_export(export.folder, PASSPHRASE)
    monkeypatch.setenv("TENANT_IMPORT_ROLE_ARN", "")
    config.cache_clear()
    with pytest.raises(Conflict, match="has no role for imports"):
        import_tenant(opened, opened.terms, base_url=ADDRESS)


# What the operator decides


def test_counters_are_counted_and_not_taken_from_the_export(
    both: TwoDeployments, export: CraftedExport
) -> None:
    false = {"clients": {"N": "0"}, "mobile_clients": {"N": "-9"}, "users": {"N": "-100"}}
    import_export(export.write(_replaced("tenant", **false)(export.lines())))
    item = control_items(both.other)["TENANT#acme"]
    counted = [int(item[name]["N"]) for name in ("clients", "mobile_clients", "users")]
    assert counted == [1, 0, 2]


def test_terms_are_those_of_the_operator(both: TwoDeployments, export: CraftedExport) -> None:
    terms = Terms("essentials", frozenset(), None)
    import_export(export.folder, terms)
    item = control_items(both.other)["TENANT#acme"]
    assert Terms.of(item) == terms
    assert "modules" not in item


@each_case(
    ("terms", "field"),
    [
        (Terms("unlimited", frozenset(), None), "plan"),
        (Terms("essentials", frozenset({"teleport"}), None), "modules"),
        (Terms("essentials", frozenset(), 10**9), "requests_per_minute"),
    ],
)
def test_unknown_terms_are_refused(
    both: TwoDeployments, export: CraftedExport, terms: Terms, field: str
) -> None:
    with pytest.raises(ValidationFailed) as refused:
        import_export(export.folder, terms)
    assert [problem.field for problem in refused.value.problems] == [field]
    assert "TENANT#acme" not in control_items(both.other)


def test_interrupted_import_goes_on_with_the_same_terms_only(
    export: CraftedExport, aws_faults: AwsFaults
) -> None:
    terms = Terms("professional", frozenset({"waves"}), 500)
    assert aws_faults.kills(kill_after(30), lambda: import_export(export.folder, terms))
    began = "began with the plan professional, the modules waves, the request limit 500"
    with pytest.raises(Conflict, match=began):
        import_export(export.folder)
    assert import_export(export.folder, terms).compared
