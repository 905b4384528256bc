"""Tables of limits of what is stored: texts, numbers, documents, work and maps."""

from collections.abc import Callable, Mapping

from shared.http import request
from shared.identity.auth import client_models
from shared.identity.tenancy import revocations
from shared.identity.tenancy.tenant import PLANS
from shared.identity.users.models import MAX_ROLES
from shared.integration.webhooks import target_urls
from shared.kernel import fields, metadata
from shared.kernel.db import facets, items, search
from shared.kernel.db.lists import bookmarks
from shared.kernel.db.lists import bounds as list_bounds
from shared.kernel.db.lists import query as list_query
from shared.kernel.db.records import MAX_PARTS
from shared.kernel.events import outbox
from shared.warehouse.catalog import models as catalog
from shared.warehouse.catalog import several_lines
from shared.warehouse.counts import models as counts
from shared.warehouse.documents import models as documents
from shared.warehouse.holds import models as holds
from shared.warehouse.layout import models as layout
from shared.warehouse.packing import labels as packing_labels
from shared.warehouse.packing import models as packing
from shared.warehouse.partners import models as partners
from shared.warehouse.pick_faces import rules as pick_faces
from shared.warehouse.picking import free_stock
from shared.warehouse.picking import models as picking
from shared.warehouse.picking import rules as picking_rules
from shared.warehouse.receiving import models as receiving
from shared.warehouse.receiving import rules as receiving_rules
from shared.warehouse.replenishment import models as replenishment
from shared.warehouse.returns import models as returns
from shared.warehouse.rfid import models as rfid
from shared.warehouse.stock import adjustment_models
from shared.warehouse.stock import repository as stock_repository
from shared.warehouse.stock.models import MAX_HOLDS
from shared.warehouse.stock.rules import MAX_ROW
from shared.warehouse.transfer_orders import models as transfer_orders
from shared.warehouse.transfers import models as transfers
from shared.warehouse.warehouses import service as warehouses
from shared.warehouse.warehouses.models import MAX_BULK
from shared.warehouse.waves import models as waves
from shared.warehouse.work import address
from tools.pages.numbers import dotted, longest, plain


def _texts() -> str:
    return f"""\
| What | Limit |
|---|---|
| codes (`item_code`, `whs_code`, `bin_code`, batch and serial numbers) and telephone numbers | {longest(fields.Code)} characters |
| barcodes | {longest(fields.Barcode)} characters |
| `external_ref` and other references | {longest(fields.Reference)} characters |
| names | {longest(fields.Name)} characters |
| `carrier_code`, `service_code` of orders | {longest(address.CarrierCode)} characters |
| each part of `ship_to_address` | {address.MAX_PART} characters |
| names of users, roles and API clients | {longest(client_models._Name)} characters |
| short words (types, units) | {longest(fields.Word)} characters |
| one line of text, reasons | {longest(fields.Reason)} characters |
| notes and descriptions | {longest(fields.Note)} characters |
| e-mail addresses | {longest(fields.Email)} characters |
| URL of a subscription | {plain(target_urls.MAX_URL_LENGTH)} characters |
| name of a company (slug) | 3 to 32 characters |
| quantities | more than 0, at most {plain(fields.MAX_QUANTITY)}, up to {-fields.LEAST_QUANTITY.adjusted()} decimals |
| ids | 1 to {plain(fields.MAX_ID)} |
| `document_id` of a client | 1 to {plain(partners._MAX_DOCUMENT_ID)} |
"""


def _lines() -> str:
    """Return the limit of lines, which is the same for all that have some."""
    (limit,) = {
        documents.MAX_LINES,
        receiving_rules.MAX_LINES,
        picking_rules._MAX_LINES,
        transfer_orders.MAX_LINES,
        returns.MAX_LINES,
    }
    return plain(limit)


def _data() -> str:
    return f"""\
| What | Limit | Beyond it |
|---|---|---|
| positions in the detail of a warehouse | {plain(warehouses._IN_DETAIL)}; use `GET /warehouse-positions` for more | the rest is left out |
| positions of one `POST /warehouse-positions/bulk` | {plain(MAX_BULK)} | 422 |
| products of one position as a pick face | {plain(pick_faces.MAX_PRODUCTS)} | 422 |
| names of `metadata` · its bytes as JSON · characters of a text | {dotted(metadata.MAX_NAMES, metadata.MAX_BYTES, metadata.MAX_CHARACTERS)} | 422 |
| the same of a line | {dotted(metadata.MAX_LINE_NAMES, metadata.MAX_LINE_BYTES, metadata.MAX_CHARACTERS)} | 422 |
| GTINs of a product · units of one | {dotted(catalog.MAX_GTINS, catalog.MAX_UNITS)} | 422 |
| units of measure of a product | {catalog.MAX_UNITS_OF_MEASURE} | 422 |
| lines of a document, a receipt, a picking, a transfer order and a return | {_lines()} | 422; a receipt: 409 `conflict` |
| rows with available stock of one product that an allocation examines, in the order of expiry and receipt | {plain(free_stock.MAX_PAGES * stock_repository.FREE_PAGE)} | stock behind them is not allocated |
| serials of one line when receiving · picking | {dotted(receiving.MAX_SERIALS, picking.MAX_SERIALS)} | 422 |
| other pickings with which one pick of serials exchanges allocations | {picking.MAX_EXCHANGED} | 422 |
| serials of one line of a transfer, or received with a transfer order | {transfers.MAX_SERIALS} | 422 |
| `differences` of a receipt or an entry document | {plain(receiving_rules.MAX_DIFFERENCES)} | the rest is left out |
| lines of a hold · days for which goods are held | {dotted(holds.MAX_LINES, holds.MAX_DAYS)} | 422 |
| lines of a count · positions · products that it names · serials counted at once · lines counted again at once | {dotted(counts.MAX_LINES, counts.MAX_POSITIONS, counts.MAX_PRODUCTS, counts.MAX_SERIALS, counts.MAX_RECOUNTED)} | 422 |
| stock rows, also empty ones, that a new count or `empty` examines · positions of a warehouse of which a zone is counted | {dotted(counts.MAX_ROWS, counts.MAX_IN_WAREHOUSE)} | 422 |
| pick faces that a request replenishes by their ids · with `all` | {dotted(replenishment.MAX_PICK_FACES, replenishment.MAX_EXAMINED)} | 422; the rest of all needs `after` |
| active holds of a product in a warehouse | {MAX_HOLDS} | 422 `rule_blocked` |
| lines of one `POST /stock-adjustments` | {adjustment_models.MAX_ADJUSTMENT_LINES} | 422 |
| lines of one request when receiving or picking | {several_lines.MAX_LINES} | 422 |
| lines of a transfer | {transfers.MAX_LINES} within a warehouse, 6 between two; fewer with serials; 9 within a warehouse if each has another batch | 422 |
| lines of one `POST /transfer-orders/{{id}}/receive` | {transfer_orders.MAX_ARRIVAL_LINES} | 422 |
| lines of one `POST /returns/{{id}}/lines` and `…/undo` · `/dispositions` | {dotted(returns.MAX_GOODS_LINES, returns.MAX_DISPOSITION_LINES)} | 422 |
| serials of one line there | {returns.MAX_SERIALS} | 422 |
| exit documents of one picking | {picking.MAX_DOCUMENTS} | 422 |
| pickings of a wave | {waves.MAX_PICKINGS} | 422 |
| pickings · handling units · contents of all units of a packing order | {dotted(packing.MAX_PICKINGS, packing.MAX_UNITS, packing.MAX_ORDER_CONTENTS)} | 422; a unit: 409 `conflict` |
| contents (an item, or a batch of it) · serials of a handling unit; units in units | {dotted(packing.MAX_CONTENTS, packing.MAX_SERIALS)}; {packing.MAX_LEVELS} levels | 422 |
| characters of the goods on a packing slip: codes, names, batches and serials | {plain(packing_labels.MAX_SLIP_SIZE)} | 413; get it in [parts](../guides/labels.md) |
| EPCs of an RFID validation · characters of an EPC | {dotted(rfid.MAX_TAGS, rfid.MAX_EPC)} | 422 |
| roles of a user | {MAX_ROLES} | 422 |
| zones · aisles · bays · points of a map | {dotted(layout.MAX_ZONES, layout.MAX_AISLES, layout.MAX_BAYS, layout.MAX_POINTS)} | 422 |
"""


def _bounds() -> str:
    return f"""\
| What | Bound | Why | Beyond it |
|---|---|---|---|
| ids of a kind, and of the lines of transfer orders | {plain(fields.MAX_ID)} | Keys have {facets.ID_DIGITS} digits, so that their order as text is that of the numbers. A sequence is one item, which DynamoDB writes 1 000 times per second: 31 years of one id per call. | 409 `conflict` |
| stock levels | none of their own | The key of a level is the id of the product and the id of the warehouse, 12 digits each. Events name a level by an id of a sequence, which every JSON reader can hold. | nothing |
| quantity of a stock row | {plain(MAX_ROW)} | Lists sort by its text, which has 12 digits and 6 decimals. | 409 `conflict` |
| `priority`, `pick_sequence` and other whole numbers | 1 000 000 000 | Their text has 18 digits; the smaller limit is that of the interface. | 422 |
| size of one document, receipt, picking, transfer order or map, compressed | {plain(MAX_PARTS * items.PART_SIZE)} bytes | It is written as a whole, as up to {MAX_PARTS} items of {plain(items.PART_SIZE)} bytes, and a transaction has 4 MB. About 70 000 serials of 50 random characters fit; usual ones compress better. Under an Idempotency-Key, the response is written with it, which leaves room for about 50 000 of them. | 409 `conflict` |
| lines of a document, a receipt, a picking and a transfer order | {_lines()} | They are one record, and the register of open work holds the ids of their products in one item: 7 bytes each. | as above |
| exit documents of one picking | {picking.MAX_DOCUMENTS} | Each has an item of its own (`LOOKUP#`, 3 digits), written in one transaction with the picking. | 422 |
| pickings of a wave | {waves.MAX_PICKINGS} | The record of the wave names them all. | 422 |
| pickings of a packing order | {packing.MAX_PICKINGS}, of at most 60 items and 2 MB together | All are marked in one transaction. | 422 |
| handling units, and their contents, of a packing order | {packing.MAX_UNITS}, {plain(packing.MAX_ORDER_CONTENTS)} | The order lists its units, and its response shows them all with their contents. A dispatch, a cancellation, and a completion that deletes empty units change more than fit into a transaction in steps. | as above |
| contents and serials of a handling unit | {packing.MAX_CONTENTS}, {plain(packing.MAX_SERIALS)} | A unit is written as a whole with each change, as one item of at most 350 kB. | 422 |
| EPCs of an RFID validation | {plain(rfid.MAX_TAGS)} | A gate reads a truck at once. They take 0.2 s of CPU; all that is not expected is stored in 350 kB (of other products, or with goods that are missing, in further items of that size). | 422 |
| GTINs that an RFID validation looks up as barcodes of goods that are not expected | 100 | Each takes up to four queries. | its tags are `unknown`, and the validation has failed in any case |
| SSCCs of a company prefix and an extension digit | 10 to the power of 16 minus the digits of the prefix | An SSCC has 18 digits. | 409 `conflict`: set another `sscc_extension_digit` |
| products of one position as a pick face | {plain(pick_faces.MAX_PRODUCTS)} | They are a set of numbers in the alias of the position, 7 kB, which everything reads that moves stock. | 422 |
| webhook subscriptions | {PLANS["enterprise"].limits["webhook_subscriptions"]} | Their register is one item, which the relay reads for each batch of events. | 402 `limit_reached` |
| `attributes` of an event | {outbox.MAX_ATTRIBUTES // 1000} kB | An event is part of the transaction of its change. | `attributes` is null |
| revocations of tokens at the same time | {plain(revocations.SOFT_LIMIT)} | They are in the item of the tenant, 80 kB, which every request needs. | a client or user is revoked as a whole; above {plain(revocations.HARD_LIMIT)}, all tokens of the company |
| revocations of tokens of one client or user | {revocations.PER_SUBJECT} | One credential must not use up those of its company. | the client or user is revoked as a whole |
| `page` of a list | {plain(list_query._MAX_OFFSET_PAGES)} | Bookmarks hold the offset in 12 digits. | treated as {plain(list_query._MAX_OFFSET_PAGES)}, an empty page |
| ids of a filtered list that is kept for its next pages | {plain(bookmarks._CHUNK)} per item | Compressed, 30 000 ids of 24 digits have 363 kB. A longer list takes several items. | nothing |
| `search` | the first {facets._SEARCHED_LENGTH} characters of a name and code | Every index entry carries them. | the rest is not found |
| `search` of documents, receipts, pickings, returns, transfer orders | the first {search.MOST_BEGINNINGS} beginnings of words and numbers of a reference, code or name, and {search.MARKED_LENGTH} characters in all, which some 20 documents of a picking have | Each beginning is a write when the document is created. | the rest is not found, and of what is searched only as much is compared |
| words of `search` | 20 | They are compared in one condition of 4 KB. | 422 |
| entries that a search examines | {list_bounds.MAX_PAGES} pages of 1 MB, some 70,000 | It ends in about 3 seconds. With a word of three or more characters, only the entries of the rarest one are examined; otherwise the whole list. | 422 |
| entries that [a filter without an index](../internals/storage.md#what-an-index-costs-and-what-it-saves) examines | {list_bounds.MAX_PAGES} pages of 1 MB, some 70,000, and {list_bounds.MAX_ITEMS:,} whole rows | It ends in about 3 seconds. It reads the whole list unless another filter, or `from` and `to`, selects less. | 422 that names the filters which select less |
| rows that `updated_since`, or `from` and `to`, select | as many as a request can read in 27 seconds, some 400,000; the next pages by `links.next` cost as little as others | The exact total takes an entry of each. | 503 `service_unavailable`, each time: begin with the list without the filter, `sort=updated_at` |
| order by name | the first {facets._FOLDED_LENGTH} characters | A sort key has 1 024 bytes: 200 characters of 4 bytes, a separator and the id. | the rest does not count |
| a filter | 255 characters | It may be a sort key: 255 characters of 4 bytes, and a separator. | 422 |
| a stored response | 6 MB | Its items are numbered with 3 digits; compressed, it takes few. | 413 `payload_too_large` |
| dates | the year 9999 | Times are texts with 4 digits for the year. | 422 |
"""


def _map() -> str:
    return f"""\
| What | Limit |
|---|---|
| body | {request._MAX_BODY >> 20} MB |
| `width_m`, `depth_m`, every length and height | more than 0, at most {plain(layout._MAX_LENGTH_M)} m |
| zones · aisles · bays · points | {dotted(layout.MAX_ZONES, layout.MAX_AISLES, layout.MAX_BAYS, layout.MAX_POINTS)} |
| corners of a polygon · of all polygons | 3 to {dotted(layout.MAX_CORNERS, layout.MAX_CORNERS_IN_ALL)} |
| levels of a bay | {layout.MAX_LEVELS} |
| `slots_per_level` | 1 to 1000 |
| `rotation` | 0 to {layout._FULL_TURN} |
| `type`, `kind`, `side`, `rack_type`, `temperature_class`, `color` | any text of up to 32 characters, also an empty one |
| codes · numbers · naming masks | 50 characters · integers or 32 characters · 255 characters |
"""


DATA_LIMITS: Mapping[str, Callable[[], str]] = {
    "limits of texts and numbers": _texts,
    "limits of data": _data,
    "bounds": _bounds,
    "limits of maps": _map,
}
"""Name of a part of a page → the function that returns it."""
