"""Goods that a request names by a GTIN: the product, and the units that the GTIN counts."""

from collections.abc import Callable
from dataclasses import replace

from shared.kernel.db.items import Item
from shared.kernel.db.store import Store
from shared.kernel.errors import Problem, ValidationFailed
from shared.kernel.fields import MAX_QUANTITY, plain
from shared.kernel.validation import Checked, InvalidBody, invalid_fields, problems_of
from shared.warehouse.catalog.models import GoodsDraft
from shared.warehouse.catalog.repository import gtin_key


def by_item_code[M: GoodsDraft, R](
    store: Store, draft: Checked[M], use: Callable[[Checked[M]], R]
) -> R:
    """Call `use` with a draft that names its product by `item_code`, and return its result.

    A draft with a GTIN costs one read. Its quantity becomes the number of units, and problems of
    its product are problems of the field `gtin`.

    The GTIN means what it means when it is read. A change of the packaging at the same time is
    before or after the request, so the transaction does not depend on the alias. Work on an open
    document cannot meet a product that has got the code since: an open document keeps the codes of
    its products. A use case without a document compares the id of the product that it reads.
    """
    named = _with_item_code(store, draft)
    if draft.gtin is None or "item_code" in draft.model_fields_set:
        return use(named)
    try:
        return use(named)
    except ValidationFailed as error:
        problems = [
            replace(one, field="gtin") if one.field == "item_code" else one
            for one in error.problems
        ]
        raise ValidationFailed(problems) from None


def _with_item_code[M: GoodsDraft](store: Store, draft: Checked[M]) -> Checked[M]:
    """Return a draft with the code and the units of its GTIN, or an InvalidBody without a code."""
    has_code = "item_code" in draft.model_fields_set
    if draft.gtin is None and "gtin" in invalid_fields(draft):
        return _with_values(draft, item_code=draft.item_code or None)
    if draft.gtin is None:
        return draft if has_code else _refused(draft, Problem("item_code", "is required"))
    if has_code:
        return _refused(draft, Problem("gtin", "must not be sent together with item_code"))
    alias = store.get(gtin_key(draft.gtin))
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
