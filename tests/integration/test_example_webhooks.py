"""The three examples that verify a delivery."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
import stripe
from standardwebhooks.webhooks import WebhookVerificationError
from stowage_client import BadSignatureError, verify_delivery

from examples.webhooks import verify_with_standardwebhooks, verify_with_stripe
from shared.integration.webhooks.signatures import new_secret, signature_headers
from tests.cases import each_case
from tests.deliveries import Headers, encoded, event_body, signature

SECRET, OLD = new_secret(), new_secret()
CHOSEN = "chosen-by-the-receiver"
NOW = 1_700_000_000

type Verify = Callable[[str, Headers, bytes], Any]


BODY = encoded(event_body())


def standard_library(secret: str, headers: Headers, body: bytes) -> Any:
    return verify_delivery(secret, headers.get("X-Service-Signature"), body)


def stripe_library(secret: str, headers: Headers, body: bytes) -> Any:
    return verify_with_stripe.verify(secret, headers.get("X-Service-Signature"), body)


def standardwebhooks_library(secret: str, headers: Headers, body: bytes) -> Any:
    return verify_with_standardwebhooks.verify(secret, headers, body)


VERIFIERS: list[tuple[Verify, type[Exception]]] = [
    (standard_library, BadSignatureError),
    (stripe_library, stripe.SignatureVerificationError),
    (standardwebhooks_library, WebhookVerificationError),
]
each_verifier = pytest.mark.parametrize(("verifier", "error"), VERIFIERS)


@each_verifier
def test_a_delivery_is_verified(verifier: Verify, error: type[Exception]) -> None:
    assert verifier(SECRET, signature(BODY, SECRET), BODY) == event_body()
    assert verifier(SECRET, signature(BODY, SECRET, OLD), BODY) == event_body()
    assert verifier(OLD, signature(BODY, SECRET, OLD), BODY) == event_body()
    with pytest.raises(error):
        verifier(OLD, signature(BODY, SECRET), BODY)


@pytest.mark.parametrize("verifier", [standard_library, stripe_library])
def test_a_chosen_secret_verifies(verifier: Verify) -> None:
    assert verifier(CHOSEN, signature(BODY, CHOSEN), BODY) == event_body()


@each_verifier
@each_case(
    "headers",
    [
        lambda: signature(BODY + b" ", SECRET),
        lambda: signature(BODY.replace(b"12", b"13"), SECRET),
        lambda: signature(BODY, OLD),
        lambda: signature(BODY, SECRET, age=310),
        Headers,
    ],
    named=["other body", "changed", "another secret", "too old", "unsigned"],
)
def test_an_invalid_delivery_is_rejected(
    headers: Callable[[], Headers], verifier: Verify, error: type[Exception]
) -> None:
    with pytest.raises(error):
        verifier(SECRET, headers(), BODY)


@each_verifier
@each_case("value", ["", ",", "v1", "v1,", "=", "t=1", "t=é,v1=é", "v1,é", "t=9e9"])
def test_malformed_headers_are_rejected(
    value: str, verifier: Verify, error: type[Exception]
) -> None:
    headers = dict.fromkeys(signature(BODY, SECRET), value)
    for name in headers:
        for mixed in (headers, signature(BODY, SECRET) | {name: value}):
            if name.startswith("webhook-") == (verifier is standardwebhooks_library):
                with pytest.raises(error):
                    verifier(SECRET, mixed, BODY)


@each_case(
    ("header", "reason"),
    [
        (None, "header is missing"),
        ("v1=00", "must have the form"),
        (f"t={NOW}", "must have the form"),
        (f"t={NOW},v0=00", "must have the form"),
        (f"t={NOW},t={NOW},v1=00", "must have the form"),
        ("t=٣,v1=00", "not a Unix time"),
        ("t=-1,v1=00", "not a Unix time"),
        (f"t={'9' * 13},v1=00", "not a Unix time"),
        ("t=,v1=00", "not a Unix time"),
        (f"t={NOW}.0,v1=00", "not a Unix time"),
        (f"t={NOW},v1=", "does not match the body and the secret"),
        (f"t={NOW},v1=00", "does not match the body and the secret"),
        (f"t={NOW},v1=é\udc80", "does not match the body and the secret"),
    ],
)
def test_the_error_says_why(header: str | None, reason: str) -> None:
    with pytest.raises(BadSignatureError, match=reason):
        verify_delivery(SECRET, header, BODY, now=NOW)


def test_a_non_ascii_signature_is_rejected_by_the_stripe_library() -> None:
    header = f"t={int(time.time())},v1=é"
    with pytest.raises(stripe.SignatureVerificationError):
        verify_with_stripe.verify(SECRET, header, BODY)


def test_spaces_and_unknown_schemes_are_ignored() -> None:
    header = signature_headers("evt_1", BODY, [OLD, SECRET], NOW)["X-Service-Signature"]
    assert verify_delivery(SECRET, header.replace(",", " , "), BODY, now=NOW) == event_body()
    assert verify_delivery(SECRET, f"{header},v2=new", BODY, now=NOW) == event_body()


def test_a_signature_of_openssl_verifies() -> None:
    body = '{"id": "evt_1", "tenant": "açme"}'.encode()
    openssl_signature = "e52a8b006c31339eb65a0481547a027a18b4bc4d1eede64edb4de3abc5490007"
    header = f"t={NOW},v1={openssl_signature}"
    assert verify_delivery("whsec_c2VjcmV0", header, body, now=NOW) == json.loads(body)
    upper = f"t={NOW},v1={openssl_signature.upper()}"
    for forged in (upper, header[:-1], header.replace(f"{NOW}", f"{NOW - 1}")):
        with pytest.raises(BadSignatureError):
            verify_delivery("whsec_c2VjcmV0", forged, body, now=NOW)
    with pytest.raises(BadSignatureError):
        verify_delivery("c2VjcmV0", header, body, now=NOW)


@pytest.mark.parametrize("difference", [-300, 300])
def test_clocks_may_differ_by_five_minutes(difference: int) -> None:
    header = signature_headers("evt_1", BODY, [SECRET], NOW)["X-Service-Signature"]
    assert verify_delivery(SECRET, header, BODY, now=NOW + difference) == event_body()
    with pytest.raises(BadSignatureError, match="t differs by 301 s, at most 300 s"):
        verify_delivery(
            SECRET, header, BODY, now=NOW + difference + (difference > 0) - (difference < 0)
        )
