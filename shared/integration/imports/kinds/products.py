"""Import of products."""

from collections.abc import Mapping
from functools import partial

from shared.integration.imports.files.columns import Column, FileLayout
from shared.integration.imports.kinds.importer import ApplyOptions, CheckedGroup, GroupImporter
from shared.integration.imports.kinds.standard_columns import BOOLEAN_CHOICES, words_of
from shared.integration.imports.kinds.value_words import TITLES
from shared.kernel.db.items import Item, Key
from shared.kernel.db.transaction import Transaction
from shared.kernel.events.outbox import event_actions
from shared.kernel.validation import Checked
from shared.warehouse.catalog import service as catalog
from shared.warehouse.catalog.models import ProductCreate
from shared.warehouse.stock.renames import rename_product

_column = partial(Column, words_of("products"))
_yes_or_no = partial(_column, cell_type="boolean", choices=BOOLEAN_CHOICES)
_COLUMNS = (
    _column(
        "item_code",
        required=True,
        synonyms=("sku", "code", "código"),
        aliases=("referencia",),
    ),
    _column("name", required=True, aliases=("description", "descripción")),
    _column("barcode", synonyms=("ean",)),
    _column("type"),
    _column("image_url"),
    _yes_or_no("man_btch_num", aliases=("batch managed",)),
    _yes_or_no("man_ser_num", synonyms=("managed by serial",), aliases=("serial managed",)),
    _column("sales_unit"),
    _column("purchase_unit"),
    _yes_or_no("inventory_item"),
    _column(
        "min_remaining_days",
        "integer",
        synonyms=("minimum shelf life", "vida útil mínima"),
        aliases=("shelf life days", "días de vida útil"),
    ),
)


class ProductImporter(GroupImporter):
    """Creates products, or changes the products whose codes exist."""

    layout = FileLayout(TITLES["products"], _COLUMNS, unique_fields=("item_code",))
    model = ProductCreate
    id_sequence = "product"
    max_actions = 2
    further_actions = 16
    prefetch_groups = 1000

    def keys(self, draft: Checked[ProductCreate]) -> list[Key]:
        """See Importer."""
        return [] if draft.item_code is None else [catalog.product_key(draft.item_code)]

    def keys_to_validate(self, draft: Checked[ProductCreate], options: ApplyOptions) -> list[Key]:
        """See Importer."""
        merges = options.on_duplicate is None and draft.metadata
        return self.keys(draft) if merges or options.on_duplicate == "fail" else []

    def dependent_keys(self, draft: Checked[ProductCreate], found: Mapping[Key, Item]) -> list[Key]:
        """See Importer."""
        return catalog.existing_product_keys(found, [draft.item_code or ""])

    def actions(self, tx: Transaction, draft: ProductCreate) -> int:
        """See Importer. A new name or code also has entries of the search index."""
        return self.max_actions + event_actions(tx) + catalog.search_actions(tx.store, draft)

    def validate(
        self, tx: Transaction, draft: Checked[ProductCreate], options: ApplyOptions
    ) -> CheckedGroup:
        """See Importer."""
        new = options.on_duplicate == "fail"
        problems = catalog.examine_product(tx.store, draft, new=new)
        if options.on_duplicate is None:
            problems += catalog.examine_merge(tx.store, draft)
        return CheckedGroup(problems)

    def apply(self, tx: Transaction, draft: ProductCreate, options: ApplyOptions) -> bool:
        """See Importer."""
        # A product that was prefetched may be deleted since; it is skipped nevertheless.
        exists = catalog.is_product(tx.store, draft.item_code or "")
        if exists and options.on_duplicate == "skip":
            return False
        if options.on_duplicate == "fail":
            catalog.create_product(tx, draft)
        else:
            catalog.put_product(tx, draft, rename_product)
        return True
