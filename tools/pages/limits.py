"""Tables of limits, in docs/reference/limits.md and other pages: their numbers are those of the code."""

from collections.abc import Callable, Mapping

from functions.mcp import orders as order_tools
from functions.mcp import stock as stock_tools
from functions.mcp.tool import PER_PAGE
from functions.oauth.request import MAX_BODY_BYTES
from operations import signing_keys
from shared.http import envelope, rate_limit, request, slow_requests
from shared.identity.auth import attempt_limits as attempts
from shared.identity.auth import issuance_limits, tokens
from shared.identity.request_log import models as request_log
from shared.identity.tenancy import directory
from shared.identity.tenancy.tenant import PLANS, TOTAL_REQUESTS, WEBHOOKS, LimitName, Tenant
from shared.identity.users import code_checks, passwords, sessions
from shared.integration.changes import models as changes
from shared.integration.exports import models as exports
from shared.integration.exports.views import LINK_SECONDS
from shared.integration.imports import models as imports
from shared.integration.imports import service as imports_service
from shared.integration.reconciliations import models as reconciliations
from shared.integration.reconciliations import movements
from shared.integration.reconciliations.context import LINK_SECONDS as RECONCILIATION_SECONDS
from shared.integration.reconciliations.open_work import MAX_TRANSFERS, MAX_WORKS
from shared.integration.webhooks import http_client
from shared.integration.webhooks import models as webhook_models
from shared.integration.webhooks import repository as webhook_repository
from shared.integration.webhooks import rules as webhook_rules
from shared.kernel import fields, list_parameters, queued_work
from shared.kernel.db import claim
from shared.kernel.db.lists.cursor import MAX_PER_PAGE
from shared.kernel.events import feed, outbox
from shared.kernel.spreadsheets import table as spreadsheet
from shared.warehouse.approvals import rules as approvals
from shared.warehouse.documents import models as documents
from tools.pages.data_limits import DATA_LIMITS
from tools.pages.markers import table
from tools.pages.numbers import longest, plain
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


def _longest_cursor() -> str:
    schema = list_parameters.ListParameters.model_json_schema()["properties"]["cursor"]
    return plain(next(one["maxLength"] for one in schema["anyOf"] if "maxLength" in one))


def _throttled(kind: str) -> str:
    """Return the defaults of the parameters that limit all routes, or the token routes."""
    limits = (read()["Parameters"][f"{kind}{one}Limit"] for one in ("Rate", "Burst"))
    return ", ".join(plain(one["Default"]) for one in limits)


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
            [plain(TOTAL_REQUESTS * one) for one in requests],
            _LIMITED,
        ),
        (
            "[slow requests](#slow-requests) of the company at the same time",
            [str(slow_requests.slot_count(one)) for one in _TENANTS.values()],
            _LIMITED,
        ),
        (
            "tokens per minute of a client or user",
            [plain(issuance_limits.per_minute(one)) for one in _TENANTS.values()],
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
    return [plain(plan.limits[limit]) for plan in PLANS.values()]


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
    return table(header, [(name, *map(plain, each)) for name, each in limits.items()])


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
| JSON body | {request._MAX_BODY >> 20} MB ({plain(request._MAX_BODY)} bytes) | 413 `payload_too_large` |
| body of a token route | {MAX_BODY_BYTES // 1024} kB | 413 `payload_too_large` |
| response | {round(envelope._MAX_BODY / 1_000_000)} MB | 413 `payload_too_large` |
| problems in `errors` | {plain(envelope._MAX_PROBLEMS)} | the rest is left out |
| `ids` of a list | {list_parameters.MAX_IDS} | 422 |
| rows of a page, `per_page` | 1 to {MAX_PER_PAGE}; default {_PAGE_SIZE} | treated as {MAX_PER_PAGE} |
| requests of a page of [`/request-log`](../guides/integrating.md#request-log) | 1 to {request_log.MAX_ENTRIES}; default {request_log.MAX_ENTRIES} | treated as {request_log.MAX_ENTRIES} |
| transactions of a page of [`/changes`](../guides/changes.md) | 1 to {changes.MAX_ENTRIES}; default {_CHANGES} | treated as {changes.MAX_ENTRIES} |
| rows of a page, and lines of an order or delivery, of a [tool of agents](../guides/agents.md) | {PER_PAGE}; {order_tools.MAX_LINES} | the next page; a problem of the field |
| movements that an explanation of a difference reads | {stock_tools._MOVEMENTS} that leave and {stock_tools._MOVEMENTS} that arrive | `older_movements` |
| `idempotency_key` of a tool | 1 to 200 printable ASCII characters without spaces | a problem of the field |
| lines of a [reconciliation](../guides/changes.md#reconcile) | {plain(reconciliations.MAX_LINES)} | 422 |
| pairs of a product and a warehouse that a reconciliation with `complete` compares | {plain(reconciliations.MAX_PLACES)}; of a file {plain(reconciliations.MAX_FILE_PLACES)} | 422; send a file, or one for each warehouse |
| rows of a file of a reconciliation | {plain(reconciliations.MAX_ROWS)} | the file is not compared |
| differences that a reconciliation shows | {plain(reconciliations.MAX_DIFFERENCES)}, the largest, each with {reconciliations.MAX_SHOWN} movements or works | the others are in a workbook |
| movements that a reconciliation looks at | {plain(movements.MAX_OF_PRODUCT)} of a product, {plain(movements.MAX_MOVEMENTS)} in all | the difference is not `explained` |
| transactions before its position that a reconciliation looks at, if others were late | {plain(movements.MAX_ENTRIES)} | differences whose movements may precede the position are not `explained` |
| unacknowledged works that a reconciliation looks at | the newest {MAX_WORKS} of each kind; transfers without answer among the newest {plain(MAX_TRANSFERS)} executed ones | |
| lists of an [export](../guides/changes.md#snapshots) | 1 to {exports.MAX_OBJECTS} | 422 |
| exports of a company in progress | 1 | 409 `conflict` |
| `cursor` | {_longest_cursor()} characters | 422 |
| a filter, `search` | {longest(fields.Term)} characters | 422 |
| Idempotency-Key | 1 to 255 printable ASCII characters | 400 `bad_request` |
| a response is repeated under its Idempotency-Key for | {claim.WINDOW_SECONDS // _HOUR} hours | the request runs again |
| an [approval](../guides/approvals.md) is open for | {approvals.LIFETIME_MS // 3_600_000} hours | a repeated request gets another one |
| body that an approval shows | {plain(approvals.MAX_BODY)} bytes of JSON | null |
| access token | valid for {tokens.LIFETIME // _HOUR} hour | 401 `unauthenticated` |
| session of a user | {sessions.LIFETIME // _DAY} days after the last use, {sessions.LONGEST // _DAY} days after the sign-in; of a user with `users.manage` {sessions.LONGEST_OF_ADMINISTRATOR // _HOUR} hours after it | `invalid_grant` |
"""


def _imports() -> str:
    return f"""\
| What | Limit | Beyond it |
|---|---|---|
| file in a request | {imports.megabytes(imports.MAX_REQUEST_FILE_BYTES)} | 413 `import_refused`; from about 4.7 MB on, which API Gateway refuses, 413 `payload_too_large` |
| file through a form or a drop | {imports.megabytes(imports.MAX_FILE_BYTES)} | S3 refuses the upload with 400 `EntityTooLarge`; a drop is rejected |
| validity of an upload form | {imports_service.FORM_SECONDS // _MINUTE} minutes | the upload is refused |
| columns · characters of a cell | {spreadsheet.MAX_COLUMNS} · {plain(spreadsheet.MAX_CELL_CHARACTERS)} | the import is `invalid` |
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
| characters in a cell | {plain(spreadsheet.MAX_CELL_CHARACTERS)} |
| lines of a document | {plain(documents.MAX_LINES)} |
| size of a file | {imports.megabytes(imports.MAX_REQUEST_FILE_BYTES)} in a request, {imports.megabytes(imports.MAX_FILE_BYTES)} otherwise |
| retention of files and reports | {_kept_days("ImportBucket", "ImportWorkBucket")} days |
"""


LIMITS: Mapping[str, Callable[[], str]] = {
    "limits of plans": _plans,
    "requests per minute": _requests_per_minute,
    "request costs": _request_costs,
    "limits of the deployment": _deployment,
    "limits of requests": _requests,
    "limits of imports": _imports,
    "limits of import files": _import_files,
    "limits of webhooks": _webhooks,
    "retention": _retention,
    "limits of sign-ins": _sign_ins,
    "limits on failed attempts": _attempts,
    "limits on codes": _codes,
    "limits on issued tokens": _issued_tokens,
    **DATA_LIMITS,
}
"""Name of a part of a page → the function that returns it."""
