"""Tables of limits, in docs/reference/limits.md and other pages: their numbers are those of the code."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from pydantic import TypeAdapter

from functions.mcp import orders as order_tools
from functions.mcp import stock as stock_tools
from functions.mcp.tool import PER_PAGE
from functions.oauth.request import MAX_BODY_BYTES
from operations import signing_keys
from shared.http import envelope, rate_limit, request, slow_requests
from shared.identity.auth import attempt_limits as attempts
from shared.identity.auth import client_models, issuance_limits, tokens
from shared.identity.request_log import models as request_log
from shared.identity.tenancy import directory, revocations
from shared.identity.tenancy.tenant import PLANS, TOTAL_REQUESTS, WEBHOOKS, LimitName, Tenant
from shared.identity.users import code_checks, passwords, sessions
from shared.identity.users.models import MAX_ROLES
from shared.integration.changes import models as changes
from shared.integration.exports import models as exports
from shared.integration.exports.views import LINK_SECONDS
from shared.integration.imports import models as imports
from shared.integration.imports import service as imports_service
from shared.integration.reconciliations import models as reconciliations
from shared.integration.reconciliations import movements
from shared.integration.reconciliations.context import LINK_SECONDS as RECONCILIATION_SECONDS
from shared.integration.reconciliations.open_work import MAX_WORKS
from shared.integration.webhooks import http_client, target_urls
from shared.integration.webhooks import models as webhook_models
from shared.integration.webhooks import repository as webhook_repository
from shared.integration.webhooks import rules as webhook_rules
from shared.kernel import fields, list_parameters, metadata, queued_work
from shared.kernel.db import claim, facets, items, search
from shared.kernel.db.lists import bookmarks
from shared.kernel.db.lists import bounds as list_bounds
from shared.kernel.db.lists import query as list_query
from shared.kernel.db.lists.cursor import MAX_PER_PAGE
from shared.kernel.db.records import MAX_PARTS
from shared.kernel.events import feed, outbox
from shared.kernel.spreadsheets import table as spreadsheet
from shared.warehouse.approvals import rules as approvals
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
from tools.pages.markers import table
from tools.template_file import read, resources

_DAY, _HOUR, _MINUTE = 86_400, 3_600, 60
_PAGE_SIZE = list_parameters.ListParameters.model_fields["per_page"].default
_CHANGES = changes.ChangesParameters.model_fields["per_page"].default
_WINDOW = f"{attempts.WINDOW // _MINUTE} minute"
_LONG_WINDOW = f"{attempts.LONG_WINDOW // _MINUTE} minutes"
_LIMITED = "429 `rate_limited`"
_TENANTS = {
    name: Tenant("acme", "active", name, frozenset(), "https://acme.test") for name in PLANS
}


def _plain(number: float | Decimal) -> str:
    """Return a number as the pages write it: 100 000."""
    return f"{number:,}".replace(",", " ")


def _dotted(*numbers: int) -> str:
    return " · ".join(map(_plain, numbers))


def _longest(value: Any) -> str:
    """Return the number of characters that a field type allows."""
    return _plain(TypeAdapter(value).json_schema()["maxLength"])


def _longest_cursor() -> str:
    schema = list_parameters.ListParameters.model_json_schema()["properties"]["cursor"]
    return _plain(next(one["maxLength"] for one in schema["anyOf"] if "maxLength" in one))


def _throttled(kind: str) -> str:
    """Return the defaults of the parameters that limit all routes, or the token routes."""
    limits = (read()["Parameters"][f"{kind}{one}Limit"] for one in ("Rate", "Burst"))
    return ", ".join(_plain(one["Default"]) for one in limits)


def _throttled_files(path: str) -> str:
    """Return the limits of a route; the template writes its slashes as `~1`."""
    (api,) = resources("AWS::Serverless::Api").values()
    (limits,) = {
        f"{one['ThrottlingRateLimit']}, {one['ThrottlingBurstLimit']}"
        for one in api["MethodSettings"]
        if one["ResourcePath"] == path.replace("/", "~1").replace("~1", "/~1", 1)
    }
    return limits


def _kept_days(*buckets: str) -> str:
    declared = resources("AWS::S3::Bucket")
    rules = [one for name in buckets for one in declared[name]["LifecycleConfiguration"]["Rules"]]
    (days,) = {rule["ExpirationInDays"] for rule in rules if "ExpirationInDays" in rule}
    return str(days)


def _days_in_dead_letter_queues() -> int:
    queues = resources("AWS::SQS::Queue").values()
    (seconds,) = {one["MessageRetentionPeriod"] for one in queues if "RedrivePolicy" not in one}
    return int(seconds) // _DAY


def _plans() -> str:
    requests = [plan.limits["requests_per_minute"] for plan in PLANS.values()]
    refused = "402 `limit_reached`"
    rows: list[tuple[str, list[str], str]] = [
        ("requests per minute of a client or user", _per_plan("requests_per_minute"), _LIMITED),
        (
            "requests per minute of the company",
            [_plain(TOTAL_REQUESTS * one) for one in requests],
            _LIMITED,
        ),
        (
            "[slow requests](#slow-requests) of the company at the same time",
            [str(slow_requests.slot_count(one)) for one in _TENANTS.values()],
            _LIMITED,
        ),
        (
            "tokens per minute of a client or user",
            [_plain(issuance_limits.per_minute(one)) for one in _TENANTS.values()],
            _LIMITED,
        ),
        ("integration clients", _per_plan("integration_clients"), refused),
        ("mobile applications", _per_plan("mobile_clients"), refused),
        ("users", _per_plan("users"), refused),
        ("webhook subscriptions", _per_plan("webhook_subscriptions"), refused),
        (
            "webhooks",
            ["yes" if WEBHOOKS in plan.features else "no" for plan in PLANS.values()],
            "402 `feature_not_in_plan`",
        ),
        ("rows of an import", _per_plan("rows_per_import"), "the import is `invalid`"),
    ]
    header = ("What", *(f"{name.capitalize()}:" for name in PLANS), "Beyond it")
    return table(header, [(what, *each, beyond) for what, each, beyond in rows])


def _per_plan(limit: LimitName) -> list[str]:
    return [_plain(plan.limits[limit]) for plan in PLANS.values()]


def _requests_per_minute() -> str:
    limits = zip(map(str.capitalize, PLANS), _per_plan("requests_per_minute"), strict=True)
    return table(("Plan", "Requests per minute:"), limits)


def _request_costs() -> str:
    included, units = rate_limit.INCLUDED_MS, rate_limit.INCLUDED_UNITS
    return f"""\
| A request counts | for |
|---|---|
| once | up to {included} ms in the function and up to {units} read units of DynamoDB |
| once more | each {rate_limit.MS_PER_TOKEN} ms begun beyond {included} ms, or each {rate_limit.UNITS_PER_TOKEN} read units begun beyond {units}, whichever is more |
| {rate_limit.cost_of(3_000, 0)} times | for example a search of 3 seconds |
"""


def _issued_tokens() -> str:
    header = ("Plan", "Tokens per client or user in 1 minute:", f"in {_LONG_WINDOW}:")
    limits = {
        name.capitalize(): (issuance_limits.per_minute(one), issuance_limits.per_long_window(one))
        for name, one in _TENANTS.items()
    }
    return table(header, [(name, *map(_plain, each)) for name, each in limits.items()])


def _deployment() -> str:
    return f"""\
| What | Default | Beyond it |
|---|---|---|
| requests per second to one method of one route, and in one burst | {_throttled("Request")} | 429 `rate_limited` |
| the same for the token routes | {_throttled("Token")} | 429 `rate_limited` |
| the same for `/openapi.json` and the files of `/docs`; no parameter sets it | {_throttled_files("/v1/openapi.json")} | 429 `rate_limited` |
| the same for the files of `/console`; no parameter sets it | {_throttled_files("/v1/console")} | 429 `rate_limited` |
| custom domains of companies | 120 per AWS account, more on request | `stowage domain add` is refused |
"""


def _requests() -> str:
    return f"""\
| What | Limit | Beyond it |
|---|---|---|
| JSON body | {request._MAX_BODY >> 20} MB ({_plain(request._MAX_BODY)} bytes) | 413 `payload_too_large` |
| body of a token route | {MAX_BODY_BYTES // 1024} kB | 413 `payload_too_large` |
| response | {round(envelope._MAX_BODY / 1_000_000)} MB | 413 `payload_too_large` |
| problems in `errors` | {_plain(envelope._MAX_PROBLEMS)} | the rest is left out |
| `ids` of a list | {list_parameters.MAX_IDS} | 422 |
| rows of a page, `per_page` | 1 to {MAX_PER_PAGE}; default {_PAGE_SIZE} | treated as {MAX_PER_PAGE} |
| requests of a page of [`/request-log`](../guides/integrating.md#request-log) | 1 to {request_log.MAX_ENTRIES}; default {request_log.MAX_ENTRIES} | treated as {request_log.MAX_ENTRIES} |
| transactions of a page of [`/changes`](../guides/changes.md) | 1 to {changes.MAX_ENTRIES}; default {_CHANGES} | treated as {changes.MAX_ENTRIES} |
| rows of a page, and lines of an order or delivery, of a [tool of agents](../guides/agents.md) | {PER_PAGE}; {order_tools.MAX_LINES} | the next page; a problem of the field |
| movements that an explanation of a difference reads | {stock_tools._MOVEMENTS} that leave and {stock_tools._MOVEMENTS} that arrive | `older_movements` |
| `idempotency_key` of a tool | 1 to 200 printable ASCII characters without spaces | a problem of the field |
| lines of a [reconciliation](../guides/changes.md#reconcile) | {_plain(reconciliations.MAX_LINES)} | 422 |
| pairs of a product and a warehouse that lines of a reconciliation with `complete` compare | {_plain(reconciliations.MAX_PLACES)} | 422; send a file |
| rows of a file of a reconciliation | {_plain(reconciliations.MAX_ROWS)} | the file is not compared |
| differences that a reconciliation shows | {_plain(reconciliations.MAX_DIFFERENCES)}, the largest, each with {reconciliations.MAX_SHOWN} movements or works | the others are in a workbook |
| movements that a reconciliation looks at | {_plain(movements.MAX_OF_PRODUCT)} of a product, {_plain(movements.MAX_MOVEMENTS)} in all | the difference is not `explained` |
| unacknowledged works that a reconciliation looks at | the newest {MAX_WORKS} of each kind | |
| lists of an [export](../guides/changes.md#snapshots) | 1 to {exports.MAX_OBJECTS} | 422 |
| exports of a company in progress | 1 | 409 `conflict` |
| `cursor` | {_longest_cursor()} characters | 422 |
| a filter, `search` | {_longest(fields.Term)} characters | 422 |
| Idempotency-Key | 1 to 255 printable ASCII characters | 400 `bad_request` |
| a response is repeated under its Idempotency-Key for | {claim.WINDOW_SECONDS // _HOUR} hours | the request runs again |
| an [approval](../guides/approvals.md) is open for | {approvals.LIFETIME_MS // 3_600_000} hours | a repeated request gets another one |
| body that an approval shows | {_plain(approvals.MAX_BODY)} bytes of JSON | null |
| access token | valid for {tokens.LIFETIME // _HOUR} hour | 401 `unauthenticated` |
| session of a user | {sessions.LIFETIME // _DAY} days after the last use, {sessions.LONGEST // _DAY} days after the sign-in; of a user with `users.manage` {sessions.LONGEST_OF_ADMINISTRATOR // _HOUR} hours after it | `invalid_grant` |
"""


def _texts() -> str:
    return f"""\
| What | Limit |
|---|---|
| codes (`item_code`, `whs_code`, `bin_code`, batch and serial numbers) and telephone numbers | {_longest(fields.Code)} characters |
| barcodes | {_longest(fields.Barcode)} characters |
| `external_ref` and other references | {_longest(fields.Reference)} characters |
| names | {_longest(fields.Name)} characters |
| `carrier_code`, `service_code` of orders | {_longest(address.CarrierCode)} characters |
| each part of `ship_to_address` | {address.MAX_PART} characters |
| names of users, roles and API clients | {_longest(client_models._Name)} characters |
| short words (types, units) | {_longest(fields.Word)} characters |
| one line of text, reasons | {_longest(fields.Reason)} characters |
| notes and descriptions | {_longest(fields.Note)} characters |
| e-mail addresses | {_longest(fields.Email)} characters |
| URL of a subscription | {_plain(target_urls.MAX_URL_LENGTH)} characters |
| name of a company (slug) | 3 to 32 characters |
| quantities | more than 0, at most {_plain(fields.MAX_QUANTITY)}, up to {-fields.LEAST_QUANTITY.adjusted()} decimals |
| ids | 1 to {_plain(fields.MAX_ID)} |
| `document_id` of a client | 1 to {_plain(partners._MAX_DOCUMENT_ID)} |
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
    return _plain(limit)


def _data() -> str:
    return f"""\
| What | Limit | Beyond it |
|---|---|---|
| positions in the detail of a warehouse | {_plain(warehouses._IN_DETAIL)}; use `GET /warehouse-positions` for more | the rest is left out |
| positions of one `POST /warehouse-positions/bulk` | {_plain(MAX_BULK)} | 422 |
| products of one position as a pick face | {_plain(pick_faces.MAX_PRODUCTS)} | 422 |
| names of `metadata` · its bytes as JSON · characters of a text | {_dotted(metadata.MAX_NAMES, metadata.MAX_BYTES, metadata.MAX_CHARACTERS)} | 422 |
| the same of a line | {_dotted(metadata.MAX_LINE_NAMES, metadata.MAX_LINE_BYTES, metadata.MAX_CHARACTERS)} | 422 |
| GTINs of a product · units of one | {_dotted(catalog.MAX_GTINS, catalog.MAX_UNITS)} | 422 |
| units of measure of a product | {catalog.MAX_UNITS_OF_MEASURE} | 422 |
| lines of a document, a receipt, a picking, a transfer order and a return | {_lines()} | 422; a receipt: 409 `conflict` |
| rows with available stock of one product that an allocation examines, in the order of expiry and receipt | {_plain(free_stock.MAX_PAGES * stock_repository.FREE_PAGE)} | stock behind them is not allocated |
| serials of one line when receiving · picking | {_dotted(receiving.MAX_SERIALS, picking.MAX_SERIALS)} | 422 |
| other pickings with which one pick of serials exchanges allocations | {picking.MAX_EXCHANGED} | 422 |
| serials of one line of a transfer, or received with a transfer order | {transfers.MAX_SERIALS} | 422 |
| `differences` of a receipt or an entry document | {_plain(receiving_rules.MAX_DIFFERENCES)} | the rest is left out |
| lines of a hold · days for which goods are held | {_dotted(holds.MAX_LINES, holds.MAX_DAYS)} | 422 |
| lines of a new count · positions · products that it names · serials counted at once · lines counted again at once | {_dotted(counts.MAX_LINES, counts.MAX_POSITIONS, counts.MAX_PRODUCTS, counts.MAX_SERIALS, counts.MAX_RECOUNTED)} | 422 |
| pick faces that a request replenishes by their ids · with `all` | {_dotted(replenishment.MAX_PICK_FACES, replenishment.MAX_EXAMINED)} | 422; the rest of all needs `after` |
| active holds of a product in a warehouse | {MAX_HOLDS} | 422 `rule_blocked` |
| lines of one `POST /stock-adjustments` | {adjustment_models.MAX_ADJUSTMENT_LINES} | 422 |
| lines of one request when receiving or picking | {several_lines.MAX_LINES} | 422 |
| lines of a transfer | {transfers.MAX_LINES} within a warehouse, 6 between two; fewer with serials; 9 within a warehouse if each has another batch | 422 |
| lines of one `POST /transfer-orders/{{id}}/receive` | {transfer_orders.MAX_ARRIVAL_LINES} | 422 |
| lines of one `POST /returns/{{id}}/lines` and `…/undo` · `/dispositions` | {_dotted(returns.MAX_GOODS_LINES, returns.MAX_DISPOSITION_LINES)} | 422 |
| serials of one line there | {returns.MAX_SERIALS} | 422 |
| exit documents of one picking | {picking.MAX_DOCUMENTS} | 422 |
| pickings of a wave | {waves.MAX_PICKINGS} | 422 |
| pickings · handling units · contents of all units of a packing order | {_dotted(packing.MAX_PICKINGS, packing.MAX_UNITS, packing.MAX_ORDER_CONTENTS)} | 422; a unit: 409 `conflict` |
| contents (an item, or a batch of it) · serials of a handling unit; units in units | {_dotted(packing.MAX_CONTENTS, packing.MAX_SERIALS)}; {packing.MAX_LEVELS} levels | 422 |
| characters of the goods on a packing slip: codes, names, batches and serials | {_plain(packing_labels.MAX_SLIP_SIZE)} | 413; get it in [parts](../guides/labels.md) |
| EPCs of an RFID validation · characters of an EPC | {_dotted(rfid.MAX_TAGS, rfid.MAX_EPC)} | 422 |
| roles of a user | {MAX_ROLES} | 422 |
| zones · aisles · bays · points of a map | {_dotted(layout.MAX_ZONES, layout.MAX_AISLES, layout.MAX_BAYS, layout.MAX_POINTS)} | 422 |
"""


def _bounds() -> str:
    return f"""\
| What | Bound | Why | Beyond it |
|---|---|---|---|
| ids of a kind, and of the lines of transfer orders | {_plain(fields.MAX_ID)} | Keys have {facets.ID_DIGITS} digits, so that their order as text is that of the numbers. A sequence is one item, which DynamoDB writes 1 000 times per second: 31 years of one id per call. | 409 `conflict` |
| stock levels | none of their own | The key of a level is the id of the product and the id of the warehouse, 12 digits each. Events name a level by an id of a sequence, which every JSON reader can hold. | nothing |
| quantity of a stock row | {_plain(MAX_ROW)} | Lists sort by its text, which has 12 digits and 6 decimals. | 409 `conflict` |
| `priority`, `pick_sequence` and other whole numbers | 1 000 000 000 | Their text has 18 digits; the smaller limit is that of the interface. | 422 |
| size of one document, receipt, picking, transfer order or map, compressed | {_plain(MAX_PARTS * items.PART_SIZE)} bytes | It is written as a whole, as up to {MAX_PARTS} items of {_plain(items.PART_SIZE)} bytes, and a transaction has 4 MB. About 70 000 serials of 50 random characters fit; usual ones compress better. Under an Idempotency-Key, the response is written with it, which leaves room for about 50 000 of them. | 409 `conflict` |
| lines of a document, a receipt, a picking and a transfer order | {_lines()} | They are one record, and the register of open work holds the ids of their products in one item: 7 bytes each. | as above |
| exit documents of one picking | {picking.MAX_DOCUMENTS} | Each has an item of its own (`LOOKUP#`, 3 digits), written in one transaction with the picking. | 422 |
| pickings of a wave | {waves.MAX_PICKINGS} | The record of the wave names them all. | 422 |
| pickings of a packing order | {packing.MAX_PICKINGS}, of at most 60 items and 2 MB together | All are marked in one transaction. | 422 |
| handling units, and their contents, of a packing order | {packing.MAX_UNITS}, {_plain(packing.MAX_ORDER_CONTENTS)} | The order lists its units, and its response shows them all with their contents. A dispatch, a cancellation, and a completion that deletes empty units change more than fit into a transaction in steps. | as above |
| contents and serials of a handling unit | {packing.MAX_CONTENTS}, {_plain(packing.MAX_SERIALS)} | A unit is written as a whole with each change, as one item of at most 350 kB. | 422 |
| EPCs of an RFID validation | {_plain(rfid.MAX_TAGS)} | A gate reads a truck at once. They take 0.2 s of CPU; all that is not expected is stored in 350 kB (of other products, or with goods that are missing, in further items of that size). | 422 |
| GTINs that an RFID validation looks up as barcodes of goods that are not expected | 100 | Each takes up to four queries. | its tags are `unknown`, and the validation has failed in any case |
| SSCCs of a company prefix and an extension digit | 10 to the power of 16 minus the digits of the prefix | An SSCC has 18 digits. | 409 `conflict`: set another `sscc_extension_digit` |
| products of one position as a pick face | {_plain(pick_faces.MAX_PRODUCTS)} | They are a set of numbers in the alias of the position, 7 kB, which everything reads that moves stock. | 422 |
| webhook subscriptions | {PLANS["enterprise"].limits["webhook_subscriptions"]} | Their register is one item, which the relay reads for each batch of events. | 402 `limit_reached` |
| `attributes` of an event | {outbox.MAX_ATTRIBUTES // 1000} kB | An event is part of the transaction of its change. | `attributes` is null |
| revocations of tokens at the same time | {_plain(revocations.SOFT_LIMIT)} | They are in the item of the tenant, 80 kB, which every request needs. | a client or user is revoked as a whole; above {_plain(revocations.HARD_LIMIT)}, all tokens of the company |
| revocations of tokens of one client or user | {revocations.PER_SUBJECT} | One credential must not use up those of its company. | the client or user is revoked as a whole |
| `page` of a list | {_plain(list_query._MAX_OFFSET_PAGES)} | Bookmarks hold the offset in 12 digits. | treated as {_plain(list_query._MAX_OFFSET_PAGES)}, an empty page |
| ids of a filtered list that is kept for its next pages | {_plain(bookmarks._CHUNK)} per item | Compressed, 30 000 ids of 24 digits have 363 kB. A longer list takes several items. | nothing |
| `search` | the first {facets._SEARCHED_LENGTH} characters of a name and code | Every index entry carries them. | the rest is not found |
| `search` of documents, receipts, pickings, returns, transfer orders | the first {search.MOST_BEGINNINGS} beginnings of words and numbers of a reference, code or name, and {search.MARKED_LENGTH} characters in all, which some 20 documents of a picking have | Each beginning is a write when the document is created. | the rest is not found, and not compared if a word that is searched has it |
| words of `search` | 20 | They are compared in one condition of 4 KB. | 422 |
| entries that a search examines | {list_bounds.MAX_PAGES} pages of 1 MB, some 70,000 | It ends in about 3 seconds. With a word of three or more characters, only the entries of the rarest one are examined; otherwise the whole list. | 422 |
| entries that [a filter without an index](../internals/storage.md#what-an-index-costs-and-what-it-saves) examines | {list_bounds.MAX_PAGES} pages of 1 MB, some 70,000, and {list_bounds.MAX_ITEMS:,} whole rows | It ends in about 3 seconds. It reads the whole list unless another filter, or `from` and `to`, selects less. | 422 that names the filters which select less |
| rows that `updated_since`, or `from` and `to`, select | as many as a request can read in 27 seconds, some 400,000; the next pages by `links.next` cost as little as others | The exact total takes an entry of each. | 503 `service_unavailable`, each time: begin with the list without the filter, `sort=updated_at` |
| order by name | the first {facets._FOLDED_LENGTH} characters | A sort key has 1 024 bytes: 200 characters of 4 bytes, a separator and the id. | the rest does not count |
| a filter | 255 characters | It may be a sort key: 255 characters of 4 bytes, and a separator. | 422 |
| a stored response | 6 MB | Its items are numbered with 3 digits; compressed, it takes few. | 413 `payload_too_large` |
| dates | the year 9999 | Times are texts with 4 digits for the year. | 422 |
"""


def _imports() -> str:
    return f"""\
| What | Limit | Beyond it |
|---|---|---|
| file in a request | {imports.megabytes(imports.MAX_REQUEST_FILE_BYTES)} | 413 `import_refused`; from about 4.7 MB on, which API Gateway refuses, 413 `payload_too_large` |
| file through a form or a drop | {imports.megabytes(imports.MAX_FILE_BYTES)} | S3 refuses the upload with 400 `EntityTooLarge`; a drop is rejected |
| validity of an upload form | {imports_service.FORM_SECONDS // _MINUTE} minutes | the upload is refused |
| columns · characters of a cell | {spreadsheet.MAX_COLUMNS} · {_plain(spreadsheet.MAX_CELL_CHARACTERS)} | the import is `invalid` |
| name of a file | 200 characters | 422 |
| errors of the structure that are reported | {spreadsheet.MAX_STRUCTURE_ERRORS} | the rest is left out |
| attempts of a commit without progress | {queued_work.MAX_ATTEMPTS} | the import is `failed`; commit it again |
"""


def _attempts_of_a_delivery() -> str:
    first, *pauses = map(int, read()["Parameters"]["WebhookRetryDelays"]["Default"].split(","))
    units = ((_HOUR, "h"), (_MINUTE, "min"), (1, "s"))
    shown = [next(f"{one // n} {unit}" for n, unit in units if one % n == 0) for one in pauses]
    start = f"after {first} s" if first else "at once"
    return f"{1 + len(pauses)}: {start}, then after {', '.join(shown)}, each up to {100 * webhook_rules._JITTER:.0f} % later"


def _webhooks() -> str:
    return f"""\
| What | Limit |
|---|---|
| body of an event | {outbox._MAX_BODY // 1000} kB; `attributes` is null in a larger one |
| attempts of a delivery | {_attempts_of_a_delivery()} |
| time of an attempt | 10 seconds |
| response of an endpoint that the fast queue serves | within {webhook_rules.SLOW_AFTER_SECONDS} seconds |
| response of the receiver | {http_client._MAX_BODY // 1024} kB are read; the log shows {http_client._LOGGED_BYTES // 1024} kB |
| `Retry-After` of the receiver | {http_client._MAX_RETRY_AFTER // _DAY} day |
| failed deliveries in a row before a subscription is deactivated | {webhook_rules.MAX_FAILURES} |
| attempts of a delivery in the log | {webhook_rules._MAX_LOGGED_ATTEMPTS} |
| deliveries of a subscription in the list | the newest {webhook_repository.MAX_LISTED} |
| overlap of two secrets after a rotation | 0 to 168 hours; default {webhook_models.DEFAULT_OVERLAP_HOURS} |
| previous secrets that still sign | {webhook_rules._MAX_OLD_SECRETS} |
"""


def _retention() -> str:
    return f"""\
| What | Kept for |
|---|---|
| deliveries of webhooks | {webhook_repository.RETENTION_DAYS} days |
| events in the outbox, after they were relayed | {outbox._RETENTION_SECONDS // _DAY} days |
| entries of the [feed of changes](../guides/changes.md) | {feed.CHUNK_SECONDS // _DAY} days |
| files of imports, error reports and dropped files, also rejected ones; files of exports | {_kept_days("ImportBucket", "ImportWorkBucket")} days |
| [reconciliations](../guides/changes.md#reconcile) | {reconciliations.KEPT_DAYS} days; the link of a workbook {RECONCILIATION_SECONDS // _MINUTE} minutes |
| the link of a file of an export | {LINK_SECONDS // _MINUTE} minutes; get the export again |
| entries of the [request log](../guides/integrating.md#request-log) | {request_log.KEPT_DAYS} days |
| responses under an Idempotency-Key | {claim.WINDOW_SECONDS // _HOUR} hours |
| backups (point-in-time recovery), also of a deleted tenant | 35 days |
| the table before a [restore](../operating/restore.md) | until an operator removes it, or the tenant is deleted |
| [copies of backups in another account](../operating/backups.md), if they are set up | `CopyRetentionDays` (90 days) |
| retired signing keys in KMS | {signing_keys._DELETION_DELAY_DAYS} days |
| messages in a dead-letter queue | {_days_in_dead_letter_queues()} days |
| logs | `LogRetentionDays` |
| audit log, documents, stock movements, imports (without their files) | until the tenant is deleted |
| export of a tenant (`stowage tenant export`) | until you delete the directory |
"""


def _sign_ins() -> str:
    return f"""\
| What | Limit |
|---|---|
| password | {passwords.MIN_LENGTH} to {passwords.MAX_LENGTH} characters |
| secrets of an integration client | 2 at the same time |
| sessions of a user in the list | the newest {sessions.MOST_LISTED} |
| failed attempts | [see there](access.md#limits-on-failed-attempts) |
| a change of rights or of the tenant takes effect | within {directory.CACHE_SECONDS:.0f} seconds |
"""


def _attempts() -> str:
    return f"""\
| Counted per | Failures | Within |
|---|---:|---|
| client id and IP address | {attempts.PER_CLIENT} | {_WINDOW} |
| user name and IP address | {attempts.PER_USER} | {_WINDOW} |
| user name and IP address | {attempts.PER_USER_LONG_WINDOW} | {_LONG_WINDOW} |
| user name, over all addresses that are not known | {attempts.PER_USER_ALL_ADDRESSES} | {_LONG_WINDOW} |
| kind of credential and IP address (IPv6: /64 network), at one company | {attempts.PER_ADDRESS} | {_WINDOW} |
"""


def _codes() -> str:
    return f"""\
| Wrong codes since the last right one | The next code |
|---|---|
| up to {code_checks.UNHINDERED - 1} | is checked at once |
| {code_checks.UNHINDERED} | is checked after {code_checks.FIRST_PAUSE} s, then after twice as long for each wrong one, at most {code_checks.LONGEST_PAUSE // _MINUTE} minutes. Until then: 429 `rate_limited` with `Retry-After` |
| {code_checks.MOST} | is not checked: `invalid_grant`, or a problem of `otp` (422) |
"""


def _rows_of_import() -> str:
    limits = zip(PLANS, _per_plan("rows_per_import"), strict=True)
    return ", ".join(f"{limit} ({name.capitalize()})" for name, limit in limits)


def _import_files() -> str:
    return f"""\
| What | Limit |
|---|---|
| rows | {_rows_of_import()} |
| columns | {spreadsheet.MAX_COLUMNS}, and three more in an error report |
| characters in a cell | {_plain(spreadsheet.MAX_CELL_CHARACTERS)} |
| lines of a document | {_plain(documents.MAX_LINES)} |
| size of a file | {imports.megabytes(imports.MAX_REQUEST_FILE_BYTES)} in a request, {imports.megabytes(imports.MAX_FILE_BYTES)} otherwise |
| retention of files and reports | {_kept_days("ImportBucket", "ImportWorkBucket")} days |
"""


def _map() -> str:
    return f"""\
| What | Limit |
|---|---|
| body | {request._MAX_BODY >> 20} MB |
| `width_m`, `depth_m`, every length and height | more than 0, at most {_plain(layout._MAX_LENGTH_M)} m |
| zones · aisles · bays · points | {_dotted(layout.MAX_ZONES, layout.MAX_AISLES, layout.MAX_BAYS, layout.MAX_POINTS)} |
| corners of a polygon · of all polygons | 3 to {_dotted(layout.MAX_CORNERS, layout.MAX_CORNERS_IN_ALL)} |
| levels of a bay | {layout.MAX_LEVELS} |
| `slots_per_level` | 1 to 1000 |
| `rotation` | 0 to {layout._FULL_TURN} |
| `type`, `kind`, `side`, `rack_type`, `temperature_class`, `color` | any text of up to 32 characters, also an empty one |
| codes · numbers · naming masks | 50 characters · integers or 32 characters · 255 characters |
"""


LIMITS: Mapping[str, Callable[[], str]] = {
    "limits of plans": _plans,
    "requests per minute": _requests_per_minute,
    "request costs": _request_costs,
    "limits of the deployment": _deployment,
    "limits of requests": _requests,
    "limits of texts and numbers": _texts,
    "limits of data": _data,
    "bounds": _bounds,
    "limits of imports": _imports,
    "limits of import files": _import_files,
    "limits of webhooks": _webhooks,
    "retention": _retention,
    "limits of sign-ins": _sign_ins,
    "limits on failed attempts": _attempts,
    "limits on codes": _codes,
    "limits on issued tokens": _issued_tokens,
    "limits of maps": _map,
}
"""Name of a part of a page → the function that returns it."""
