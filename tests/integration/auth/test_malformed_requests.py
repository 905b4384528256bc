"""Malformed requests to the OAuth endpoints lead to specific errors, never to a 500."""

import base64
import json
import sys
from pathlib import Path
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from operations.api_clients import create_client
from shared.identity.auth import attempt_limits
from shared.identity.users import passwords
from tests.cases import each_case
from tests.faults import AwsFaults
from tests.integration.auth.test_oauth import TOKEN
from tests.integration.user_grants.oauth_requests import FORM, request_token, send

pytestmark = pytest.mark.usefixtures("aws_faults")

BAD_BODIES: dict[str, tuple[str | bytes | None, str | None]] = {
    "nothing": (None, FORM),
    "no type": ("grant_type=client_credentials", None),
    "another type": ("grant_type=client_credentials", "text/plain"),
    "multipart": (b"--x", "multipart/form-data; boundary=x"),
    "not UTF-8": (b"grant_type=\xff\xfe", FORM),
    "not UTF-8, escaped": ("grant_type=%ff%fe", FORM),
    "a parameter twice": ("grant_type=client_credentials&grant_type=password", FORM),
    "thousands of parameters": ("&".join(f"a{n}=1" for n in range(2000)), FORM),
    "too long": ("grant_type=" + "x" * 20_000, FORM),
    "too long in bytes": ("grant_type=" + "é" * 9_000, FORM),
    "JSON array": ('[["grant_type","client_credentials"]]', "application/json"),
    "JSON text": ('"grant_type"', "application/json"),
    "JSON cut off": ('{"grant_type":', "application/json"),
    "JSON deep": ("[" * 16_000, "application/json"),
    "JSON number": ('{"grant_type":1}', "application/json"),
    "JSON null": ('{"grant_type":null}', "application/json"),
    "JSON object": ('{"grant_type":{"a":"b"}}', "application/json"),
    "JSON name twice": ('{"grant_type":"password","grant_type":"x"}', "application/json"),
    "JSON lone surrogate": ('{"grant_type":"\\ud800"}', "application/json"),
    "JSON huge number": ('{"grant_type":' + "9" * 9_000 + "}", "application/json"),
    "JSON NaN": ('{"grant_type":NaN}', "application/json"),
}


@each_case("name", BAD_BODIES)
def test_malformed_body_is_an_invalid_request(name: str, aws_faults: AwsFaults) -> None:
    body, content_type = BAD_BODIES[name]
    with aws_faults.recorded() as calls:
        status, _, answer = send("POST", TOKEN, body, content_type=content_type)
    assert status == (413 if "too long" in name else 400)
    assert answer["error"] == "invalid_request"
    assert calls.operations == []


NEEDED = {
    ("ClientCredentialsGrant", "/v1/oauth/token"): {"grant_type": "client_credentials"},
    ("PasswordGrant", "/v1/oauth/token"): {
        "grant_type": "password",
        "username": "anna@acme",
        "password": "x",
    },
    ("RefreshTokenGrant", "/v1/oauth/token"): {"grant_type": "refresh_token", "refresh_token": "x"},
    ("RevocationRequest", "/v1/oauth/revoke"): {"token": "x"},
}


@pytest.mark.parametrize(("schema", "path"), NEEDED)
def test_required_parameters_must_not_be_empty_as_the_openapi_document_states(
    schema: str, path: str, aws_faults: AwsFaults
) -> None:
    described = json.loads(Path("docs/reference/openapi.json").read_text())["components"][
        "schemas"
    ][schema]
    form = NEEDED[schema, path]
    assert set(described["required"]) == form.keys()
    for name in form:
        field = described["properties"][name]
        assert "const" in field or field["minLength"] == 1
        with aws_faults.recorded() as calls:
            status, _, answer = send("POST", path, urlencode({**form, name: ""}))
        assert (status, answer["error"], calls.operations) == (400, "invalid_request", [])


@pytest.mark.parametrize(
    "authorization",
    ["Basic", "Basic !!!", "Basic " + "A" * 5, "Basic /w==", "Bearer x", "Basic YWJj", "é"],
)
def test_malformed_basic_credentials_are_an_invalid_request(
    authorization: str, aws_faults: AwsFaults
) -> None:
    with aws_faults.recorded() as calls:
        status, _, answer = request_token(
            {"grant_type": "client_credentials"}, authorization=authorization
        )
    assert (status, answer["error"], calls.operations) == (400, "invalid_request", [])


@pytest.mark.parametrize(
    ("pair", "outcome"),
    [
        (b"stw_acme_0:a:b", (401, "invalid_client")),
        (b"stw_acme_0:%", (401, "invalid_client")),
        (b"stw_acme_0:%zz%", (401, "invalid_client")),
        (b"stw_acme_0:100%25", (401, "invalid_client")),
        (b"stw_acme_0:%00", (401, "invalid_client")),
        (b"stw%5Facme_0:x+y", (401, "invalid_client")),
        (b"::::", (401, "invalid_client")),
        (b":", (401, "invalid_client")),
        (b"CLIENT#%00:x", (401, "invalid_client")),
        (b"x" * 5_000 + b":" + b"y" * 5_000, (401, "invalid_client")),
        (b"stw_acme_0%3Asecret", (400, "invalid_request")),
        (b"stw_acme_0:%ff", (400, "invalid_request")),
        (b"stw_acme_0:\xff", (400, "invalid_request")),
        (b"", (400, "invalid_request")),
    ],
)
def test_basic_credentials_are_percent_decoded(pair: bytes, outcome: tuple[int, str]) -> None:
    authorization = "Basic " + base64.b64encode(pair).decode()
    status, _, answer = request_token(
        {"grant_type": "client_credentials"}, authorization=authorization
    )
    assert (status, answer["error"]) == outcome


def test_secret_starts_after_the_first_colon() -> None:
    """Everything after the first colon is the secret, percent-encoded or not."""
    client = create_client("acme", "ERP")
    pair = f"{client.client_id}:{client.client_secret}:%25"
    authorization = "Basic " + base64.b64encode(pair.encode()).decode()
    assert (
        request_token({"grant_type": "client_credentials"}, authorization=authorization)[0] == 401
    )
    encoded = "".join(f"%{ord(char):02x}" for char in client.client_id)
    pair = f"{encoded}:{client.client_secret}"
    authorization = "Basic " + base64.b64encode(pair.encode()).decode()
    assert (
        request_token({"grant_type": "client_credentials"}, authorization=authorization)[0] == 200
    )


FIELDS = [
    "grant_type", "client_id", "client_secret", "scope", "token",
    "username", "password", "otp", "refresh_token",
]  # fmt: skip
GRANTS = ["client_credentials", "password", "refresh_token"]
VALUES = st.one_of(
    st.text(max_size=40),
    st.text(max_size=20).map(lambda name: f"{name}@acme"),
    st.text(max_size=20).map(lambda slug: f"anna@{slug}"),
    st.text(max_size=20).map(lambda part: f"str_acme.1-{'0' * 24}.{part}"),
    st.sampled_from(["", "\0", "anna@acme", "stm_acme_" + "0" * 24, "a.b.c", "x" * 9_000]),
)
FORMS = st.fixed_dictionaries(
    {"grant_type": st.sampled_from(GRANTS)}, optional=dict.fromkeys(FIELDS[1:], VALUES)
)


@pytest.fixture
def _many_quick_guesses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise the limits on failures and make password hashes cheap."""
    for limit in (
        "PER_ADDRESS",
        "PER_CLIENT",
        "PER_USER",
        "PER_USER_LONG_WINDOW",
        "PER_USER_ALL_ADDRESSES",
    ):
        monkeypatch.setattr(attempt_limits, limit, sys.maxsize)
    cheap = f"$argon2id$v=19$m=8,t=1,p=1${'A' * 22}${'A' * 43}"
    monkeypatch.setattr(passwords, "_DUMMY_HASH", cheap)


@pytest.mark.usefixtures("_many_quick_guesses")
@settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    body=st.one_of(
        st.binary(max_size=300),
        st.text(max_size=300),
        st.dictionaries(
            st.sampled_from(FIELDS),
            st.one_of(st.text(max_size=40), st.sampled_from(GRANTS)),
        ).map(lambda form: urlencode(form, errors="surrogatepass")),
        st.dictionaries(st.text(max_size=9), st.text(max_size=9)).map(json.dumps),
        FORMS.map(lambda form: urlencode(form, errors="surrogatepass")),
        FORMS.map(json.dumps),
    ),
    content_type=st.sampled_from([FORM, "application/json", "x", None]),
    authorization=st.one_of(
        st.none(),
        st.text(max_size=40),
        st.binary(max_size=40).map(lambda raw: "Basic " + base64.b64encode(raw).decode()),
    ),
    path=st.sampled_from([TOKEN, "/v1/oauth/revoke"]),
)
def test_no_input_causes_a_server_error(
    body: str | bytes,
    content_type: str | None,
    authorization: str | None,
    path: str,
) -> None:
    status, headers, _ = send(
        "POST", path, body, content_type=content_type, authorization=authorization
    )
    # invalid tokens are ignored
    assert 400 <= status < 500 or (status, path) == (200, "/v1/oauth/revoke")
    assert headers["Cache-Control"] == "no-store"
