"""Import of products."""

from collections.abc import Mapping

from shared.integration.imports.files.columns import Column, FileLayout
from shared.integration.imports.kinds.importer import ApplyOptions, CheckedGroup, Importer
from shared.integration.imports.kinds.standard_columns import boolean_column, same_text
from shared.integration.imports.languages import BilingualText
from shared.kernel.db.items import Item, Key
from shared.kernel.db.transaction import Transaction
from shared.kernel.events.outbox import event_actions
from shared.kernel.validation import Checked
from shared.warehouse.catalog import service as catalog
from shared.warehouse.catalog.models import ProductCreate
from shared.warehouse.stock.renames import rename_product

_COLUMNS = (
    Column(
        "item_code",
        BilingualText("Item code", "Código de artículo"),
        BilingualText("Unique code of the product.", "Código único del artículo."),
        BilingualText("EXAMPLE-1", "EJEMPLO-1"),
        required=True,
        synonyms=("sku", "code", "código"),
        aliases=("referencia",),
    ),
    Column(
        "name",
        BilingualText("Name", "Nombre"),
        BilingualText("Name of the product.", "Nombre del artículo."),
        BilingualText("Example product", "Artículo de ejemplo"),
        required=True,
        aliases=("description", "descripción"),
    ),
    Column(
        "barcode",
        BilingualText("Barcode", "Código de barras"),
        BilingualText(
            "As the scanner reads it, up to 64 characters.",
            "Tal como lo lee el escáner, hasta 64 caracteres.",
        ),
        same_text("8400000000017"),
        synonyms=("ean",),
    ),
    Column(
        "type",
        BilingualText("Type", "Tipo"),
        BilingualText("Free text, up to 32 characters.", "Texto libre, hasta 32 caracteres."),
        BilingualText("goods", "mercancía"),
    ),
    Column(
        "image_url",
        BilingualText("Image address", "Dirección de imagen"),
        BilingualText("An http or https address.", "Una dirección http o https."),
        same_text("https://example.com/image.png"),
    ),
    boolean_column(
        "man_btch_num",
        BilingualText("Managed by batch", "Gestionado por lote"),
        BilingualText(
            "Whether every unit belongs to a batch.", "Si cada unidad pertenece a un lote."
        ),
        BilingualText("no", "no"),
        aliases=("batch managed",),
    ),
    boolean_column(
        "man_ser_num",
        BilingualText("Managed by serial", "Gestionado por serie"),
        BilingualText("Whether every unit has a serial.", "Si cada unidad tiene número de serie."),
        BilingualText("no", "no"),
        aliases=("serial managed",),
    ),
    Column(
        "sales_unit",
        BilingualText("Sales unit", "Unidad de venta"),
        BilingualText("For example UN or BOX.", "Por ejemplo UN o CAJA."),
        same_text("UN"),
    ),
    Column(
        "purchase_unit",
        BilingualText("Purchase unit", "Unidad de compra"),
        BilingualText("For example UN or BOX.", "Por ejemplo UN o CAJA."),
        BilingualText("BOX", "CAJA"),
    ),
    boolean_column(
        "inventory_item",
        BilingualText("Kept in stock", "Artículo de inventario"),
        BilingualText("yes for goods, no for services.", "sí para mercancías, no para servicios."),
        BilingualText("yes", "sí"),
    ),
)


class ProductImporter(Importer):
    """Creates products, or changes the products whose codes exist."""

    layout = FileLayout(
        BilingualText("Products", "Artículos"), _COLUMNS, unique_fields=("item_code",)
    )
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
        return self.keys(draft) if options.on_duplicate == "fail" else []

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
        return CheckedGroup(catalog.examine_product(tx.store, draft, new=new))

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
