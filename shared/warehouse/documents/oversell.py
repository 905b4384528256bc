"""The setting `oversell`: whether exit documents may order more than can be sold."""

from collections.abc import Iterable, Iterator, Mapping

from shared.kernel.company import Company
from shared.kernel.db.items import Item, Key
from shared.kernel.validation import Checked
from shared.warehouse.catalog import service as catalog
from shared.warehouse.catalog.lines import numbered
from shared.warehouse.documents import change_rules
from shared.warehouse.documents.models import (
    Document,
    EntryChange,
    EntryDraft,
    ExitChange,
    ExitDraft,
    LineDraft,
)
from shared.warehouse.documents.vocabulary import DocumentKind
from shared.warehouse.master_data.named_codes import MasterData
from shared.warehouse.settings.values import settings_of
from shared.warehouse.stock.level_book import TakenMore
from shared.warehouse.stock.models import LevelPlace
from shared.warehouse.stock.service import level_keys
from shared.warehouse.warehouses import service as warehouses


def is_refused(company: Company, kind: DocumentKind) -> bool:
    """Return whether documents of a kind that order more than can be sold are refused."""
    return kind == "exit" and settings_of(company).oversell == "refuse"


def ordered(draft: Checked[EntryDraft | ExitDraft], known: MasterData) -> Iterator[TakenMore]:
    """Yield what the valid lines of a new document order."""
    warehouse = known.warehouses.get(draft.warehouse_code or "")
    if warehouse:
        lines = numbered(draft.lines or ())
        yield from _of_new_lines(warehouse.id, warehouse.whs_code, lines, known)


def ordered_more(
    document: Document, change: Checked[EntryChange | ExitChange], known: MasterData
) -> Iterator[TakenMore]:
    """Yield by how much the valid lines of a change raise or lower what is ordered."""
    before = {line.line_num: line.open_qty for line in document.lines}
    paths = {line.line_num: path for path, line in numbered(change.lines or ())}
    for warehouse in document.named.get("warehouse", ())[:1]:
        for line in change_rules.with_quantities(document, change).lines:
            place = LevelPlace(line.product_id, warehouse, line.item_code, document.whs_code)
            if more := line.open_qty - before[line.line_num]:
                yield place, more, f"{paths[line.line_num]}.qty" if more > 0 else None
        added = change_rules.new_lines(change)
        yield from _of_new_lines(warehouse, document.whs_code, added, known)


def _of_new_lines(
    warehouse: int,
    whs_code: str,
    lines: Iterable[tuple[str, Checked[LineDraft]]],
    known: MasterData,
) -> Iterator[TakenMore]:
    for path, line in lines:
        product = known.products.get(line.item_code or "")
        if product and product.in_stock and line.qty:
            place = LevelPlace(product.id, warehouse, product.item_code, whs_code)
            yield place, line.qty, f"{path}.qty"


def keys_to_read(
    company: Company, draft: Checked[ExitDraft], found: Mapping[Key, Item]
) -> list[Key]:
    """Return the keys of the levels of a new document, given the aliases that it names."""
    warehouse = found.get(warehouses.warehouse_key(draft.warehouse_code or ""))
    if warehouse is None or not is_refused(company, "exit"):
        return []
    codes = {line.item_code for line in draft.lines or ()}
    products = [found[key] for code in codes if (key := catalog.product_key(code or "")) in found]
    return level_keys((int(product["id"]), int(warehouse["id"])) for product in products)
