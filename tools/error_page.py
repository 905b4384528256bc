"""Generate docs/reference/errors.md, the page to which `doc_url` of every error links."""

import sys
from dataclasses import dataclass

from shared.kernel.errors import CODES
from tools.generated import write_or_check

_HEAD = """---
permalink: /errors
---

# Errors

Every error has the same body. `error.code` says what happened, `errors` lists every problem of the
request at once:

```json
{
  "error": {
    "code": "validation_failed",
    "message": "lines.0.qty: must be more than 0 (and 1 more)",
    "doc_url": "https://docs.stowage.example/errors#validation_failed",
    "request_id": "0d4b5a1e-6f0c-4c8e-9a57-0d8f2f6f5b3e",
    "field": "lines.0.qty"
  },
  "errors": [
    {"field": "lines.0.qty", "message": "must be more than 0"},
    {"field": "lines.1.item_code", "message": "no product has the code X-1"}
  ],
  "message": "lines.0.qty: must be more than 0 (and 1 more)"
}
```

- `field` is the path of a value in the body or the query; positions in lists count from 0.
- Program against `error.code` and the status, not against messages: messages may be reworded.
- Quote `request_id` (also the header `X-Request-Id`) when you ask for help.
- Once a request with an Idempotency-Key has reached the operation, its error is stored like a
  success, and a repetition with the same key gets the same error for 24 hours. Errors marked "not
  stored" are the exception: correct the request or wait, then use the same key again.

| Code | Status | Meaning |
|---|---|---|
"""


@dataclass(frozen=True, slots=True)
class Advice:
    """What the page says about a code: why it happens, an example, and what to do."""

    cause: str
    example: str
    remedy: str


ADVICE = {
    "bad_request": Advice(
        "The body is not JSON, is not a JSON object, is not UTF-8, has another content type, or a "
        "header is malformed.",
        "The body is not valid JSON: Expecting ',' delimiter: line 1 column 24 (char 23)",
        "Send `Content-Type: application/json` and a JSON object; check the header that the "
        "message names.",
    ),
    "idempotency_key_required": Advice(
        "`POST /entry-documents` and `POST /exit-documents` require the header Idempotency-Key.",
        "This route requires the header Idempotency-Key.",
        "Generate a UUID v4 for each business operation, store it with the operation, and send the "
        "same key on every retry.",
    ),
    "unauthenticated": Advice(
        "The header Authorization is missing, the token has expired (after one hour), it was "
        "revoked, or its client or user was. The message says which: no token was sent, it has "
        "expired, it was revoked, or it is unknown.",
        "The access token has expired; get a new one.",
        "Request a new token at `POST /oauth/token` and repeat the request once.",
    ),
    "feature_not_in_plan": Advice(
        "The company's plan does not include the feature that `error.feature` names, such as "
        "`webhooks.enabled`.",
        "The plan does not include webhooks.enabled.",
        "Change the plan at `error.upgrade_url`, or do without the feature.",
    ),
    "limit_reached": Advice(
        "The plan allows no more resources of this kind, such as integration clients. "
        "`error.offer` holds the limit, the number in use and the next plan.",
        "The plan essentials allows 2 integration clients; 2 are in use.",
        "Remove what is no longer used, or change to the plan in `error.offer.next_plan`.",
    ),
    "tenant_suspended": Advice(
        "The company's account is suspended because of unpaid bills. With the header Retry-After, "
        "the company is being moved to another server instead, and no bill is unpaid.",
        "This account is suspended for billing.",
        "Pay. Requests succeed again within 10 seconds of the reactivation; nothing is lost. With "
        "Retry-After, wait and repeat the request with the same Idempotency-Key: a move takes "
        "minutes, up to hours for much data, and ends with `tenant_moved`, which names the new "
        "address, or with normal service.",
    ),
    "tenant_cancelled": Advice(
        "The company's account was cancelled.",
        "This account is cancelled.",
        "Contact the operator of the service.",
    ),
    "forbidden": Advice(
        "The user's roles lack the permission that the message names. Integration clients get it "
        "where only users may act, such as deciding an approval or changing one's own password. "
        "With the message `The request is not allowed.`, a web application firewall blocked the "
        "request: too many requests from one IP address, or an address of bad reputation.",
        "This needs the permission inventory.manage.",
        "An administrator gives the user a role with this permission; then request a new token. "
        "If the firewall blocked the request, wait five minutes and send less.",
    ),
    "missing_scope": Advice(
        "The integration client's token lacks the scope that `error.scope` names. A token has only "
        "the scopes that were requested.",
        "The token lacks the scope products:write.",
        "Request a token with this scope. If the client itself lacks it, an administrator adds it.",
    ),
    "client_not_allowed": Advice(
        "The token comes from a mobile application, or from a user with two-step verification who "
        "signed in without a code. Such tokens can only read the list of products.",
        "This token allows only GET /products.",
        "Use an integration client, or sign in with the second factor.",
    ),
    "not_found": Advice(
        "No resource of this company has the id, or no route has the path. Ids of other companies "
        "look the same as ids that do not exist.",
        "Product 4711 does not exist.",
        "Check the id, the path and the base address. Paths begin with `/api/v1`.",
    ),
    "transfer_orders_disabled": Advice(
        "The module transfer orders is disabled, or a transfer order is created with fewer than "
        "two warehouses.",
        "Transfer orders are disabled.",
        "Enable it in the settings (`modules.transfer_orders`); at least two warehouses must "
        "exist.",
    ),
    "bulk_import_disabled": Advice(
        "The module bulk import is disabled.",
        "Bulk import is disabled.",
        "Enable it in the settings (`modules.bulk_import`).",
    ),
    "method_not_allowed": Advice(
        "The path exists, but not with this method.",
        "This route does not allow DELETE; allowed: GET, POST.",
        "Use a method that the header `Allow` lists.",
    ),
    "conflict": Advice(
        "The current state of the resource does not allow the operation: it comes too early (a "
        "receipt is not started yet), a product is on open documents, stock is not available.",
        "Product BRICK is on open documents or counts and cannot be deleted.",
        "Read the resource again and decide. Repeating the same request gives the same error until "
        "the state changes.",
    ),
    "duplicate_in_flight": Advice(
        "Another request with the same Idempotency-Key has not ended yet, typically a retry that "
        "was sent too early. Or its function was killed: then the key is free again 5 seconds "
        "after its last sign of life.",
        "The first request with this Idempotency-Key is still being processed.",
        "Wait for the seconds in `Retry-After` and repeat the request with the same key. You get "
        "the response of the first request.",
    ),
    "approval_required": Advice(
        "A rule requires the approval of a supervisor, for example when more goods arrive than the "
        "tolerance allows.",
        "30 of BRICK would be received, 24 ordered; more than 24 needs the approval of a user with "
        "approvals.grant.",
        "A user with the permission `approvals.grant` grants the approval that `error.approval_id` "
        "names; then repeat the same request within 24 hours of the first. It passes once "
        "([approvals](../guides/approvals.md)). For receipt lines, such a user may also send the "
        'request with `"approve": true`.',
    ),
    "order_in_wave": Advice(
        "A picking of the request already belongs to another active wave.",
        "PKG-12 is in WV-3; a picking is in one active wave at most.",
        "Leave this picking out, or cancel the other wave first.",
    ),
    "stale_state": Advice(
        "The resource changed since it was read: `If-Match` names an older entity tag, or the "
        "operation comes too late, because the resource is already beyond the state that it needs; "
        "the message names both states. Only the error of a state is stored under an "
        "Idempotency-Key.",
        "The resource changed since it was read.",
        "Read the resource again, apply your change to the new state, and repeat the request; "
        "after an error of the state with a new key.",
    ),
    "tenant_moved": Advice(
        "The company moved to a server of its own.",
        "This company now runs on its own server. Its address is https://wms.example.com/api/v1.",
        "Change the base address of your integration to the address in the message.",
    ),
    "gone": Advice(
        "The resource existed and was deleted or revoked.",
        "Product 12 was deleted.",
        "Remove the id from your system; it is never used again.",
    ),
    "payload_too_large": Advice(
        "A JSON body is larger than 1 MB, a file is larger than the gateway accepts, or a response "
        "would exceed 6 MB. A packing slip of more than [150 000 characters](limits.md) comes in "
        "parts.",
        "The body has 1200000 bytes; at most 1048576 are accepted.",
        "Split the request, request fewer rows with `per_page`, request the parts of a slip with "
        "`part`, or upload large files through `POST /imports/uploads`.",
    ),
    "validation_failed": Advice(
        "One or more values of the body or the query are invalid. `errors` lists all of them, "
        "`error.field` names the first.",
        "qty: must be more than 0 (and 2 more)",
        "Correct every field in `errors` and send the request again, with the same "
        "Idempotency-Key if you like.",
    ),
    "idempotency_key_reused": Advice(
        "The Idempotency-Key was used before with another method, path or body.",
        "This Idempotency-Key was used for POST /products with another body at "
        "2026-03-01T09:30:00.000Z.",
        "Use a new key for each business operation. If the operation is the same, send exactly the "
        "same body.",
    ),
    "rule_blocked": Advice(
        "The request is valid, but a rule of the warehouse forbids it. For example, an order names "
        "a product that is not kept in stock, or, with the setting `oversell` at `refuse`, more "
        "than can be sold; or more arrives at a position than fits, with `capacity` at `enforce`.",
        "lines.0.item_code: product SETUP is not kept in stock",
        "Correct what `errors` names, or change the master data that the rule depends on.",
    ),
    "import_refused": Advice(
        "The file cannot be read (format: 422, size: 413), or the import cannot be committed in "
        "its state (409). Errors with 409 and 413 are stored under an Idempotency-Key.",
        "Import 12 cannot be committed: it is already committed.",
        "Correct the file and upload it again as a new import; for 409 read the import again.",
    ),
    "rate_limited": Advice(
        "The credential sent more requests in this minute than its plan allows, of which "
        "[slow ones count several times](limits.md#what-a-request-costs), or the company has "
        "[too many slow requests](limits.md#slow-requests) at the same time; the message says "
        "which. Without the `RateLimit-` headers, all callers together sent more "
        "requests to this route than the deployment accepts.",
        "The limit of 300 requests per minute is reached; wait the seconds in Retry-After.",
        "Wait for the seconds in `Retry-After`, then go on more slowly; `RateLimit-Remaining` says "
        "how many requests are left.",
    ),
    "internal_error": Advice(
        "The service has a defect or its configuration is wrong.",
        "The service failed.",
        "Repeat the request with the same Idempotency-Key. If the error persists, report the "
        "`request_id`.",
    ),
    "service_unavailable": Advice(
        "The service is busy: many requests changed the same resource at the same time, a "
        "service of AWS throttled or failed, or the function could not be started or did not "
        "complete.",
        "The service is busy; try again.",
        "Wait for the seconds in `Retry-After` and repeat the request with the same "
        "Idempotency-Key.",
    ),
}
"""Every code of `CODES` → what the page says about it."""


def page() -> str:
    """Return the text of the page."""
    rows = [
        f"| [`{name}`](#{name}) | {code.status} | {code.meaning} |\n"
        for name, code in CODES.items()
    ]
    return _HEAD + "".join(rows) + "".join(map(_section, CODES))


def _section(name: str) -> str:
    code, advice = CODES[name], ADVICE[name]
    stored = "" if code.is_stored else " Not stored under an Idempotency-Key."
    return f"""
<a id="{name}"></a>
## {name}

HTTP status {code.status}.{stored}

- **Cause:** {advice.cause}
- **Example:** `{advice.example}`
- **What to do:** {advice.remedy}
"""


if __name__ == "__main__":
    sys.exit(write_or_check("error_page", lambda: {"docs/reference/errors.md": page()}))
