"""The API documentation that the service serves without a token."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from functions.reference.app import lambda_handler
from tests.cases import each_case
from tests.gateway import LAMBDA_LIMIT, Erp
from tests.stack import Stack

ROOT = Path(__file__).parents[2]


@pytest.fixture
def reader(stack: Stack) -> Erp:
    """A caller without a token."""
    return Erp(stack.gateway, None)


def test_openapi_document_is_the_committed_one(reader: Erp) -> None:
    answer = reader.get("/openapi.json")

    assert answer.status == 200
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["X-Request-Id"]
    assert answer.json() == json.loads((ROOT / "docs" / "reference" / "openapi.json").read_text())


def test_page_loads_only_files_of_the_service(reader: Erp) -> None:
    page = reader.get("/docs")
    assert page.status == 200
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"

    sources = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    loaded = [source for source in sources if not source.startswith("data:")]
    assert "docs/swagger-ui-bundle.js" in loaded
    for source in loaded:
        answer = reader.get(f"/{source}")
        assert answer.status == 200, source
        assert answer.headers["Cache-Control"] == "public, max-age=3600"
        assert len(json.dumps(answer.text)) < LAMBDA_LIMIT / 2


@pytest.mark.parametrize(
    ("path", "media"),
    [
        ("/docs/start.js", "text/javascript; charset=utf-8"),
        ("/docs/swagger-ui-bundle.js", "text/javascript; charset=utf-8"),
        ("/docs/swagger-ui.css", "text/css; charset=utf-8"),
    ],
)
def test_files_have_their_content_types(reader: Erp, path: str, media: str) -> None:
    answer = reader.get(path)
    assert answer.headers["Content-Type"] == media


def test_page_forbids_inline_and_foreign_scripts(reader: Erp) -> None:
    page = reader.get("/docs")
    rules = dict(rule.split(" ", 1) for rule in page.headers["Content-Security-Policy"].split("; "))

    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == "'self'"
    assert rules["frame-ancestors"] == "'none'"
    assert re.findall(r"<script(?! src=)|<style|\sstyle=|\son\w+=", page.text) == []


@pytest.mark.parametrize("path", ["/openapi.json", "/docs", "/docs/swagger-ui.css"])
def test_unchanged_file_is_304(reader: Erp, path: str) -> None:
    tag = reader.get(path).headers["ETag"]
    again = reader.get(path, headers={"If-None-Match": tag})
    assert (again.status, again.text, again.headers["ETag"]) == (304, "", tag)


@each_case("method", ["POST", "PUT", "PATCH", "DELETE"])
@each_case("path", ["/openapi.json", "/docs", "/docs/start.js"])
def test_write_methods_are_405(reader: Erp, method: str, path: str) -> None:
    answer = reader.send(method, path)
    assert (answer.status, answer.code, answer.headers["Allow"]) == (
        405,
        "method_not_allowed",
        "GET, HEAD",
    )


@pytest.mark.parametrize("path", ["/openapi.json", "/docs", "/docs/swagger-ui.css"])
def test_head_has_the_headers_of_get_without_content(reader: Erp, path: str) -> None:
    get, head = reader.get(path), reader.send("HEAD", path)

    def without_id(headers: Mapping[str, str]) -> dict[str, str]:
        return {name: value for name, value in headers.items() if name != "x-request-id"}

    assert (head.status, head.text) == (200, "")
    assert without_id(head.headers) == without_id(get.headers)
    assert get.headers["ETag"] == head.headers["ETag"]
    known = {"If-None-Match": get.headers["ETag"]}
    assert reader.send("HEAD", path, headers=known).status == 304
    assert function_body("HEAD", path) == ""
    assert reader.send("HEAD", f"{path}/nothing").status == 404


def function_body(method: str, path: str) -> str:
    """Return the body that the function sends; API Gateway removes that of a response to HEAD."""
    context = {"requestId": "r", "identity": {}}
    event = {"httpMethod": method, "path": f"/v1{path}", "requestContext": context}
    body: str = lambda_handler(event, None)["body"]
    return body


def test_pages_that_llms_txt_lists_are_served_as_text(reader: Erp) -> None:
    index = reader.get("/docs/llms.txt")
    assert index.headers["Content-Type"] == "text/plain; charset=utf-8"
    links = re.findall(r"\]\(([^)]+)\)", index.text)
    assert {"guides/integrating.md", "reference/errors.md", "../openapi.json"} <= {*links}
    for link in links:
        answer = reader.get("/openapi.json" if link.startswith("..") else f"/docs/{link}")
        assert answer.status == 200, link
        if link.endswith(".md"):
            assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
            assert answer.text == (ROOT / "docs" / link).read_text()


def test_postman_collection_is_the_committed_one(reader: Erp) -> None:
    answer = reader.get("/docs/postman.json", headers={"Accept-Encoding": "gzip"})
    assert answer.json() == json.loads((ROOT / "docs" / "reference" / "postman.json").read_text())
    assert answer.sent_bytes is not None
    assert answer.sent_bytes < 50_000


_NO_PAGES = ["/docs/operating/deploy.md", "/docs/guides", "/docs/guides/pictures/home.webp"]


@pytest.mark.parametrize("path", ["/docs/nothing", "/docs/../app.py", "/docs/app.py", *_NO_PAGES])
def test_other_files_are_404(reader: Erp, path: str) -> None:
    answer = reader.get(path)
    assert (answer.status, answer.code) == (404, "not_found")
    assert answer.headers["X-Request-Id"] == answer.json()["error"]["request_id"]


def test_links_are_right_behind_a_base_path(stack: Stack) -> None:
    behind_a_domain = Erp(type(stack.gateway)(stack.template, "acme.stowage.test", "/api"), None)
    assert behind_a_domain.get("/docs").status == 200
