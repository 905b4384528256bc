"""The wrapper in front of the emulator: web pages, other names and other accounts are refused."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import botocore.auth
import httpx
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from ministack.services import s3, sts

from local.emulator_access import ProtectedApp
from local.settings import REGION, AccessKey
from shared.kernel.errors import CODES

PORT = 4566
BASE = f"http://127.0.0.1:{PORT}"
API = "/_aws/execute-api/833ed46c/api/v1/products"
KEY = AccessKey("LOCALABCDEFGHIJKLMNO", "secret of this run")
SIMPLE_POST = {"Content-Type": "text/plain"}
"""What a page can send to another origin without asking first."""

_CORS = (
    "<CORSConfiguration><CORSRule><AllowedMethod>POST</AllowedMethod>"
    "<AllowedOrigin>*</AllowedOrigin></CORSRule></CORSConfiguration>"
)


class Emulator:
    """An application that answers every page, as the emulator does, behind the wrapper."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.protected = ProtectedApp(self._serve, PORT, KEY)

    async def _serve(self, _scope: Any, receive: Any, send: Any) -> None:
        body, message = b"", {"more_body": True}
        while message.get("more_body"):
            message = await receive()
            body += message.get("body", b"")
        self.bodies.append(body)
        headers = [(b"access-control-allow-origin", b"*"), (b"etag", b"1")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"served"})

    def send(
        self, method: str, url: str, headers: Mapping[str, str] | None = None, **body: Any
    ) -> httpx.Response:
        async def sent() -> httpx.Response:
            transport = httpx.ASGITransport(self.protected)
            async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
                return await client.request(method, url, headers=headers, **body)

        return asyncio.run(sent())

    def refuses(
        self, method: str, url: str, headers: Mapping[str, str] | None = None, **body: Any
    ) -> str:
        """Send a request that must be refused before the emulator sees it; return the reason."""
        answer = self.send(method, url, headers, **body)
        assert (answer.status_code, self.bodies) == (403, []), url
        assert "access-control-allow-origin" not in answer.headers
        return str(answer.json()["message"])


@pytest.fixture
def emulator() -> Emulator:
    return Emulator()


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> str:
    """A bucket to which pages of all origins may post, as the import bucket of the template."""
    monkeypatch.setattr(s3._buckets, "_data", {})
    monkeypatch.setattr(s3._bucket_cors, "_data", {})
    s3._create_bucket("imports", b"")
    s3._bucket_cors["imports"] = _CORS
    return "imports"


def signed(
    service: str, url: str, body: bytes = b"", key: AccessKey = KEY, **headers: str
) -> dict[str, str]:
    """Return the headers of a signed POST."""
    request = AWSRequest("POST", BASE + url, headers=headers, data=body)
    SigV4Auth(Credentials(key.id, key.secret), service, REGION).add_auth(request)
    return dict(request.headers.items())


def invocation(key: AccessKey = KEY) -> dict[str, str]:
    """Return the headers of a signed call that invokes a function."""
    return signed("lambda", INVOKE, b"{}", key)


INVOKE = "/2015-03-31/functions/stowage/invocations"


def presigning_client() -> Any:
    return boto3.client(
        "s3",
        endpoint_url=BASE,
        region_name=REGION,
        aws_access_key_id=KEY.id,
        aws_secret_access_key=KEY.secret,
        config=Config(signature_version="s3v4", s3={"addressing_style": "path"}),
    )


PAGES: Sequence[Mapping[str, str]] = (
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": f"http://localhost:{PORT}"},  # the request is sent to 127.0.0.1
    {"Origin": "http://127.0.0.1:8787"},
    {"Origin": f"https://127.0.0.1:{PORT}"},
    {"Origin": ""},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "new-kind"},
    {"Origin": BASE, "Sec-Fetch-Site": "cross-site"},
)


@pytest.mark.parametrize("page", PAGES)
def test_requests_of_other_web_pages_are_refused(page: dict[str, str], emulator: Emulator) -> None:
    for url in (API, INVOKE, "/_ministack/ready", "/_ministack/reset", "/"):
        emulator.refuses("POST", url, page | SIMPLE_POST, content=b"{}")
        emulator.refuses("GET", url, page)
        emulator.refuses("OPTIONS", url, page | {"Access-Control-Request-Method": "PUT"})
    reason = emulator.refuses("POST", INVOKE, page | invocation(), content=b"{}")
    assert reason.startswith(("Origin: ", "Sec-Fetch-Site: "))


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        f"evil.example:{PORT}",
        f"127.0.0.1.evil.example:{PORT}",
        f"833ed46c.execute-api.127.0.0.1:{PORT}",
        f"localhost.:{PORT}",
        "127.0.0.1",
        "localhost:80",
        "",
    ],
)
def test_other_host_names_are_refused(host: str, emulator: Emulator) -> None:
    page = {"Host": host, "Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin"}
    for url in (API, INVOKE, "/_ministack/ready"):
        reason = emulator.refuses("POST", url, page, content=b"{}")
        assert reason == f"Host: must be 127.0.0.1:{PORT} or localhost:{PORT}"


def test_two_hosts_are_refused(emulator: Emulator) -> None:
    headers = [("Host", f"127.0.0.1:{PORT}"), ("Host", "evil.example")]
    emulator.refuses("GET", API, headers)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST"])
def test_the_api_serves_its_own_pages_and_programs_without_a_key(
    name: str, emulator: Emulator
) -> None:
    host = {"Host": f"{name}:{PORT}"}
    page = host | {"Origin": f"http://{name}:{PORT}", "Sec-Fetch-Site": "same-origin"}
    for headers in (host, page, host | {"Sec-Fetch-Site": "none"}):
        assert emulator.send("POST", API, headers, content=b"{}").text == "served"


@pytest.mark.parametrize(
    "url",
    [
        "/",
        "/health",
        "/_ministack/reset",
        "/_ministack/config",
        "/_ministack/lambda-code/000000000000/us-east-1/stowage",
        "/_aws/sqs/messages?QueueUrl=orders",
        f"/{API}",
        "/_aws/execute-api/833ed46c/api/@connections/1",
        "/restapis/833ed46c/api/_user_request_/v1/products",
        "/?Action=ListQueues",
        "/imports/acme/file.csv",
        "/iceberg/v1/config",
        INVOKE,
    ],
)
def test_everything_but_the_api_needs_the_key(url: str, emulator: Emulator) -> None:
    for method in ("GET", "POST", "PUT", "DELETE"):
        assert "not signed with an access key of this run" in emulator.refuses(method, url)
    emulator.refuses("OPTIONS", url)


@pytest.mark.parametrize(
    "key",
    [
        AccessKey("test", "test"),
        AccessKey("000000000000", "test"),
        AccessKey("000000000000", KEY.secret),
        AccessKey(KEY.id, "test"),
        AccessKey("ASIAQQQQQQQQQQQQQQQQ", KEY.secret),
    ],
)
def test_other_keys_are_refused(key: AccessKey, emulator: Emulator) -> None:
    emulator.refuses("POST", INVOKE, invocation(key), content=b"{}")


def test_signature_covers_the_whole_request(emulator: Emulator) -> None:
    emulator.refuses("POST", INVOKE, invocation(), content=b'{"other": 1}')
    emulator.refuses("POST", INVOKE + "?Qualifier=2", invocation(), content=b"{}")
    emulator.refuses("POST", INVOKE.replace("stowage", "other"), invocation(), content=b"{}")
    emulator.refuses("POST", INVOKE, {"Authorization": "AWS4-HMAC-SHA256 "}, content=b"{}")
    for header in ("", "AWS4-HMAC-SHA256 Credential=", f"AWS {KEY.id}:x", f"Bearer {KEY.id}"):
        emulator.refuses("POST", INVOKE, {"Authorization": header}, content=b"{}")


def test_signature_of_yesterday_is_refused(
    emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    yesterday = datetime.now(UTC) - timedelta(days=1)
    monkeypatch.setattr(botocore.auth, "get_current_datetime", lambda: yesterday)
    reason = emulator.refuses("POST", INVOKE, invocation(), content=b"{}")
    assert "Signature expired" in reason


def test_signed_calls_are_served_with_their_bodies_and_without_cors(emulator: Emulator) -> None:
    own_page = {"Origin": BASE, "Sec-Fetch-Site": "same-origin"}
    for headers in (invocation(), invocation() | own_page):
        answer = emulator.send("POST", INVOKE, headers, content=b"{}")
        assert (answer.text, answer.headers["etag"]) == ("served", "1")
        assert "access-control-allow-origin" not in answer.headers
    assert emulator.bodies == [b"{}", b"{}"]


def test_session_that_the_emulator_issued_is_a_key_until_it_ends(
    emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = AccessKey("ASIAABCDEFGHIJKLMNOP", "secret of a session")
    kept = {"SecretAccessKey": session.secret, "Expiration": time.time() + 60}
    monkeypatch.setitem(sts._sessions, session.id, kept)
    assert emulator.send("POST", INVOKE, invocation(session), content=b"{}").text == "served"
    emulator.bodies.clear()
    monkeypatch.setitem(kept, "Expiration", time.time() - 1)
    emulator.refuses("POST", INVOKE, invocation(session), content=b"{}")


def test_presigned_address_is_served_for_its_object_only(emulator: Emulator) -> None:
    file = {"Bucket": "imports", "Key": "acme/report 1.xlsx"}
    url = presigning_client().generate_presigned_url("get_object", Params=file)
    assert url.startswith(BASE)
    other_service = {"X-Amz-Target": "DynamoDB_20120810.ListTables"}
    emulator.refuses("GET", url, other_service)
    emulator.refuses("GET", url.replace("acme", "beta"))
    emulator.refuses("PUT", url)
    emulator.refuses("GET", url + "&Action=ListQueues")
    emulator.refuses("GET", url, {"Origin": "https://evil.example"})
    assert emulator.send("GET", url).text == "served"


def test_form_is_served_for_its_bucket_only(emulator: Emulator, bucket: str) -> None:
    made = presigning_client().generate_presigned_post(bucket, "acme/products.csv")
    form = {"data": made["fields"], "files": {"file": b"code,name"}}
    emulator.refuses("POST", "/imports?Action=ListQueues", **form)
    emulator.refuses("POST", "/imports", {"X-Amz-Target": "AmazonSQS.ListQueues"}, **form)
    emulator.refuses("POST", "/", **form)
    emulator.refuses("PUT", "/imports", **form)
    for name, value in (("policy", "e30="), ("x-amz-signature", "é"), ("x-amz-credential", "a/b")):
        changed = form | {"data": made["fields"] | {name: value}}
        emulator.refuses("POST", "/imports", **changed)
    own_page = {"Origin": BASE, "Sec-Fetch-Site": "same-origin"}
    assert emulator.send("POST", "/imports", own_page, **form).text == "served"
    assert b"code,name" in emulator.bodies[0]


def test_bucket_answers_the_pages_that_its_cors_rules_allow(
    emulator: Emulator, bucket: str
) -> None:
    page = {"Origin": "https://wms.example", "Sec-Fetch-Site": "cross-site"}
    preflight = page | {"Access-Control-Request-Method": "POST"}
    assert emulator.send("OPTIONS", f"/{bucket}", preflight).status_code == 200
    emulator.refuses("OPTIONS", f"/{bucket}", page | {"Access-Control-Request-Method": "DELETE"})
    emulator.refuses("POST", f"/{bucket}", page, files={"file": b"without a signature"})
    made = presigning_client().generate_presigned_post(bucket, "acme/products.csv")
    form = {"data": made["fields"], "files": {"file": b"code,name"}}
    answer = emulator.send("POST", f"/{bucket}", page, **form)
    assert answer.text == "served"
    assert answer.headers["access-control-allow-origin"] == "*"


def test_websockets_are_refused(emulator: Emulator) -> None:
    sent: list[Mapping[str, Any]] = []

    async def send(message: Mapping[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "websocket", "path": API, "headers": [(b"host", b"127.0.0.1:4566")]}
    asyncio.run(emulator.protected(scope, None, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_page_of_errors_has_the_anchors_of_doc_url(emulator: Emulator) -> None:
    page = emulator.send("GET", "/errors")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert '<a id="stale_state"></a>' in page.text
    assert page.text.count("<a id=") == len(CODES)
    emulator.refuses("POST", "/errors")
