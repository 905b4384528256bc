"""A product that changes while its table is upgraded gets its search entries with the change."""

import random
import string
from collections.abc import Mapping, Sequence

from operations.upgrade import upgrade_tables
from tests.clock import Clock
from tests.import_scenario import ImportScenario
from tests.integration.stored_entities import assert_derived_items_match
from tests.integration.upgrade.conftest import let_write_the_new_form, set_version
from tests.stack import Stack

_NAME = "Quick brown fox jumping over things"
_CHANGES: Sequence[Mapping[str, object]] = (
    {"barcode": "123"},
    {"barcode": None},  # as before
    {"man_btch_num": True},  # writes the alias, too
    {"name": "Things over: jumping fox, brown, quick"},
)


def test_products_that_change_during_the_upgrade_are_found_by_all_words(
    stack: Stack, clock: Clock
) -> None:
    assert clock  # waits take no time
    set_version("acme", 2)
    erp = stack.erp()
    numbers = [
        erp.post("/products", {"item_code": f"P-{at}", "name": _NAME}).ok(201)["id"]
        for at in range(len(_CHANGES) + 1)
    ]
    let_write_the_new_form()
    for number, change in zip(numbers, _CHANGES, strict=False):
        erp.patch(f"/products/{number}", change).ok()
    erp.put(f"/products/{numbers[-1]}/packaging", {"weight_kg": 2}).ok()
    list(upgrade_tables(["acme"]))
    for word in ("p-", *_NAME.split()):
        assert [row["id"] for row in erp.walk("/products", search=word)] == numbers, word
    assert_derived_items_match(stack)


def test_letters_with_a_base_letter_are_found_before_during_and_after_the_upgrade(
    stack: Stack, clock: Clock
) -> None:
    assert clock  # waits take no time
    set_version("acme", 2)
    erp = stack.erp()

    def found(search: str) -> list[int]:
        return [row["id"] for row in erp.walk("/products", search=search)]

    erp.post("/products", {"item_code": "P-1", "name": "Smørrebrød"}).ok(201)
    assert (found("smørre"), found("smorre")) == ([1], [])
    let_write_the_new_form()
    erp.post("/products", {"item_code": "P-2", "name": "Smørrebrød"}).ok(201)
    assert (found("smørre"), found("smorre")) == ([1, 2], [2])
    list(upgrade_tables(["acme"]))
    assert (found("smørre"), found("smorre"), found("ø")) == ([1, 2], [1, 2], [1, 2])
    assert_derived_items_match(stack)


def _file(names: list[str], type_: str) -> bytes:
    rows = (f"P-{at};{name};{type_}\n" for at, name in enumerate(names))
    return "".join(("item_code;name;type\n", *rows)).encode()


def test_import_that_changes_products_of_long_names_during_the_upgrade_fits(
    stack: Stack, clock: Clock
) -> None:
    """The search entries of the new form count among the actions of its transactions."""
    assert clock
    letters = random.Random(1)  # noqa: S311
    names = ["".join(letters.choices(string.ascii_letters, k=200)) for _ in range(40)]
    set_version("acme", 2)
    imports = ImportScenario(stack)
    for type_ in ("old", "new"):
        uploaded = imports.import_file("products", f"{type_}.csv", _file(names, type_))
        imports.commit(uploaded["id"])
        imports.drain_queue()
        assert imports.get_import(uploaded["id"])["documents"]["committed"] == len(names)
        let_write_the_new_form()
    assert_derived_items_match(stack)
