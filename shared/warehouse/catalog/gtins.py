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
from shared.kernel.db.parallel import map_concurrently, run_all
from shared.kernel.db.store import Store
from shared.kernel.errors import Problem, RuleBlocked, ValidationFailed
from shared.kernel.fields import MAX_QUANTITY, plain
from shared.kernel.validation import Checked, InvalidBody, invalid_fields, problems_of
from shared.warehouse.catalog.models import GoodsDraft, StoredProduct
from shared.warehouse.catalog.repository import PRODUCTS, gtin_key, ids_by_barcode
from shared.warehouse.gs1.numbers import gtin_14, gtin_forms, gtin_problem

MAX_BARCODES = 100
"""Most GTINs that are looked up as barcodes of products that were not expected: each takes up to
four queries, because a barcode may be any form of its GTIN."""

_LINES = "lines"
"""Field of a body with several goods."""


@contextmanager
def gtin_resolved[M: GoodsDraft](store: Store, draft: Checked[M]) -> Iterator[Checked[M]]:
    """Yield the draft with `item_code` resolved from its GTIN.

    A draft with a GTIN costs one read. Its quantity becomes the number of units, and problems of
    its product that the block raises become problems of the field `gtin`.
    """
    named = _with_item_code(draft, _read_aliases(store, [draft]))
    with _naming_gtins([""] if _is_by_gtin(draft) else []):
        yield named


@contextmanager
def line_gtins_resolved[M: BaseModel](store: Store, body: Checked[M]) -> Iterator[Checked[M]]:
    """Do what `gtin_resolved` does for a body whose `lines` are goods; all cost one read."""
    lines = _own_lines(body)
    aliases = _read_aliases(store, lines)
    named = [_with_item_code(line, aliases) for line in lines]
    with _naming_gtins(f"{_LINES}.{at}." for at, line in enumerate(lines) if _is_by_gtin(line)):
        yield _with_lines(body, lines, named)


def _own_lines(body: Checked[BaseModel]) -> list[Checked[GoodsDraft]]:
    """Return the lines of a body, each invalid one with its own problems."""
    lines: Sequence[Checked[GoodsDraft]] = getattr(body, _LINES) or ()
    own: list[list[Problem]] = [[] for _ in lines]
    for problem in problems_of(body):
        field, _, rest = problem.field.partition(".")
        at, _, inner = rest.partition(".")
        if field == _LINES and at.isdecimal() and int(at) < len(lines):
            own[int(at)].append(replace(problem, field=inner))
    return [
        replace(line, problems=problems) if isinstance(line, InvalidBody) else line
        for line, problems in zip(lines, own, strict=True)
    ]


def _with_lines[M: BaseModel](
    body: Checked[M], before: Sequence[Checked[GoodsDraft]], lines: Sequence[Checked[GoodsDraft]]
) -> Checked[M]:
    """Return a body with other lines, and with the problems that they have more than `before`."""
    more = [
        replace(problem, field=f"{_LINES}.{at}.{problem.field}")
        for at, (old, new) in enumerate(zip(before, lines, strict=True))
        for problem in problems_of(new)
        if problem not in problems_of(old)
    ]
    if not more and not isinstance(body, InvalidBody):
        return body.model_copy(update={_LINES: lines})
    model: type[M] = body.model if isinstance(body, InvalidBody) else type(body)
    values = {name: getattr(body, name) for name in model.model_fields} | {_LINES: lines}
    return InvalidBody(model, [*problems_of(body), *more], body.model_fields_set, values)


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
    if draft.gtin is None and {"gtin", ""} & invalid_fields(draft):
        return _with_values(draft, item_code=draft.item_code or None)
    if draft.gtin is None:
        return draft if has_code else _refused(draft, Problem("item_code", "is required"))
    if has_code:
        return _refused(draft, Problem("gtin", "must not be sent together with item_code"))
    alias = aliases.get(gtin_key(draft.gtin))
    if alias is None:
        return _refused(draft, Problem("gtin", f"no product has the GTIN {draft.gtin}"))
    return _counted(draft, alias)


def _counted[M: GoodsDraft](draft: Checked[M], alias: Item) -> Checked[M]:
    units = int(alias["units"])
    qty = draft.qty * units if draft.qty is not None else None
    named = _with_values(draft, item_code=alias["item_code"], qty=qty)
    if qty is not None and qty > MAX_QUANTITY:
        message = f"must count at most {MAX_QUANTITY} units; {plain(qty)} requested"
        return _refused(named, Problem("qty", message))
    return named


def _with_values[M: GoodsDraft](draft: Checked[M], **values: object) -> Checked[M]:
    if isinstance(draft, InvalidBody):
        return replace(draft, valid_values={**draft.valid_values, **values})
    return draft.model_copy(update=values)


def _refused[M: GoodsDraft](draft: Checked[M], problem: Problem) -> InvalidBody[M]:
    """Return a draft with one more problem, whose field has no value."""
    model: type[M] = draft.model if isinstance(draft, InvalidBody) else type(draft)
    values = {name: getattr(draft, name) for name in model.model_fields}
    values["item_code"] = values["item_code"] or None
    values[problem.field] = None
    problems = [problem, *problems_of(draft)]
    return InvalidBody(model, problems, draft.model_fields_set, values)


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
