"""Fuzzing of the parsers of forms: multipart uploads and the forms of the token routes.

`make test` tries a few forms, `make fuzz` as many as FUZZ_EXAMPLES says for each test.
"""

import os
import re
from base64 import b64encode
from collections.abc import Mapping
from encodings.aliases import aliases
from typing import Any
from urllib.parse import quote, urlencode

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from functions.oauth import request as oauth
from shared.http.form import read_form
from shared.http.idempotency import request_fingerprint
from shared.identity.auth.client_grants import OAuthError
from shared.integration.imports.models import ImportUpload
from shared.integration.imports.upload_checks import safe_file_name
from shared.kernel.errors import BadRequest
from shared.kernel.uploaded_file import UploadedFile
from shared.kernel.validation import InvalidBody, check

_fuzzed = settings(
    max_examples=int(os.environ.get("FUZZ_EXAMPLES", "150")),
    suppress_health_check=list(HealthCheck),
)

_UPLOAD, _TOKEN = "multipart/form-data; boundary=B", "application/x-www-form-urlencoded"
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f/\\\ud800-\udfff]")
_LONGEST_NAME = 200


def _any_text(size: int) -> st.SearchStrategy[str]:
    """Return a strategy of texts that may have lone surrogates."""
    return st.text(st.characters(), max_size=size)


type Event = Mapping[str, Any]

_CODECS = st.sampled_from(
    sorted({"utf-8", "iso-8859-1", "undefined", "idna", *aliases, *aliases.values()})
)
_NAMES = st.one_of(
    _any_text(30),
    st.text(st.characters(categories=["Cc", "Cf", "Zl", "Zp", "Po"]), max_size=30),
    st.sampled_from(["", ".csv", "..", "../a.csv", "C:\\a.csv", "a" * 3_000 + ".csv", "\0.csv"]),
)
_EXTENDED = st.builds(
    "{}'{}'{}".format,
    _CODECS,
    st.sampled_from(["", "en", "'"]),
    st.one_of(
        _NAMES.map(lambda name: quote(name, errors="surrogatepass")),
        st.binary(max_size=20).map(quote),
        st.sampled_from(["%5Cud800", "+2AA-", "%", "%zz", "xn--a", "%ED%A0%80.csv"]),
    ),
)
_FIELD_NAMES = st.one_of(
    st.sampled_from(["kind", "file", "options", "options[on_duplicate]", "options[", "[a]", ""]),
    _any_text(10),
)
_VALUES = st.one_of(
    st.binary(max_size=60), st.sampled_from([b"products", b"true", b"--B", b"x" * 10_001])
)


def _quoted(text: str) -> str:
    """Return a name as browsers write it (WHATWG HTML, multipart/form-data)."""
    return '"' + text.replace("\r", "%0D").replace("\n", "%0A").replace('"', "%22") + '"'


@st.composite
def _parts(draw: st.DrawFn) -> bytes:
    head = f"Content-Disposition: form-data; name={_quoted(draw(_FIELD_NAMES))}"
    if draw(st.booleans()):
        head += f"; filename={draw(st.one_of(_NAMES.map(_quoted), _NAMES))}"
    if draw(st.booleans()):
        head += f"; filename*={draw(_EXTENDED)}"
    if draw(st.booleans()):
        head += f"\r\nContent-Type: text/plain; charset={draw(_CODECS)}"
    return b"--B\r\n" + head.encode(errors="surrogatepass") + b"\r\n\r\n" + draw(_VALUES) + b"\r\n"


@st.composite
def _damaged(draw: st.DrawFn, bodies: st.SearchStrategy[bytes]) -> bytes:
    """Return a body of `bodies` with some bytes replaced, moved or removed."""
    body = draw(bodies)
    for _ in range(draw(st.integers(0, 3))):
        start, end = sorted(draw(st.tuples(*[st.integers(0, len(body))] * 2)))
        inserted = draw(
            st.one_of(
                st.binary(max_size=4),
                st.sampled_from([b"\r\n", b"--B", b'"', b"\\", b"%", b";", b"'", b"\0", b"="]),
                st.just(body[start:end] * 2),
            )
        )
        body = body[:start] + inserted + body[end:]
    return body


_MULTIPART = _damaged(st.lists(_parts(), max_size=4).map(lambda parts: b"".join(parts) + b"--B--"))


def _event(body: str | bytes, media: str, authorization: str = "") -> Event:
    """Return the event of a request; bytes are base64, as the gateway sends them."""
    is_bytes = isinstance(body, bytes)
    return {
        "headers": {"Content-Type": media, "Authorization": authorization},
        "body": b64encode(body).decode() if isinstance(body, bytes) else body,
        "isBase64Encoded": is_bytes,
    }


@_fuzzed
@given(
    body=st.one_of(st.binary(max_size=200), _any_text(100), _MULTIPART),
    media=st.one_of(
        st.just(_UPLOAD),
        st.builds("multipart/form-data; boundary={}".format, _any_text(80)),
        _any_text(40),
    ),
)
def test_any_upload_is_read_or_refused(body: str | bytes, media: str) -> None:
    """Read the upload up to the checks before its first write."""
    try:
        form = read_form(_event(body, media))
    except BadRequest as error:
        error.message.encode()
        return
    request_fingerprint("POST", "/imports", form)
    upload = check(ImportUpload, form)
    if isinstance(upload, InvalidBody):
        "".join(problem.field + problem.message for problem in upload.problems).encode()
        return
    name = safe_file_name(upload.file.name)
    assert not _UNSAFE.search(name), name
    assert len(name) <= _LONGEST_NAME


@_fuzzed
@given(
    fields=st.dictionaries(
        st.text("abc_é%", min_size=1, max_size=5).filter(lambda name: not name.startswith("file")),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=50),
        max_size=5,
    ),
    name=st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters='"\\%')),
    content=st.binary(max_size=100).filter(lambda content: b"--B" not in content),
    charset=st.sampled_from([None, "utf-8", "UTF-8", "iso-8859-1"]),
)
def test_valid_upload_is_read_as_sent(
    fields: Mapping[str, str], name: str, content: bytes, charset: str | None
) -> None:
    """Read what a browser or a library has written."""
    if charset:
        name = name.encode(charset, "ignore").decode(charset)
        written = f"filename*={charset}''{quote(name, safe='', encoding=charset)}"
    else:
        written = f"filename={_quoted(name)}"
    parts = [(f"name={_quoted(field)}", value.encode()) for field, value in fields.items()]
    parts.append((f'name="file"; {written}', content))
    body = b"".join(
        f"--B\r\nContent-Disposition: form-data; {head}\r\n\r\n".encode() + value + b"\r\n"
        for head, value in parts
    )
    if any(b"--B" in value for _, value in parts) or len(name.encode()) > 1_000:
        return
    assert read_form(_event(body + b"--B--\r\n", _UPLOAD)) == {
        **fields,
        "file": UploadedFile(name, content),
    }


_FORM_NAMES = st.one_of(
    st.sampled_from(["grant_type", "client_id", "client_secret", "username", "password", "scope"]),
    _any_text(10),
)
_PAIRS = st.lists(st.tuples(_FORM_NAMES, _any_text(30)), max_size=22)
_FORMS = _PAIRS.map(lambda pairs: urlencode(pairs, errors="surrogatepass").encode())


@_fuzzed
@given(
    body=st.one_of(st.binary(max_size=200), _any_text(200), _FORMS, _damaged(_FORMS)),
    media=st.one_of(
        st.sampled_from([_TOKEN, f"{_TOKEN}; charset=idna", "application/json"]),
        _any_text(40),
    ),
    authorization=st.one_of(
        st.just(""),
        _any_text(30),
        st.binary(max_size=40).map(lambda pair: "Basic " + b64encode(pair).decode()),
        _any_text(40).map(lambda text: f"basic {text}"),
    ),
)
def test_any_token_form_is_read_or_refused(
    body: str | bytes, media: str, authorization: str
) -> None:
    """Read the form and the client's credentials; a refusal is an error of OAuth."""
    event = _event(body, media, authorization)
    try:
        form = oauth.read_form(event)
        client_auth = oauth.read_client(event, form)
        authentication = oauth.read_client_credentials(event, form)
    except OAuthError as error:
        error.description.encode()
        return
    assert client_auth == authentication
    texts = [*form, *form.values(), authentication.client_id, authentication.secret]
    "".join(texts).encode()


@_fuzzed
@given(pairs=st.dictionaries(st.text(max_size=10), st.text()))
def test_valid_token_form_is_read_as_sent(pairs: Mapping[str, str]) -> None:
    """Read what a library has written; empty parameters are omitted."""
    sent = dict(list(pairs.items())[:20])
    body = urlencode(sent).encode(errors="surrogatepass")
    if len(body) <= oauth.MAX_BODY_BYTES:
        read = oauth.read_form(_event(body, _TOKEN))
        assert read == {name: value for name, value in sent.items() if value}
