"""Goods that a request names by a GTIN: the product, and the units that the GTIN counts.

The GTIN means what it means when it is read. A change of the packaging at the same time is before
or after the request, so the transaction does not depend on the alias. Work on an open document
cannot meet a product that has got the code since: an open document, or an open return, keeps the
codes of its products. A use case without a document compares the id of the product that it reads.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from pydantic import BaseModel

from shared.kernel.db.items import Item, Key
from shared.kernel.db.lists.page import Page
from shared.kernel.db.parallel import map_concurrently, run_all
from shared.kernel.db.store import Store
from shared.kernel.errors import Problem, RuleBlocked, ValidationFailed
from shared.kernel.list_parameters import MAX_IDS
from shared.kernel.validation import Checked, invalid_fields
from shared.warehouse.catalog import repository
from shared.warehouse.catalog.drafts import own_lines, with_lines, with_problem, with_values
from shared.warehouse.catalog.models import GoodsDraft, ProductParameters, StoredProduct
from shared.warehouse.catalog.repository import PRODUCTS, gtin_key, ids_by_barcode
from shared.warehouse.catalog.unit_quantities import in_base_units, too_many, unit_keys
from shared.warehouse.gs1.numbers import gtin_14, gtin_forms, gtin_problem

MAX_BARCODES = 100
"""Most GTINs that are looked up as barcodes of products that were not expected: each takes up to
four queries, because a barcode may be any form of its GTIN."""


@contextmanager
def goods_resolved[M: GoodsDraft](
    store: Store, drafts: Sequence[Checked[M]], paths: Sequence[str] = ("",)
) -> Iterator[list[Checked[M]]]:
    """Resolve GTINs as `gtins_resolved` does, and convert the quantities; at most two reads.

    It is for use cases that do not read the products otherwise; the others call `in_base_units`.
    """
    with gtins_resolved(store, drafts, paths) as named:
        keys = unit_keys(named)
        found = store.get_many(keys) if keys else {}
        yield [in_base_units(one, found) for one in named]


@contextmanager
def gtins_resolved[M: GoodsDraft](
    store: Store, drafts: Sequence[Checked[M]], paths: Sequence[str] = ("",)
) -> Iterator[list[Checked[M]]]:
    """Yield drafts with `item_code` resolved from their GTINs.

    Drafts with GTINs cost one read. Their quantities become numbers of units, and problems of
    their products that the block raises become problems of the field `gtin`. `paths` are the
    beginnings of the paths of their fields.
    """
    aliases = _read_aliases(store, drafts)
    named = [_with_item_code(draft, aliases) for draft in drafts]
    by_gtin = [path for path, draft in zip(paths, drafts, strict=True) if _is_by_gtin(draft)]
    with _naming_gtins(by_gtin):
        yield named


@contextmanager
def line_gtins_resolved[M: BaseModel](store: Store, body: Checked[M]) -> Iterator[Checked[M]]:
    """Do what `gtins_resolved` does for a body whose `lines` are goods."""
    lines: list[Checked[GoodsDraft]] = own_lines(body)
    paths = [f"lines.{at}." for at in range(len(lines))]
    with gtins_resolved(store, lines, paths) as named:
        yield with_lines(body, lines, named)


@contextmanager
def _naming_gtins(paths: Iterable[str]) -> Iterator[None]:
    """Make problems of `item_code` at these paths, which the block raises, problems of `gtin`."""
    fields = {f"{path}item_code": f"{path}gtin" for path in paths}
    try:
        yield
    except (ValidationFailed, RuleBlocked) as error:
        if not fields:
            raise
        problems = [replace(one, field=fields.get(one.field, one.field)) for one in error.problems]
        raise type(error)(problems) from None


def _is_by_gtin(draft: Checked[GoodsDraft]) -> bool:
    return draft.gtin is not None and "item_code" not in draft.model_fields_set


def _read_aliases(store: Store, drafts: Iterable[Checked[GoodsDraft]]) -> Mapping[Key, Item]:
    keys = [gtin_key(draft.gtin) for draft in drafts if draft.gtin and _is_by_gtin(draft)]
    return store.get_many(keys) if keys else {}


def _with_item_code[M: GoodsDraft](draft: Checked[M], aliases: Mapping[Key, Item]) -> Checked[M]:
    """Return a draft with the code and the units of its GTIN, or an InvalidBody without a code."""
    has_code = "item_code" in draft.model_fields_set
    gtin = draft.gtin
    if gtin is None and {"gtin", ""} & invalid_fields(draft):
        return with_values(draft, item_code=draft.item_code or None)
    if gtin is None:
        return draft if has_code else with_problem(draft, Problem("item_code", "is required"))
    if draft.unit is not None:
        draft = with_problem(draft, Problem("unit", "must not be sent together with gtin"))
    if has_code:
        return with_problem(draft, Problem("gtin", "must not be sent together with item_code"))
    alias = aliases.get(gtin_key(gtin))
    if alias is None:
        return with_problem(draft, Problem("gtin", f"no product has the GTIN {gtin}"))
    return _counted(draft, alias)


def _counted[M: GoodsDraft](draft: Checked[M], alias: Item) -> Checked[M]:
    units = int(alias["units"])
    qty = draft.qty * units if draft.qty is not None else None
    named = with_values(draft, item_code=alias["item_code"], qty=qty)
    message = None if qty is None else too_many(qty)
    return named if message is None else with_problem(named, Problem("qty", message))


def list_products(store: Store, parameters: ProductParameters) -> Page[StoredProduct]:
    """Return a page of products.

    `gtin` leaves the product that has it in its packaging or, if none has, the first of those with
    the barcode, of which an index can lag.
    """
    if parameters.gtin is None:
        return repository.list_products(store, parameters)
    key, forms = gtin_key(parameters.gtin), gtin_forms(gtin_14(parameters.gtin))
    alias, named = run_all(
        lambda: store.get(key),
        lambda: map_concurrently(lambda form: ids_by_barcode(store, [form]), forms),
    )
    barcodes = sorted(number for numbers in named for number in numbers)
    found = [int(alias["id"])] if alias else barcodes[:MAX_IDS]
    wanted = parameters.ids
    ids = tuple(one for one in found if wanted is None or one in wanted)
    return repository.list_products(store, parameters.model_copy(update={"ids": ids}))


# Many GTINs, as the tags of a reader have them


@dataclass(frozen=True, slots=True)
class CountedProduct:
    """The product that a GTIN names, and how many units the GTIN counts."""

    id: int
    item_code: str
    by_serial: bool
    units: int


def products_by_gtin(
    store: Store, gtins: Collection[str], expected: Collection[int]
) -> Mapping[str, CountedProduct]:
    """Return the products that GTINs of 14 digits name; other GTINs are not in the result.

    A GTIN is that of a packaging or, if no packaging has it, a barcode in one of its forms. Of
    several products with the barcode, the result has one of those with the `expected` ids, or the
    one with the lowest id. Barcodes of expected products are always found; those of others are read
    from an index, which can lag, for the first MAX_BARCODES GTINs.
    """
    aliases, near = run_all(
        lambda: store.get_many(gtin_key(gtin) for gtin in gtins),
        lambda: PRODUCTS.get_many(store, expected),
    )
    products = {record.id: record.entity for record in near}
    found: dict[str, tuple[int, int]] = {}
    for gtin in gtins:
        if alias := aliases.get(gtin_key(gtin)):
            found[gtin] = (int(alias["id"]), int(alias["units"]))
    found = _with_barcodes(found, gtins, products)
    left = [gtin for gtin in gtins if gtin not in found][:MAX_BARCODES]
    ids = map_concurrently(lambda gtin: ids_by_barcode(store, gtin_forms(gtin)), left)
    others = {number for numbers in ids for number in numbers}
    others |= {number for number, _ in found.values()}
    more = PRODUCTS.get_many(store, sorted(others - products.keys()))
    products |= {record.id: record.entity for record in more}
    found = _with_barcodes(found, left, products)
    return {
        gtin: CountedProduct(number, product.item_code, product.man_ser_num, units)
        for gtin, (number, units) in found.items()
        if (product := products.get(number))
    }


def _with_barcodes(
    found: Mapping[str, tuple[int, int]],
    gtins: Iterable[str],
    products: Mapping[int, StoredProduct],
) -> dict[str, tuple[int, int]]:
    """Add the GTINs that are barcodes of the products: id of the product, and one unit."""
    barcodes: dict[str, int] = {}
    for number, product in sorted(products.items()):
        if product.barcode is not None and gtin_problem(product.barcode) is None:
            barcodes.setdefault(gtin_14(product.barcode), number)
    more = {gtin: (barcodes[gtin], 1) for gtin in gtins if gtin in barcodes}
    return {**more, **found}
