"""Write the entry of each request in the request log of a company that has it."""

from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotInTime
from contextlib import suppress
from contextvars import copy_context

from shared.http.call import ApiCall
from shared.http.envelope import HttpResponse, path_of, request_id_of
from shared.identity.request_log.models import MAX_FIELD, MAX_FIELDS, MAX_PATH, LoggedRequest
from shared.identity.request_log.repository import put_entry
from shared.kernel.clock import instant, now_ms
from shared.kernel.db.store import Store
from shared.kernel.json_text import loads
from shared.kernel.observability import count, logger, mask_secrets

WAIT_SECONDS = 0.02
"""How long a response waits for its entry. One that takes longer is written while the environment
serves its next request, or is lost with it."""

_writer = ThreadPoolExecutor(1, thread_name_prefix="request-log")
"""A thread of its own, so that no request waits for slow writes of entries."""


def log_request(store: Store, call: ApiCall, response: HttpResponse, milliseconds: float) -> None:
    """Write the entry of a request; no failure reaches the caller."""
    at_ms = now_ms()
    writing = _writer.submit(copy_context().run, _write, store, call, response, milliseconds, at_ms)
    with suppress(NotInTime):
        writing.result(WAIT_SECONDS)


def entry_of(
    call: ApiCall, response: HttpResponse, milliseconds: float, at_ms: int
) -> LoggedRequest:
    """Return the entry of a request, which has less than 1 KB."""
    key = call.headers.get("idempotency-key") or ""
    return LoggedRequest(
        request_id=request_id_of(call.event),
        at=instant(at_ms),
        method=call.event["httpMethod"],
        path=mask_secrets(path_of(call.event))[:MAX_PATH],
        status=response.status,
        code=response.error_code,
        fields=_fields(response),
        duration_ms=round(milliseconds),
        idempotency_key=mask_secrets(key)[:255] or None,
        replayed="Idempotent-Replayed" in response.headers,
    )


def _fields(response: HttpResponse) -> list[str]:
    if response.error_code is None:
        return []
    problems = loads(response.body).get("errors") or []
    return [problem["field"][:MAX_FIELD] for problem in problems[:MAX_FIELDS]]


def _write(
    store: Store, call: ApiCall, response: HttpResponse, milliseconds: float, at_ms: int
) -> None:
    try:
        entry = entry_of(call, response, milliseconds, at_ms)
        put_entry(store, call.caller.client_id or "", entry)
    except Exception:  # noqa: BLE001 - the request has been answered
        logger.warning("entry of the request log not written", exc_info=True)
        count("request_log_not_written")
