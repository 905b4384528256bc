"""Numbers and defaults that the pages quote are those of the code and the template."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, get_args

from pydantic import TypeAdapter

from examples import stowage_client
from functions.oauth.request import MAX_BODY_BYTES
from operations import draining, signing_keys
from operations import tenant_rules as tenancy
from shared.http import envelope, rate_limit_leases, request, routes
from shared.identity.auth import attempt_limits as attempts
from shared.identity.auth import client_models, issuance_limits, key_ring, tokens
from shared.identity.tenancy import access, directory, revocations
from shared.identity.tenancy.tenant import (
    MODULES,
    PLANS,
    TOTAL_REQUESTS,
    WEBHOOKS,
    LimitName,
    Tenant,
)
from shared.identity.users import code_checks, passwords, recovery_codes, sessions, totp
from shared.identity.users.models import MAX_ROLES
from shared.integration.imports import context, validation
from shared.integration.imports import models as imports
from shared.integration.imports import service as imports_service
from shared.integration.imports import worker as import_worker
from shared.integration.webhooks import http_client, target_urls
from shared.integration.webhooks import models as webhook_models
from shared.integration.webhooks import repository as webhook_repository
from shared.integration.webhooks import rules as webhook_rules
from shared.kernel import fields, list_parameters
from shared.kernel.db import (
    actions,
    claim,
    counters,
    facets,
    items,
    parallel,
    transaction,
)
from shared.kernel.db.lists import bookmarks, plan
from shared.kernel.db.lists.cursor import MAX_PER_PAGE
from shared.kernel.db.records import MAX_PARTS
from shared.kernel.db.table import INDEX_COUNT
from shared.kernel.events import outbox
from shared.kernel.spreadsheets import table
from shared.warehouse.approvals import rules as approvals
from shared.warehouse.catalog import models as catalog
from shared.warehouse.documents import models as documents
from shared.warehouse.layout import models as layout
from shared.warehouse.packing import models as packing
from shared.warehouse.partners import models as partners
from shared.warehouse.pick_faces import rules as pick_faces
from shared.warehouse.picking import allocation
from shared.warehouse.picking import models as picking
from shared.warehouse.picking import rules as picking_rules
from shared.warehouse.receiving import models as receiving
from shared.warehouse.receiving import rules as receiving_rules
from shared.warehouse.returns import models as returns
from shared.warehouse.rfid import models as rfid
from shared.warehouse.settings import values as setting_values
from shared.warehouse.stock import repository as stock_repository
from shared.warehouse.stock.models import InventoryStatus
from shared.warehouse.stock.rules import MAX_ROW
from shared.warehouse.transfer_orders import models as transfer_orders
from shared.warehouse.transfers import models as transfers
from shared.warehouse.warehouses import service as warehouses_service
from shared.warehouse.warehouses.models import MAX_BULK
from shared.warehouse.waves import models as waves
from shared.warehouse.waves import rules as wave_rules
from tests.cases import each_case
from tests.template import Template

ROOT = Path(__file__).parents[2]
TEMPLATE = Template({})
_DAY, _HOUR, _MINUTE = 86_400, 3_600, 60
_WORDS = {1: "one", 3: "three", 5: "five", 10: "ten"}


@cache
def page(name: str) -> str:
    """Return a page with single spaces in place of line breaks."""
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


def plain(number: object) -> str:
    """Return a number as the pages write it: 100 000."""
    return f"{number:,}".replace(",", " ")


def dotted(*numbers: int) -> str:
    return " · ".join(map(plain, numbers))


def per_plan(limit: LimitName) -> list[str]:
    return [plain(plan.limits[limit]) for plan in PLANS.values()]


def longest(value: Any) -> str:
    """Return the number of characters that a field type allows."""
    return plain(TypeAdapter(value).json_schema()["maxLength"])


def of_plans(limit: LimitName) -> str:
    return " | ".join(per_plan(limit))


def _days_in_dead_letter_queues() -> int:
    queues = TEMPLATE.resources("AWS::SQS::Queue").values()
    (seconds,) = {
        queue["MessageRetentionPeriod"] for queue in queues if "RedrivePolicy" not in queue
    }
    return int(seconds) // _DAY


def _default(parameter: str) -> str:
    return plain(TEMPLATE._document["Parameters"][parameter]["Default"])


def listed(values: Iterable[str]) -> str:
    return ", ".join(f"`{value}`" for value in values)


def _queue(name: str, attribute: str) -> Any:
    return TEMPLATE.resources("AWS::SQS::Queue")[name][attribute]


def _source(function: str) -> Any:
    """Return the properties of the queue or stream from which a function reads."""
    (event,) = TEMPLATE.resources("AWS::Serverless::Function")[function]["Events"].values()
    return event["Properties"]


def _relay(attribute: str) -> int:
    return int(_source("EventRelayFunction")[attribute])


def _kept_days(bucket: str) -> int:
    rules = TEMPLATE.resources("AWS::S3::Bucket")[bucket]["LifecycleConfiguration"]["Rules"]
    (days,) = {rule["ExpirationInDays"] for rule in rules if "ExpirationInDays" in rule}
    return int(days)


def _result_seconds() -> int:
    (api,) = TEMPLATE.resources("AWS::Serverless::Api").values()
    (authorizer,) = api["Auth"]["Authorizers"].values()
    return int(authorizer["Identity"]["ReauthorizeEvery"])


_FUNCTION_SECONDS = TEMPLATE._document["Globals"]["Function"]["Timeout"]
_IMPORT_WORKERS = _source("ImportWorkerFunction")["ScalingConfig"]["MaximumConcurrency"]
_LONG_WINDOW = f"{attempts.LONG_WINDOW // _MINUTE} minutes"
_RELAY_LIMIT = (
    f"{_relay('MaximumRetryAttempts')} retries or"
    f" {_relay('MaximumRecordAgeInSeconds') // _HOUR} hours"
)
_PAGE_SIZE = list_parameters.ListParameters.model_fields["per_page"].default
_SETTINGS = setting_values.Settings()
_clients = per_plan("integration_clients")
_users = per_plan("users")
_requests = per_plan("requests_per_minute")
_tenants = {
    name: Tenant("acme", "active", name, frozenset(), "https://acme.test") for name in PLANS
}
_tokens = [plain(issuance_limits.per_minute(one)) for one in _tenants.values()]
_totals = [TOTAL_REQUESTS * plan.limits["requests_per_minute"] for plan in PLANS.values()]
_trips = wave_rules._PICKINGS_PER_TRIP

_ANNOUNCED = routes.Deprecation(date(2027, 1, 1), date(2028, 1, 1)).headers("")


def _cursor_length() -> int:
    schema = list_parameters.ListParameters.model_json_schema()["properties"]["cursor"]
    return int(next(one["maxLength"] for one in schema["anyOf"] if "maxLength" in one))


def _line_limits() -> set[int]:
    """Return the limits of lines; a set of one, because they are the same."""
    return {
        documents.MAX_LINES, receiving_rules.MAX_LINES, picking_rules._MAX_LINES,
        transfer_orders.MAX_LINES, returns.MAX_LINES,
    }  # fmt: skip


QUOTED: Mapping[str, Sequence[str]] = {
    "docs/approvals.md": [
        f"A body of more than {approvals.MAX_BODY:,}",
        f"| `expired` | {approvals.LIFETIME_MS // 3_600_000} hours passed",
    ],
    "docs/limits.md": [
        f"is open for | {approvals.LIFETIME_MS // 3_600_000} hours |",
        f"body that an approval shows | {plain(approvals.MAX_BODY)} bytes",
        *(
            f"| {name.capitalize()} | {plain(plan.limits['requests_per_minute'])} |"
            for name, plan in PLANS.items()
        ),
        f"**{_WORDS[TOTAL_REQUESTS]} times** as many requests per minute: "
        + " or ".join(", ".join(map(plain, _totals)).rsplit(", ", 1)),
        f"takes effect within {directory.CACHE_SECONDS:.0f} s",
        f"in advance to {100 * rate_limit_leases.spare_budget(1000) // 1000} % of the limit",
        f"A page can have up to {MAX_PER_PAGE} rows",
        # Plans
        f"| requests per minute of a client or user | {of_plans('requests_per_minute')} |",
        f"| requests per minute of the company | {' | '.join(map(plain, _totals))} |",
        f"| tokens per minute of a client or user | {' | '.join(_tokens)} |",
        f"| integration clients | {of_plans('integration_clients')} |",
        f"| mobile applications | {of_plans('mobile_clients')} |",
        f"| users | {of_plans('users')} |",
        f"| webhook subscriptions | {of_plans('webhook_subscriptions')} |",
        "| webhooks | "
        + " | ".join("yes" if WEBHOOKS in plan.features else "no" for plan in PLANS.values()),
        f"| rows of an import | {of_plans('rows_per_import')} |",
        f"limit is 1 to {plain(tenancy.MAX_REQUESTS_PER_MINUTE)} per minute",
        # The deployment
        f"and in one burst | {_default('RequestRateLimit')}, {_default('RequestBurstLimit')} |",
        f"for the token routes | {_default('TokenRateLimit')}, {_default('TokenBurstLimit')} |",
        # Requests and responses
        f"| JSON body | {request._MAX_BODY >> 20} MB ({plain(request._MAX_BODY)} bytes) |",
        f"| body of a token route | {MAX_BODY_BYTES // 1024} kB |",
        f"| response | {round(envelope._MAX_BODY / 1_000_000)} MB |",
        f"| problems in `errors` | {plain(envelope._MAX_PROBLEMS)} |",
        f"`per_page` | 1 to {MAX_PER_PAGE}; default {_PAGE_SIZE} |",
        f"| `cursor` | {plain(_cursor_length())} characters |",
        f"| a filter, `search` | {longest(fields.Term)} characters |",
        f"is repeated under its Idempotency-Key for | {claim.WINDOW_SECONDS // _HOUR} hours |",
        "| Idempotency-Key | 1 to 255 printable",
        f"| access token | valid for {tokens.LIFETIME // _HOUR} hour |",
        f"| session of a user | {sessions.LIFETIME // _DAY} days after",
        # Texts and numbers
        f"and telephone numbers | {longest(fields.Code)} characters |",
        f"| barcodes | {longest(fields.Barcode)} characters |",
        f"other references | {longest(fields.Reference)} characters |",
        f"| names | {longest(fields.Name)} characters |",
        f"roles and API clients | {longest(client_models._Name)} characters |",
        f"| short words (types, units) | {longest(fields.Word)} characters |",
        f"| one line of text, reasons | {longest(fields.Reason)} characters |",
        f"| notes and descriptions | {longest(fields.Note)} characters |",
        f"| e-mail addresses | {longest(fields.Email)} characters |",
        f"| URL of a subscription | {plain(target_urls.MAX_URL_LENGTH)} characters |",
        f"at most {plain(fields.MAX_QUANTITY)}, up to {-fields.LEAST_QUANTITY.adjusted()} decimals",
        f"| ids | 1 to {plain(fields.MAX_ID)} |",
        f"| 1 to {plain(partners._MAX_DOCUMENT_ID)} |",
        # Data of a company
        f"in the detail of a warehouse | {plain(warehouses_service._IN_DETAIL)};",
        f"positions of one `POST /warehouse-positions/bulk` | {plain(MAX_BULK)} |",
        f"products of one position as a pick face | {plain(pick_faces.MAX_PRODUCTS)} |",
        f"of expiry and receipt | {plain(allocation.MAX_PAGES * stock_repository.FREE_PAGE)} |",
        # Bounded by layout
        f"of transfer orders | {plain(fields.MAX_ID)} | Keys have {facets.ID_DIGITS} digits",
        f"| quantity of a stock row | {plain(MAX_ROW)} |",
        f"| {plain(MAX_PARTS * items.PART_SIZE)} bytes | It is written as a whole,",
        f"as up to {MAX_PARTS} items of {plain(items.PART_SIZE)} bytes",
        f"| revocations of tokens at the same time | {plain(revocations.SOFT_LIMIT)} |",
        f"| revocations of tokens of one client or user | {revocations.PER_SUBJECT} |",
        f"above {plain(revocations.HARD_LIMIT)}, all tokens",
        f"| `page` of a list | {plain(plan._MAX_OFFSET_PAGES)} |",
        f"kept for its next pages | {plain(bookmarks._CHUNK)} per item |",
        f"| `search` | the first {facets._SEARCHED_LENGTH} characters",
        f"| order by name | the first {facets._FOLDED_LENGTH} characters",
        f"| `attributes` of an event | {outbox.MAX_ATTRIBUTES // 1000} kB |",
        f"a picking, a transfer order and a return | {plain(*_line_limits())} |",
        f"when receiving · picking | {receiving.MAX_SERIALS} · {picking.MAX_SERIALS} |",
        f"received with a transfer order | {transfers.MAX_SERIALS} |",
        f"of a receipt or an entry document | {plain(receiving_rules.MAX_DIFFERENCES)} |",
        f"lines of a transfer | {transfers.MAX_LINES} within a warehouse, 6 between two",
        f"order | {dotted(packing.MAX_PICKINGS, packing.MAX_UNITS, packing.MAX_ORDER_CONTENTS)} |",
        f"| {dotted(packing.MAX_CONTENTS, packing.MAX_SERIALS)}; {packing.MAX_LEVELS} levels |",
        f"validation · characters of an EPC | {dotted(rfid.MAX_TAGS, rfid.MAX_EPC)} |",
        f"`POST /transfer-orders/{{id}}/receive` | {transfer_orders.MAX_ARRIVAL_LINES} |",
        f"GTINs of a product · units of one | {catalog.MAX_GTINS} · {plain(catalog.MAX_UNITS)} |",
        f"· `/dispositions` | {returns.MAX_GOODS_LINES} · {returns.MAX_DISPOSITION_LINES} |",
        f"serials of one line there | {returns.MAX_SERIALS} |",
        f"exit documents of one picking | {picking.MAX_DOCUMENTS} |",
        f"pickings of a wave | {waves.MAX_PICKINGS} |",
        f"roles of a user | {MAX_ROLES} |",
        dotted(layout.MAX_ZONES, layout.MAX_AISLES, layout.MAX_BAYS, layout.MAX_POINTS),
        # Imports
        f"| file in a request | {imports.megabytes(imports.MAX_REQUEST_FILE_BYTES)} |",
        f"through a form or a drop | {imports.megabytes(imports.MAX_FILE_BYTES)} |",
        f"validity of an upload form | {imports_service.FORM_SECONDS // _MINUTE} minutes |",
        f"| {table.MAX_COLUMNS} · {plain(table.MAX_CELL_CHARACTERS)} |",
        f"errors of the structure that are reported | {table.MAX_STRUCTURE_ERRORS} |",
        f"attempts of a commit without progress | {import_worker.MAX_ATTEMPTS} |",
        # Webhooks
        f"| body of an event | {outbox._MAX_BODY // 1000} kB;",
        f"{http_client._MAX_BODY // 1024} kB are read;",
        f"the log shows {http_client._LOGGED_BYTES // 1024} kB",
        f"| `Retry-After` of the receiver | {http_client._MAX_RETRY_AFTER // _DAY} day |",
        f"before a subscription is deactivated | {webhook_rules.MAX_FAILURES} |",
        f"| attempts of a delivery in the log | {webhook_rules._MAX_LOGGED_ATTEMPTS} |",
        f"| the newest {webhook_repository.MAX_LISTED} |",
        f"0 to 168 hours; default {webhook_models.DEFAULT_OVERLAP_HOURS} |",
        f"previous secrets that still sign | {webhook_rules._MAX_OLD_SECRETS} |",
        # Retention
        f"| deliveries of webhooks | {webhook_repository.RETENTION_DAYS} days |",
        f"after they were relayed | {outbox._RETENTION_SECONDS // _DAY} days |",
        f"also rejected ones | {_kept_days('ImportBucket')} days |",
        f"also rejected ones | {_kept_days('ImportWorkBucket')} days |",
        f"responses under an Idempotency-Key | {claim.WINDOW_SECONDS // _HOUR} hours |",
        f"| retired signing keys in KMS | {signing_keys._DELETION_DELAY_DAYS} days |",
        f"messages in a dead-letter queue | {_days_in_dead_letter_queues()} days |",
        # Passwords and sign-ins
        f"| sessions of a user in the list | the newest {sessions.MOST_LISTED} |",
        f"{sessions.LONGEST // _DAY} days after the sign-in;",
        f"with `users.manage` {sessions.LONGEST_OF_ADMINISTRATOR // _HOUR} hours after it",
        f"| password | {passwords.MIN_LENGTH} to {passwords.MAX_LENGTH} characters |",
        f"takes effect | within {directory.CACHE_SECONDS:.0f} seconds |",
    ],
    "docs/integrating.md": [
        f"**position \N{MINUS SIGN} {stowage_client.OVERLAP.seconds} seconds**",
        f"at the latest after {_FUNCTION_SECONDS} seconds",
        f"with {stowage_client.OVERLAP.seconds} seconds of overlap",
        f"`expires_in` seconds, which is {_WORDS[tokens.LIFETIME // _HOUR]} hour",
        f"takes effect within {directory.CACHE_SECONDS:.0f} seconds",
        f"within {directory.CACHE_SECONDS:.0f} seconds of the reactivation",
        f"`Idempotent-Replayed: true`, for {claim.WINDOW_SECONDS // _HOUR} hours",
        f"After {claim.WINDOW_SECONDS // _HOUR} hours the same key",
        f"less than {claim.LEASE_MS // 1000} seconds ago",
        f"that hangs may run for {_FUNCTION_SECONDS}",
        f"| `per_page` | 1 to {MAX_PER_PAGE}, default {_PAGE_SIZE};",
        f"{', '.join(_requests[:-1])} or {_requests[-1]} requests per minute and client",
        f"{MAX_PER_PAGE} rows per page; {plain(documents.MAX_LINES)} lines per document",
        f"{request._MAX_BODY >> 20} MB per body",
        f"at most {plain(fields.MAX_QUANTITY)}",
    ],
    "docs/versioning.md": [
        f"at least {routes._DEPRECATED_FOR.days} days",
        *(f"`{name}`" for name in _ANNOUNCED),
    ],
    "docs/settings.md": [
        *(f"`.{name}`" if name != "waves" else f"`modules.{name}`" for name in MODULES),
        (
            f"| `receipt_tolerance` | 0 to {setting_values.MAX_VALUES['receipt_tolerance']}, up to"
            f" {setting_values._DECIMALS} decimals; default {_SETTINGS.receipt_tolerance} |"
        ),
        (
            f"| `pick_substitution` | {listed(get_args(setting_values.Substitution.__value__))};"
            f" default `{_SETTINGS.pick_substitution}` |"
        ),
        (
            f"0 to {setting_values.MAX_VALUES['minutes_per_unit']}, up to"
            f" {setting_values._DECIMALS} decimals; default {_SETTINGS.minutes_per_unit}"
            f" and {_SETTINGS.minutes_per_trip} |"
        ),
        f"**within {directory.CACHE_SECONDS:.0f} seconds**",
    ],
    "docs/access.md": [
        f"A token is valid for {_WORDS[tokens.LIFETIME // _HOUR]} hour",
        f"at most {MAX_BODY_BYTES // 1024} kB",
        (
            f"| maximum number | {', '.join(_clients[:-1])} or {_clients[-1]},"
            f" depending on the plan | {PLANS['essentials'].limits['mobile_clients']} |"
        ),
        f"stored for {claim.WINDOW_SECONDS // _HOUR} hours",
        f"A session expires {sessions.LIFETIME // _DAY} days after the last use",
        f"**{sessions.LONGEST // _DAY} days after the",
        f"ends **{sessions.LONGEST_OF_ADMINISTRATOR // _HOUR} hours after the sign-in**",
        f"effect **within {directory.CACHE_SECONDS:.0f} seconds** everywhere",
        f"within the next {revocations._COMMIT_ALLOWANCE} s",
        (
            f"have {revocations.PER_SUBJECT} entries at the same time, or those of a tenant"
            f" {plain(revocations.SOFT_LIMIT)},"
        ),
        f"At {plain(revocations.HARD_LIMIT)} entries, all present tokens",
        *(
            f"| {name.capitalize()} | {plain(issuance_limits.per_minute(one))} |"
            f" {plain(issuance_limits.per_long_window(one))} |"
            for name, one in _tenants.items()
        ),
        f"110 % of it, at least {issuance_limits.LEAST_PER_MINUTE}, and",
        f"{_WORDS[issuance_limits.LONG_WINDOW_MINUTES]} times as much in {_LONG_WINDOW}",
        f"| client id and IP address | {attempts.PER_CLIENT} | 1 minute |",
        f"| user name and IP address | {attempts.PER_USER} | 1 minute |",
        f"| user name and IP address | {attempts.PER_USER_LONG_WINDOW} | {_LONG_WINDOW} |",
        f"addresses that are not known | {attempts.PER_USER_ALL_ADDRESSES} | {_LONG_WINDOW} |",
        f"at one company | {attempts.PER_ADDRESS} | {attempts.WINDOW // _MINUTE} minute |",
        f"has signed in from it within {attempts.ADDRESS_LIFETIME // _DAY} days",
        f"has up to {attempts.MAX_ADDRESSES} known addresses",
        f"{_WORDS[attempts.PER_USER]} attempts are checked at a time",
        f"| up to {code_checks.UNHINDERED - 1} | is checked at once |",
        f"| {code_checks.UNHINDERED} | is checked after {code_checks.FIRST_PAUSE} s, then",
        f"each wrong one, at most {code_checks.LONGEST_PAUSE // _MINUTE} minutes",
        f"| {code_checks.MOST} | is not checked",
        f"starts to sign {_WORDS[signing_keys._ACTIVATION_DELAY // _MINUTE]} minutes later",
        f"after {_WORDS[key_ring.PUBLISH_LEAD // _MINUTE]} more it signs",
        f"at most once in {key_ring.UNKNOWN_KEY_REREAD:.0f} seconds",
        f"Known keys are cached for {key_ring._CACHE_SECONDS / _MINUTE:.0f} minutes",
    ],
    "docs/users.md": [
        f"A user can have up to {MAX_ROLES} roles",
        f"of the newest {sessions.MOST_LISTED}:",
        f"A company can have {', '.join(_users[:-1])} or {_users[-1]} users",
        f"A password has {passwords.MIN_LENGTH} to {passwords.MAX_LENGTH} characters",
        f"({passwords._MEMORY_KIB // 1024} MiB, {passwords._PASSES} passes)",
        f"{_WORDS[recovery_codes.COUNT]} recovery codes",
        f"six digits, {totp.PERIOD} seconds",
        f"from {totp.PERIOD * totp._DRIFT} seconds before its period",
        f"Within {directory.CACHE_SECONDS:.0f} seconds:",
    ],
    "docs/webhooks.md": [
        f"up to {_WORDS[webhook_rules._MAX_OLD_SECRETS]} previous secrets",
        f"its last {webhook_rules._MAX_LOGGED_ATTEMPTS} attempts",
        f"{http_client._MAX_BODY // 1024} kB of the body are read",
        f"After {_RELAY_LIMIT} the batch is discarded",
        f"the message after {_queue('WebhookQueue', 'VisibilityTimeout') // _MINUTE} minutes",
        f"fails {_queue('WebhookQueue', 'RedrivePolicy')['maxReceiveCount']} times",
    ],
    "examples/webhooks/README.md": [
        f"A body has at most {outbox._MAX_BODY // 1000} kB",
        f"{http_client._MAX_BODY // 1024} kB of the body are read",
        f"at most {_WORDS[http_client._MAX_RETRY_AFTER // _DAY]} day",
        f"each up to {100 * webhook_rules._JITTER:.0f} % later",
        f"After {_WORDS[webhook_rules.MAX_FAILURES]} consecutive failed deliveries",
    ],
    "docs/imports.md": [
        f"workers fail {_WORDS[import_worker.MAX_ATTEMPTS]} times at the same point",
        f"rules need for {plain(validation._CHUNK_ROWS)} rows at a time",
        f"makes the worker resume after {context.LEASE_MS // 1000} s",
        f"delivered after {import_worker._LEASE_SECONDS} s",
        f"again after {_queue('ImportQueue', 'VisibilityTimeout') // _MINUTE} minutes",
        f"| retention of files and reports | {_kept_days('ImportBucket')} days |",
    ],
    "docs/map.md": [
        (
            f"| zones · aisles · bays · points | {layout.MAX_ZONES} · {layout.MAX_AISLES} ·"
            f" {layout.MAX_BAYS} · {layout.MAX_POINTS} |"
        ),
        f"| 3 to {layout.MAX_CORNERS} · {layout.MAX_CORNERS_IN_ALL} |",
        f"| levels of a bay | {layout.MAX_LEVELS} |",
        f"more than 0, at most {plain(layout._MAX_LENGTH_M)} m |",
        f"| `rotation` | 0 to {layout._FULL_TURN} |",
    ],
    "docs/warehouse-operations.md": [
        f"at most {transfers.MAX_LINES} lines within a warehouse, 6 lines between two",
        f"one line of {transfers.MAX_SERIALS} serials",
        f"A wave has up to {waves.MAX_PICKINGS} pickings",
        f"| `max_orders` | it is among this number of pickings; {waves.MAX_PICKINGS} unless",
        f"| `cluster`, `pick_and_pass` | one per {_trips['cluster']} pickings",
        f"| `batch`, `zone` | one per {_trips['batch']} pickings",
        f"with at most {actions.MAX_PLANNED_ACTIONS} of its {actions.MAX_ACTIONS} actions",
        *(status for status in get_args(InventoryStatus.__value__)),
    ],
    "docs/runbooks/import-dead-letters.md": [
        f"failed {_WORDS[_queue('ImportQueue', 'RedrivePolicy')['maxReceiveCount']]} times with",
        f"for {_days_in_dead_letter_queues()} days",
    ],
    "docs/runbooks/import-oldest-message.md": [
        f"received again every {_queue('ImportQueue', 'VisibilityTimeout') // _MINUTE} minutes",
    ],
    "docs/runbooks/relay-failures.md": [
        f"after {_RELAY_LIMIT}",
    ],
    "docs/runbooks/webhook-dead-letters.md": [
        f"failed {_queue('WebhookQueue', 'RedrivePolicy')['maxReceiveCount']} times with",
        f"for {_days_in_dead_letter_queues()} days",
    ],
    "docs/operating.md": [
        f"It waits {draining.DRAIN_SECONDS:.0f} s",
        f"({directory.CACHE_SECONDS:.0f} s of cache, {draining._LONGEST_INVOCATION_SECONDS} s of",
        f"upload forms are valid for {imports_service.FORM_SECONDS // _MINUTE} minutes",
    ],
    "docs/scale.md": [
        f"in {len(outbox.SHARDS)} partitions (\N{MULTIPLICATION SIGN} 4)",
        f"in one of {counters.SHARDS} shards | 500",
        f"one partition per shard: {plain(500 * counters.SHARDS)}",
        f"Lambda reads each shard of the outbox's stream with {_relay('ParallelizationFactor')}",
        f"batches at once, of up to {_relay('BatchSize')} events each",
        f"caches the credentials of {plain(access._CAPACITY)} tenants",
        f"each for {plain(access._LIFETIME - access._RENEW_BEFORE)} s",
        f"(an hour less {plain(access._RENEW_BEFORE)} s)",
        f"all tenants | {plain(int(TEMPLATE.text({'Ref': 'RequestRateLimit'})))} per second",
        f"`WebhookConcurrency` is {TEMPLATE.text({'Ref': 'WebhookConcurrency'})}, for each",
        f"in {parallel._WORKERS} threads",
        f"At most {_IMPORT_WORKERS} workers run at once",
        f"a table of a tenant has {INDEX_COUNT}.",
        f"one per token, which is valid for {_WORDS[tokens.LIFETIME // _HOUR]} hour",
        (
            f"Essentials has {plain(_totals[0])}, Professional {plain(_totals[1])} requests"
            f" per minute for all clients | the rate limit, {plain(_totals[2])} with Enterprise"
        ),
    ],
    "docs/storage.md": [
        f"spread over {len(outbox.SHARDS)} partitions",
        f"compressed from {items._COMPRESS_FROM} bytes on",
        f"counting pages up; expires after {bookmarks._LIFETIME_MS // 60_000} min",
        f"until it expires after {bookmarks._SNAPSHOT_EXPIRY_MS // 3_600_000} h",
        f"Taken within {bookmarks.LAG_MS // 1000} s of a change",
        f"it is relayed: {outbox._RETENTION_SECONDS // _DAY} days later",
        f"(up to {outbox.MAX_ATTRIBUTES // 1000} kB)",
    ],
    "docs/architecture.md": [
        f"keeps the result for {_WORDS[_result_seconds() // _MINUTE]} minutes",
        f"delayed the commit for more than {_WORDS[transaction._STALE_MS // 1000]} seconds",
    ],
}
"""Page → what it must say."""


@each_case(
    ("name", "quoted"), [(name, one) for name, quoted in QUOTED.items() for one in sorted(quoted)]
)
def test_page_quotes_the_code(name: str, quoted: str) -> None:
    assert quoted in page(name)
