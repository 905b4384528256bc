"""Items that nothing writes are refused, and what follows from others is derived again."""

import random
import re
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from operations.tenant_import import open_export
from operations.verify import verify_tenant
from shared.identity.tenancy.directory import directory
from shared.kernel import aws
from shared.kernel.config import config
from shared.kernel.db.items import item_at, pack, to_attributes, unpack
from shared.kernel.db.schema import VERSION_KEY
from shared.kernel.errors import Conflict
from shared.kernel.json_text import dumps, loads
from tests import recorded
from tests.cases import each_case
from tests.clock import Clock
from tests.gateway import Erp
from tests.integration.moving.crafted_exports import CraftedExport, Line
from tests.integration.moving.fuzzed_items import changed, groups_of, lines_of, problem_of
from tests.integration.moving.two_deployments import (
    HOST,
    PASSPHRASE,
    TwoDeployments,
    control_items,
    import_export,
    table_items,
    with_cheap_password,
)
from tests.lists import LISTS
from tests.sampling import is_complete
from tests.stack import set_attributes
from tests.tenant_cache import apply_now

_ROUNDS = 40 if is_complete() else 3
_CHANGES = 3
_BOMB = zlib.compress(b'{"name":"' + b"x" * 200_000_000 + b'"}', 9)

type Change = Callable[[Line], Line]


def _changed(lines: list[Line], begin: str, change: Change) -> list[Line]:
    """Return the lines with a change of the first item whose key begins so."""
    at = next(at for at, line in enumerate(lines) if _key(line).startswith(begin))
    return [*lines[:at], {"where": "table", "item": change(lines[at]["item"])}, *lines[at + 1 :]]


def _key(line: Line) -> str:
    return " ".join(line["item"][name]["S"] for name in ("PK", "SK") if name in line["item"])


def _with(**attributes: Any) -> Change:
    return lambda item: {**item, **attributes}


def _in_totp(**attributes: Any) -> Change:
    return lambda item: {**item, "totp": {"M": {**item["totp"]["M"], **attributes}}}


def _in_data(**values: Any) -> Change:
    def change(item: Line) -> Line:
        (packed,) = pack(dumps({**_content(item), **values}))
        return {**item, "data": {"B": b64encode(packed).decode()}}

    return change


def _content(item: Line) -> Any:
    return loads(unpack([b64decode(item["data"]["B"])]))


_HASH = "$argon2id$v=19$m=4194304,t=4294967295,p=1$" + "A" * 22 + "$" + "A" * 43
_MANY = [str(number) for number in range(1, 12_001)]


@each_case(
    ("begin", "change", "message"),
    [
        ("login#", _with(password={"S": _HASH}), "login#0.*: password: .*the same parameters"),
        ("login#", _with(wrong_codes={"N": "-5"}), "wrong_codes: Input should be greater"),
        ("login#000000000002", _in_totp(codes={"M": {"x": {"BOOL": True}}}), "totp.codes.x"),
        ("product#", _with(data={"B": b64encode(_BOMB).decode()}), "more than 33554432 bytes"),
        ("idempotency#", _with(body={"B": b64encode(_BOMB).decode()}), "more than 33554432 bytes"),
        ("sequence ", _with(last={"N": "9" * 5000}), "it has an attribute without a valid"),
        ("sequence ", _with(last={"N": "NaN"}), "it has an attribute without a valid"),
        ("sequence ", _with(last={"N": "1E999999"}), "it has an attribute without a valid"),
        ("sequence product", _with(last={"N": "999999999999"}), "product: the id 999999999999"),
        ("stock#", _in_data(qty=10**40), "data.qty: must be a number with at most"),
        ("stock#", _in_data(qty="1e999999"), "data.qty: must be a number with at most"),
        ("stock#", _in_data(of_next_release=float("1e300")), "data.of_next_release: must be"),
        ("stock#", _in_data(qty="NaN"), "data.qty: Input should be a finite number"),
        ("product#", _in_data(name="x" * 9000), "data.name: has 9000 characters"),
        ("product#", _in_data(created_at="yesterday"), "data.created_at: must be an instant"),
        ("product#", _in_data(name=5), "data.name: Input should be a valid string"),
        ("product#", _in_data(name="Another"), "search: is .* follows from the entity"),
        ("product#", _with(P12={"S": "product"}, S12={"S": "x"}), "GSI12: is 'product x', and N"),
        ("product#", _with(id={"N": "77"}), "id: no head of the entity with the id"),
        ("product#", _with(expires_at={"N": "9999999999"}), "expires_at: an item of this kind"),
        ("product#", _with(parts={"N": "9"}), "parts: Input should be less than"),
        ("username#", _with(P1={"S": "user"}, S1={"S": "x"}), "P1: is 'user', and None follows"),
        ("username#", _with(PK={"S": "product#x"}), "PK, SK: are not the key of an item"),
        ("username#", _with(PK={"S": "discount#1"}), "PK, SK: are not the key of an item"),
        ("username#", _with(PK={"S": "username#" + "ä" * 2000}), "PK: must have at most 2048"),
        ("webhooks REG", _with(ids={"NS": _MANY}), "ids: Set should have at most 20 items"),
        (
            "webhooks REG",
            _with(wanted={"M": {number: {"S": "product.created"} for number in _MANY}}),
            "wanted: Dictionary should have at most 20 items",
        ),
        ("count#product ", _with(version={"S": "x"}), "version must be a number"),
        ("batch#", _with(expiry_date={"S": "soon"}), "expiry_date: .*must be a date"),
    ],
)  # fmt: skip
def test_item_that_nothing_writes_is_refused(
    both: TwoDeployments, export: CraftedExport, begin: str, change: Change, message: str
) -> None:
    lines = _changed(export.lines(), begin, change)
    with pytest.raises(Conflict, match=message):
        open_export(export.write(lines), PASSPHRASE)
    assert "TENANT#acme" not in control_items(both.other)


def test_all_problems_are_counted_and_the_first_ones_named(export: CraftedExport) -> None:
    lines = [
        {**line, "item": {**line["item"], "id": {"S": "x"}}}
        if _key(line).endswith("ALIAS")
        else line
        for line in export.lines()
    ]
    count = sum(_key(line).endswith("ALIAS") for line in lines)
    with pytest.raises(Conflict) as refused:
        open_export(export.write(lines), PASSPHRASE)
    message = str(refused.value)
    assert count > 10
    assert f"is refused, with {count} problems in its items: line " in message
    assert message.count("ALIAS: id: Input should be a valid integer") == 10
    assert f"; and {count - 10} more. Do not import it" in message


def test_more_subscriptions_than_any_plan_allows_are_refused(export: CraftedExport) -> None:
    lines = export.lines()
    head = next(line for line in lines if _key(line).startswith("webhook#"))
    content = _content(head["item"])
    for number in range(100, 120):
        (packed,) = pack(dumps({**content, "id": number}))
        former, new = f"{content['id']:012d}", f"{number:012d}"
        index = {name: {"S": head["item"][name]["S"].replace(former, new)}
                 for name in ("P1", "S1", "P2", "S2")}  # fmt: skip
        item = {**head["item"], **index, "PK": {"S": f"webhook#{new}"}, "id": {"N": f"{number}"},
                "data": {"B": b64encode(packed).decode()}}  # fmt: skip
        lines.append({"where": "table", "item": item})
    with pytest.raises(Conflict, match="webhook: 21 subscriptions, every plan allows 20"):
        open_export(export.write(lines), PASSPHRASE)


def test_what_follows_from_entities_is_derived_again(
    both: TwoDeployments, export: CraftedExport
) -> None:
    before = table_items("stowage")
    lines = _changed(
        export.lines(), "webhooks REG", _with(ids={"NS": ["7", "8"]}, wanted={"M": {}})
    )
    lines = _changed(lines, "count#product ", _with(n={"N": "1000000"}))
    lines = [line for line in lines if not _key(line).startswith("item_code#MOVED-1 ")]
    done = import_export(export.write(lines))
    after = table_items("other")
    assert done.repaired > 3
    for key in ("webhooks REGISTER", "item_code#MOVED-1 ALIAS"):
        names = before[key].keys() - {"version", "unused"}
        assert {name: after[key][name] for name in names} == {
            name: before[key][name] for name in names
        }
    directory.clear()
    assert Erp(both.gateway, both.token(HOST)).get("/products?limit=1").data[0]["id"] == 1


def test_entities_that_contradict_each_other_keep_the_tenant_closed(
    both: TwoDeployments, export: CraftedExport
) -> None:
    lines = export.lines()
    gone = next(line for line in lines if _key(line).startswith("login#"))
    lines.remove(gone)
    folder = export.write(lines)
    with pytest.raises(
        Conflict, match=r"contradicts itself, with 1 findings .* login\.missing of user"
    ):
        import_export(folder)
    assert control_items(both.other)["TENANT#acme"]["state"] == {"S": "creating"}
    import_export(folder, unchecked=True)
    assert control_items(both.other)["TENANT#acme"]["state"] == {"S": "active"}


@pytest.mark.parametrize("seed", range(_ROUNDS))
def test_export_with_random_changes_is_refused_or_gives_a_working_tenant(
    both: TwoDeployments, export: CraftedExport, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311  not security
    lines = export.lines()
    for _ in range(_CHANGES):
        groups = [group for group in groups_of(lines) if not _decides_audit(group)]
        group = chance.choice(groups)
        other = next(
            (one for one in (changed(group, chance) for _ in range(40)) if problem_of(one) is None),
            group,
        )
        keys = {(item["PK"]["S"], item["SK"]["S"]) for item in group}
        at = next(at for at, line in enumerate(lines) if _place(line) in keys)
        lines = [line for line in lines if _place(line) not in keys]
        lines[at:at] = lines_of(other)
    try:
        import_export(export.write(lines))
    except Conflict as refused:
        if not re.search("is refused|contradicts itself", str(refused)):
            raise
        return
    directory.clear()
    erp = Erp(both.gateway, both.token(HOST))
    for path in (*LISTS, "/api-clients"):
        assert erp.get(path).status < 500, (seed, path)
    assert verify_tenant("acme").listed == [], seed


def _decides_audit(group: list[Line]) -> bool:
    return group[0]["PK"]["S"] in {"sequence", "count#audit"}


def _place(line: Line) -> tuple[str, str] | None:
    item = line["item"]
    return (item["PK"]["S"], item["SK"]["S"]) if line["where"] == "table" else None


def test_random_change_of_an_item_is_refused_or_read_without_an_error(
    export: CraftedExport,
) -> None:
    """The checks themselves raise nothing, whatever an item has."""
    chance = random.Random(7)  # noqa: S311  not security
    groups = list(groups_of(export.lines()))
    found = [problem_of(changed(chance.choice(groups), chance)) for _ in range(1_500)]
    assert 100 < found.count(None) < 1_400


def test_export_of_the_previous_release_is_moved_as_it_is(
    both: TwoDeployments, tmp_path: Path, clock: Clock
) -> None:
    clock.advance(recorded.story_ended() + 60 - clock.time())
    both.enter_source()
    table, version = config().tenant_table("acme"), recorded.recorded().version
    for item in both.source.items():
        key = {"PK": item["PK"], "SK": item["SK"]}
        aws.client("dynamodb").delete_item(TableName=table, Key=key)
    recorded.put(map(with_cheap_password, recorded.recorded().tables[recorded.STORY]))
    recorded.put([to_attributes(item_at(VERSION_KEY, version=version))])
    apply_now(lambda: set_attributes(table_version={"N": f"{version}"}, users={"N": "1"}))
    folder = both.export(tmp_path / "acme")
    before = table_items("stowage")
    done = both.import_(folder)
    assert done.repaired == 1  # what leads to an open approval is not recorded
    after = table_items("other")
    changed = ("count#audit", "sequence audit", "returned#000000000021 ")
    kept = {key for key in before if not key.startswith(changed)}
    assert {key: after[key] for key in kept} == {key: before[key] for key in kept}
