"""What receivers of webhooks copy: three ways to verify a delivery."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
import stripe
from standardwebhooks.webhooks import WebhookVerificationError

from examples.webhooks import verify_with_standardwebhooks, verify_with_stripe
from examples.webhooks.verify import BadSignatureError, verify
from shared.integration.webhooks.signatures import new_secret, signature_headers
from tests.deliveries import Headers, encoded, event_body, signature

SECRET, OLD = new_secret(), new_secret()
OWN = "chosen-by-the-receiver"
NOW = 1_700_000_000

type Verify = Callable[[str, Headers, bytes], Any]


BODY = encoded(event_body())


def by_hand(secret: str, headers: Headers, body: bytes) -> Any:
    return verify(secret, headers.get("X-Service-Signature"), body)


def with_stripe(secret: str, headers: Headers, body: bytes) -> Any:
    return verify_with_stripe.verify(secret, headers.get("X-Service-Signature"), body)


def with_standardwebhooks(secret: str, headers: Headers, body: bytes) -> Any:
    return verify_with_standardwebhooks.verify(secret, headers, body)


WAYS: list[tuple[Verify, type[Exception]]] = [
    (by_hand, BadSignatureError),
    (with_stripe, stripe.SignatureVerificationError),
    (with_standardwebhooks, WebhookVerificationError),
]
each_way = pytest.mark.parametrize(("way", "refusal"), WAYS)


@each_way
def test_a_delivery_is_verified(way: Verify, refusal: type[Exception]) -> None:
    assert way(SECRET, signature(BODY, SECRET), BODY) == event_body()
    assert way(SECRET, signature(BODY, SECRET, OLD), BODY) == event_body()
    assert way(OLD, signature(BODY, SECRET, OLD), BODY) == event_body()
    with pytest.raises(refusal):
        way(OLD, signature(BODY, SECRET), BODY)


@pytest.mark.parametrize("way", [by_hand, with_stripe])
def test_a_secret_of_ones_own_verifies(way: Verify) -> None:
    assert way(OWN, signature(BODY, OWN), BODY) == event_body()


@each_way
@pytest.mark.parametrize(
    "headers",
    [
        lambda: signature(BODY + b" ", SECRET),
        lambda: signature(BODY.replace(b"12", b"13"), SECRET),
        lambda: signature(BODY, OLD),
        lambda: signature(BODY, SECRET, age=310),
        Headers,
    ],
    ids=["shorter", "changed", "another secret", "too old", "unsigned"],
)
def test_what_is_not_right_is_refused(
    headers: Callable[[], Headers], way: Verify, refusal: type[Exception]
) -> None:
    with pytest.raises(refusal):
        way(SECRET, headers(), BODY)


@each_way
@pytest.mark.parametrize("value", ["", ",", "v1", "v1,", "=", "t=1", "t=é,v1=é", "v1,é", "t=9e9"])
def test_headers_that_say_nothing_are_refused(
    value: str, way: Verify, refusal: type[Exception]
) -> None:
    headers = dict.fromkeys(signature(BODY, SECRET), value)
    for name in headers:
        for mixed in (headers, signature(BODY, SECRET) | {name: value}):
            if name.startswith("webhook-") == (way is with_standardwebhooks):
                with pytest.raises(refusal):
                    way(SECRET, mixed, BODY)


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (None, "no header"),
        ("v1=00", "must look like"),
        (f"t={NOW}", "must look like"),
        (f"t={NOW},v0=00", "must look like"),
        (f"t={NOW},t={NOW},v1=00", "must look like"),
        ("t=٣,v1=00", "no Unix time"),
        ("t=-1,v1=00", "no Unix time"),
        (f"t={'9' * 13},v1=00", "no Unix time"),
        ("t=,v1=00", "no Unix time"),
        (f"t={NOW}.0,v1=00", "no Unix time"),
        (f"t={NOW},v1=", "neither this body nor this secret"),
        (f"t={NOW},v1=00", "neither this body nor this secret"),
        (f"t={NOW},v1=é\udc80", "neither this body nor this secret"),
    ],
)
def test_a_refusal_says_why(header: str | None, reason: str) -> None:
    with pytest.raises(BadSignatureError, match=reason):
        verify(SECRET, header, BODY, now=NOW)


def test_a_signature_of_other_letters_is_refused_by_stripes_library_too() -> None:
    header = f"t={int(time.time())},v1=é"
    with pytest.raises(stripe.SignatureVerificationError):
        verify_with_stripe.verify(SECRET, header, BODY)


def test_spaces_and_schemes_to_come_do_not_matter() -> None:
    header = signature_headers("evt_1", BODY, [OLD, SECRET], NOW)["X-Service-Signature"]
    assert verify(SECRET, header.replace(",", " , "), BODY, now=NOW) == event_body()
    assert verify(SECRET, f"{header},v2=new", BODY, now=NOW) == event_body()


def test_a_known_signature() -> None:
    body = '{"id": "evt_1", "tenant": "açme"}'.encode()
    made_by_openssl = "e52a8b006c31339eb65a0481547a027a18b4bc4d1eede64edb4de3abc5490007"
    header = f"t={NOW},v1={made_by_openssl}"
    assert verify("whsec_c2VjcmV0", header, body, now=NOW) == json.loads(body)
    upper = f"t={NOW},v1={made_by_openssl.upper()}"
    for forged in (upper, header[:-1], header.replace(f"{NOW}", f"{NOW - 1}")):
        with pytest.raises(BadSignatureError):
            verify("whsec_c2VjcmV0", forged, body, now=NOW)
    with pytest.raises(BadSignatureError):
        verify("c2VjcmV0", header, body, now=NOW)


@pytest.mark.parametrize("off", [-300, 300])
def test_clocks_may_be_five_minutes_apart(off: int) -> None:
    header = signature_headers("evt_1", BODY, [SECRET], NOW)["X-Service-Signature"]
    assert verify(SECRET, header, BODY, now=NOW + off) == event_body()
    with pytest.raises(BadSignatureError, match="too old, or one of the clocks"):
        verify(SECRET, header, BODY, now=NOW + off + (off > 0) - (off < 0))
