"""What the files of each kind of import look like."""

from collections.abc import Mapping, Sequence
from typing import Any

from shared.integration.imports.files.columns import Column, ImportKind, Layout, Words
from shared.warehouse.documents.vocabulary import TYPES, Kind


def _same(text: str) -> Words:
    return Words(text, text)


_YES_OR_NO = (Words("yes", "sí"), Words("no", "no"))


def _types(kind: Kind) -> Sequence[Words]:
    return [Words(english, spanish) for english, spanish in TYPES[kind].values()]


def _flag(field: str, header: Words, note: Words, example: Words, *also: str) -> Column:
    return Column(field, header, note, example, "flag", choices=_YES_OR_NO, also=also)


def _day(field: str, header: Words, example: str, **traits: Any) -> Column:
    note = Words("YYYY-MM-DD or dd/mm/yyyy.", "AAAA-MM-DD o dd/mm/aaaa.")
    return Column(field, header, note, _same(example), "day", **traits)


# Products

_PRODUCTS = (
    Column(
        "item_code",
        Words("Item code", "Código de artículo"),
        Words("Unique code of the product.", "Código único del artículo."),
        Words("EXAMPLE-1", "EJEMPLO-1"),
        required=True,
        also=("sku", "code", "código", "referencia"),
    ),
    Column(
        "name",
        Words("Name", "Nombre"),
        Words("Name of the product.", "Nombre del artículo."),
        Words("Example product", "Artículo de ejemplo"),
        required=True,
        also=("description", "descripción"),
    ),
    Column(
        "barcode",
        Words("Barcode", "Código de barras"),
        Words("As scanned, up to 64 characters.", "Tal como se lee, hasta 64 caracteres."),
        _same("8400000000017"),
        also=("ean",),
    ),
    Column(
        "type",
        Words("Type", "Tipo"),
        Words("A word of your own, up to 32 characters.", "Palabra libre, hasta 32 caracteres."),
        Words("goods", "mercancía"),
    ),
    Column(
        "image_url",
        Words("Image address", "Dirección de imagen"),
        Words("An http or https address.", "Una dirección http o https."),
        _same("https://example.com/image.png"),
    ),
    _flag(
        "man_btch_num",
        Words("Managed by batch", "Gestionado por lote"),
        Words("Whether every unit belongs to a batch.", "Si cada unidad pertenece a un lote."),
        Words("no", "no"),
        "batch managed",
    ),
    _flag(
        "man_ser_num",
        Words("Managed by serial", "Gestionado por serie"),
        Words("Whether every unit has a serial.", "Si cada unidad tiene número de serie."),
        Words("no", "no"),
        "serial managed",
    ),
    Column(
        "sales_unit",
        Words("Sales unit", "Unidad de venta"),
        Words("Such as UN or BOX.", "Por ejemplo UN o CAJA."),
        _same("UN"),
    ),
    Column(
        "purchase_unit",
        Words("Purchase unit", "Unidad de compra"),
        Words("Such as UN or BOX.", "Por ejemplo UN o CAJA."),
        Words("BOX", "CAJA"),
    ),
    _flag(
        "inventory_item",
        Words("Kept in stock", "Artículo de inventario"),
        Words("yes, unless it is a service.", "sí, salvo que sea un servicio."),
        Words("yes", "sí"),
        "inventory item",
    ),
)

# Documents and transfer orders

_ITEM = Column(
    "item_code",
    Words("Item code", "Código de artículo"),
    Words("Product of the line.", "Artículo de la línea."),
    Words("EXAMPLE-1", "EJEMPLO-1"),
    required=True,
    of_line=True,
    also=("sku", "product", "artículo"),
)
_QTY = Column(
    "qty",
    Words("Quantity", "Cantidad"),
    Words("More than 0, up to 6 decimals.", "Mayor que 0, hasta 6 decimales."),
    _same("2"),
    "number",
    required=True,
    of_line=True,
)


def _batch(field: str) -> Column:
    return Column(
        field,
        Words("Batch", "Lote"),
        Words("Only of products managed by batch.", "Solo artículos gestionados por lote."),
        _same("L-2026-01"),
        of_line=True,
    )


def _serials(field: str) -> Column:
    return Column(
        field,
        Words("Serials", "Números de serie"),
        Words(
            "Of products managed by serial: as many as the quantity, separated by commas.",
            "De artículos gestionados por serie: tantos como la cantidad, separados por comas.",
        ),
        _same("S-001, S-002"),
        "texts",
        of_line=True,
    )


_WAREHOUSE = Column(
    "warehouse_code",
    Words("Warehouse", "Almacén"),
    Words("Code of the warehouse.", "Código del almacén."),
    _same("WH1"),
    required=True,
    also=("whs_code",),
)


def _document(
    kind: Kind, partner: Words, *, also: Sequence[str] = (), more: Sequence[Column] = ()
) -> Sequence[Column]:
    return (
        Column(
            "external_ref",
            Words("Reference", "Referencia"),
            Words(
                "Number of the document in your system; rows with the same reference and type"
                " are one document.",
                "Número del documento en su sistema; las filas con la misma referencia y tipo"
                " son un solo documento.",
            ),
            Words("EXAMPLE-100", "EJEMPLO-100"),
            required=True,
            also=("external ref", "document", "documento"),
        ),
        Column(
            "type",
            Words("Type", "Tipo"),
            Words("Kind of document.", "Clase de documento."),
            _types(kind)[0],
            required=True,
            choices=_types(kind),
        ),
        _day(
            "doc_date",
            Words("Document date", "Fecha de documento"),
            "2026-01-31",
            required=True,
            also=("date", "fecha"),
        ),
        _day(
            "due_date",
            Words("Due date", "Fecha de entrega"),
            "2026-02-15",
            also=("fecha de vencimiento",),
        ),
        Column(
            "partner_code",
            Words(f"{partner.en} code", f"Código de {partner.es}"),
            Words("Its code in your system.", "El que tiene en su sistema."),
            _same("P-100"),
            required=True,
            also=("partner code", "card code", *also),
        ),
        Column(
            "partner_name",
            Words(f"{partner.en} name", f"Nombre de {partner.es}"),
            Words("Its name.", "Su nombre."),
            Words("Example company", "Empresa de ejemplo"),
            also=("partner name", "card name"),
        ),
        _WAREHOUSE,
        *more,
        Column(
            "comments",
            Words("Comments", "Comentarios"),
            Words("Free text.", "Texto libre."),
            Words("Sample row, ignored", "Fila de ejemplo, se ignora"),
        ),
        _ITEM,
        _QTY,
        _batch("batch"),
        _day("expiry_date", Words("Expiry date", "Fecha de caducidad"), "2027-01-31", of_line=True),
        _serials("serials"),
    )


_DESTINATION = Column(
    "destination_bin",
    Words("Destination position", "Ubicación de destino"),
    Words("Where the goods are to be put.", "Dónde se colocará la mercancía."),
    _same("A-01-01"),
    of_line=True,
    also=("position", "ubicación", "bin"),
)

_SHIPPING = (
    Column(
        "priority",
        Words("Priority", "Prioridad"),
        Words("high, normal or low.", "alta, normal o baja."),
        Words("normal", "normal"),
        choices=(Words("high", "alta"), Words("normal", "normal"), Words("low", "baja")),
    ),
    Column(
        "ship_to",
        Words("Ship to", "Enviar a"),
        Words("Address of delivery.", "Dirección de entrega."),
        Words("1 Example Street", "Calle Ejemplo 1"),
        also=("address", "dirección"),
    ),
)

_TRANSFER_ORDERS = (
    Column(
        "external_ref",
        Words("Reference", "Referencia"),
        Words(
            "Number of the order in your system; rows with the same reference are one order.",
            "Número de la orden en su sistema; las filas con la misma referencia son una orden.",
        ),
        Words("EXAMPLE-100", "EJEMPLO-100"),
        required=True,
        also=("external ref", "order", "orden"),
    ),
    Column(
        "from_warehouse",
        Words("From warehouse", "Almacén de origen"),
        Words("Code of the warehouse that sends.", "Código del almacén que envía."),
        _same("WH1"),
        required=True,
        also=("origin", "origen"),
    ),
    Column(
        "to_warehouse",
        Words("To warehouse", "Almacén de destino"),
        Words("Code of the warehouse that receives.", "Código del almacén que recibe."),
        _same("WH2"),
        required=True,
        also=("destination", "destino"),
    ),
    Column(
        "priority",
        Words("Priority", "Prioridad"),
        Words("A whole number; the lower goes first.", "Número entero; el menor va primero."),
        _same("2"),
        "whole",
    ),
    Column(
        "reason",
        Words("Reason", "Motivo"),
        Words("Free text.", "Texto libre."),
        Words("Sample row, ignored", "Fila de ejemplo, se ignora"),
    ),
    Column(
        "due_at",
        Words("Due at", "Fecha límite"),
        Words(
            "Date-time with offset, such as 2026-03-01T09:30:00Z; without, in the company's"
            " time zone.",
            "Fecha y hora con desfase horario, como 2026-03-01T09:30:00Z; sin él, en la zona"
            " horaria de la empresa.",
        ),
        _same("2026-03-01T09:30:00Z"),
        "moment",
        also=("due", "fecha de entrega"),
    ),
    _ITEM,
    _QTY,
    _batch("batch_num"),
    _serials("expected_series"),
    Column(
        "expected_batches",
        Words("Expected batches", "Lotes esperados"),
        Words(
            "Batches that the origin is expected to send, separated by commas.",
            "Lotes que se espera que envíe el origen, separados por comas.",
        ),
        _same("L-2026-01, L-2026-02"),
        "texts",
        of_line=True,
    ),
)

# Pick faces

_PICK_FACES = (
    Column(
        "item_code",
        Words("Item code", "Código de artículo"),
        Words("Product that is picked there.", "Artículo que se recoge en esa ubicación."),
        Words("EXAMPLE-1", "EJEMPLO-1"),
        required=True,
        also=("sku", "product", "artículo"),
    ),
    _WAREHOUSE,
    Column(
        "bin_code",
        Words("Position", "Ubicación"),
        Words("Code of the position.", "Código de la ubicación."),
        _same("A-01-01"),
        required=True,
        also=("bin",),
    ),
    Column(
        "minimum",
        Words("Minimum", "Mínimo"),
        Words("Refill when there is less.", "Reponer cuando haya menos."),
        _same("10"),
        "number",
        also=("min",),
    ),
    Column(
        "maximum",
        Words("Maximum", "Máximo"),
        Words("Refill up to this.", "Reponer hasta esta cantidad."),
        _same("100"),
        "number",
        also=("max",),
    ),
)

LAYOUTS: Mapping[ImportKind, Layout] = {
    layout.kind: layout
    for layout in (
        Layout(
            "entry_documents",
            Words("Entry documents", "Documentos de entrada"),
            _document(
                "entry",
                Words("Provider", "proveedor"),
                also=("proveedor", "provider"),
                more=(_DESTINATION,),
            ),
            key=("external_ref", "type"),
        ),
        Layout(
            "exit_documents",
            Words("Exit documents", "Documentos de salida"),
            _document(
                "exit", Words("Client", "cliente"), also=("cliente", "client"), more=_SHIPPING
            ),
            key=("external_ref", "type"),
        ),
        Layout(
            "transfer_orders",
            Words("Transfer orders", "Órdenes de traslado"),
            _TRANSFER_ORDERS,
            key=("external_ref",),
        ),
        Layout(
            "pick_faces",
            Words("Pick faces", "Ubicaciones de picking"),
            _PICK_FACES,
            unique=("item_code", "warehouse_code", "bin_code"),
        ),
        Layout("products", Words("Products", "Artículos"), _PRODUCTS, unique=("item_code",)),
    )
}
"""Kind → its file."""
