"""The trace of the caller (W3C Trace Context): in log lines, answers and deliveries of events."""

import pytest

from tests.gateway import Erp
from tests.log_lines import captured
from tests.stack import Stack
from tests.webhook_scenario import open_webhook_scenario

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
PRODUCT = {"item_code": "P-1", "name": "A product", "unit": "pcs"}


def test_the_trace_is_in_the_answer_the_log_line_and_the_delivery(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_webhook_scenario(stack, monkeypatch) as webhooks, captured() as written:
        webhooks.subscribe("product.created")
        answer = webhooks.erp.post("/products", PRODUCT, headers={"Traceparent": TRACE})
        webhooks.create_product(2)
        webhooks.run_until_idle()
    assert answer.headers["traceparent"] == TRACE
    assert [line.get("traceparent") for line in written.lines("answered")] == [None, TRACE, None]
    sent = {one.event["data"]["attributes"]["item_code"]: one for one in webhooks.requests}
    assert sent["P-1"].headers["traceparent"] == TRACE
    assert "traceparent" not in sent["P-2"].headers


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        (f"cc{TRACE[2:]}-more", TRACE),
        (f"{TRACE}-more", None),
        (f"ff{TRACE[2:]}", None),
        (TRACE.upper(), None),
        (TRACE[:-1], None),
        (f"{TRACE[:-1]}é", None),
        (f"00-{'0' * 32}-{'1' * 16}-01", None),
        (f"00-{'1' * 32}-{'0' * 16}-01", None),
        ("", None),
    ],
)
def test_a_header_in_another_form_is_ignored(erp: Erp, sent: str, read: str | None) -> None:
    answer = erp.get("/products", headers={"traceparent": sent})
    assert answer.status == 200
    assert answer.headers.get("traceparent") == read
