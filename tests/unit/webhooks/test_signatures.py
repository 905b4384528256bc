"""Signatures of deliveries, verified with the public libraries of both schemes."""

import base64
import json
import time
from collections.abc import Callable, Sequence

import pytest
import stripe
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from shared.integration.webhooks.signatures import new_secret, signature_headers

EVENT = "evt_018bcfe568000123456789abcdef01234567"
BODY = json.dumps({"id": EVENT, "tenant": "açme"}, ensure_ascii=False).encode()
CHOSEN = "a secret of the receiver's own"
KNOWN = "whsec_" + base64.b64encode(bytes(range(32))).decode()
AT = 1_700_000_000

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
bodies = json_values.map(lambda value: json.dumps(value, ensure_ascii=False))
chosen_secrets = st.text(
    st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=16, max_size=128
)
generated_secrets = st.binary(min_size=24, max_size=64).map(
    lambda key: "whsec_" + base64.b64encode(key).decode()
)

type Verify = Callable[[str, dict[str, str], bytes], None]


def verify_as_stripe(secret: str, headers: dict[str, str], body: bytes) -> None:
    header = headers["X-Service-Signature"]
    assert stripe.WebhookSignature.verify_header(body, header, secret, tolerance=300)


def verify_as_standard(secret: str, headers: dict[str, str], body: bytes) -> None:
    Webhook(secret).verify(body, headers, json_parse=False)


VERIFICATION_ERRORS = (stripe.SignatureVerificationError, WebhookVerificationError)


def signed(*secrets: str, body: bytes = BODY, age: int = 0) -> dict[str, str]:
    """Return the headers of a delivery that was sent `age` seconds ago."""
    return signature_headers(EVENT, body, secrets, int(time.time()) - age)


@pytest.fixture(params=[verify_as_stripe, verify_as_standard])
def verify(request: pytest.FixtureRequest) -> Verify:
    """The verification of each scheme."""
    verify: Verify = request.param
    return verify


def test_signatures_match_those_of_openssl() -> None:
    headers = signature_headers(EVENT, BODY, [KNOWN, CHOSEN], AT)
    # computed with `openssl dgst -sha256 -hmac` and `-mac hmac -macopt hexkey:`
    assert headers == {
        "X-Service-Signature": "t=1700000000,"
        "v1=64b6282a67e06ce9a3addfdf811c5c971290670272e40d08a67a20f2ac568ee0,"
        "v1=52a60dd4fbdda3de4bcf0e05907e1d48971b5e05d0c0ef3c0d2f767fdf1fce72",
        "webhook-id": EVENT,
        "webhook-timestamp": "1700000000",
        "webhook-signature": "v1,K0Rc/ePIr+Mr25epWlTJUO+wGyVzt0r7lFvuCtnJFBo=",
    }


def test_a_new_secret_is_random_and_serves_both_schemes() -> None:
    first, second = new_secret(), new_secret()
    assert first != second
    assert len(base64.b64decode(first.removeprefix("whsec_"), validate=True)) == 32
    headers = signed(first)
    verify_as_stripe(first, headers, BODY)
    verify_as_standard(first, headers, BODY)


def test_during_a_rotation_both_secrets_verify(verify: Verify) -> None:
    old, new = new_secret(), new_secret()
    headers = signed(new, old)
    verify(new, headers, BODY)
    verify(old, headers, BODY)


def test_after_a_rotation_the_old_secret_is_rejected(verify: Verify) -> None:
    old, new = new_secret(), new_secret()
    headers = signed(new)
    verify(new, headers, BODY)
    with pytest.raises(VERIFICATION_ERRORS):
        verify(old, headers, BODY)


def test_each_changed_byte_is_rejected(verify: Verify) -> None:
    secret = new_secret()
    headers = signed(secret)
    for at in range(len(BODY)):
        changed = bytearray(BODY)
        changed[at] ^= 1
        with pytest.raises((*VERIFICATION_ERRORS, UnicodeDecodeError)):
            verify(secret, headers, bytes(changed))
    verify(secret, headers, BODY)


def test_a_delivery_older_than_five_minutes_is_rejected(verify: Verify) -> None:
    secret = new_secret()
    verify(secret, signed(secret, age=290), BODY)
    with pytest.raises(VERIFICATION_ERRORS):
        verify(secret, signed(secret, age=310), BODY)


def test_a_changed_time_is_rejected(verify: Verify) -> None:
    secret = new_secret()
    now = int(time.time())
    headers = signature_headers(EVENT, BODY, [secret], now - 310)
    moved = {name: value.replace(str(now - 310), str(now)) for name, value in headers.items()}
    assert moved != headers
    with pytest.raises(VERIFICATION_ERRORS):
        verify(secret, moved, BODY)


def test_a_changed_id_is_rejected_by_standard_webhooks() -> None:
    secret = new_secret()
    with pytest.raises(WebhookVerificationError):
        verify_as_standard(secret, signed(secret) | {"webhook-id": "evt_another"}, BODY)


@pytest.mark.parametrize(
    "secret",
    [
        CHOSEN,
        "whsec_" + base64.b64encode(bytes(23)).decode(),
        "whsec_" + base64.b64encode(bytes(65)).decode(),
        "whsec_" + base64.b64encode(bytes(32)).decode().rstrip("="),
        "whsec_" + base64.urlsafe_b64encode(b"\xff" * 32).decode(),
        "whsec_" + base64.b64encode(bytes(32)).decode() + "\n",
        "whsec_ñandú, twenty-four bytes",
        base64.b64encode(bytes(32)).decode(),
        KNOWN.upper(),
    ],
)
def test_a_secret_of_another_form_signs_only_x_service_signature(secret: str) -> None:
    headers = signed(secret)
    assert headers.keys() == {"X-Service-Signature"}
    verify_as_stripe(secret, headers, BODY)


@pytest.mark.parametrize("secrets", [(CHOSEN, KNOWN), (KNOWN, CHOSEN)])
def test_rotation_between_secrets_of_different_forms(secrets: Sequence[str]) -> None:
    headers = signed(*secrets)
    verify_as_stripe(CHOSEN, headers, BODY)
    verify_as_stripe(KNOWN, headers, BODY)
    verify_as_standard(KNOWN, headers, BODY)
    assert " " not in headers["webhook-signature"]


@given(body=bodies, new=chosen_secrets | generated_secrets, old=chosen_secrets | generated_secrets)
def test_any_body_and_secret_is_verified_by_the_stripe_library(
    body: str, new: str, old: str
) -> None:
    headers = signed(new, old, body=body.encode())
    for secret in (new, old):
        verify_as_stripe(secret, headers, body.encode())


@given(body=bodies, new=generated_secrets, old=generated_secrets)
def test_any_body_is_verified_by_the_standard_webhooks_library(
    body: str, new: str, old: str
) -> None:
    headers = signed(new, old, body=body.encode())
    for secret in (new, old):
        verify_as_standard(secret, headers, body.encode())


@given(
    body=st.binary(), secrets=st.lists(chosen_secrets | generated_secrets, min_size=1, max_size=2)
)
def test_headers_are_printable_ascii_for_any_body(body: bytes, secrets: list[str]) -> None:
    headers = signature_headers(EVENT, body, secrets, AT)
    for value in headers.values():
        assert value.isascii()
        assert value.isprintable()
    assert headers["X-Service-Signature"].count(",v1=") == len(secrets)
