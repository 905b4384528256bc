"""The web console: which files it consists of, and how the function serves them."""

import gzip
import json
import re
import shutil
import sys
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest

from functions.console import content
from functions.console.app import _storage, lambda_handler
from functions.reference.app import lambda_handler as reference
from shared.http.envelope import SECURITY_HEADERS, error_body
from shared.kernel.aws import _config_of, session
from shared.kernel.errors import MethodNotAllowed, NotFound
from tests.bench.console_size import (
    CONSOLE,
    first_visit,
    first_visit_of_floor,
    reader_of_camera,
    screens,
    screens_of_floor,
)
from tests.cases import each_case
from tests.gateway import Erp, Gateway, Response
from tests.log_lines import captured
from tests.subprocesses import output_of
from tests.template import Template
from tools.console.interface import document

DOCS = "https://docs.stowage.test"
TREE = content.read(CONSOLE)
TEXTS = [name for name in TREE.files if not name.endswith(".wasm")]
FILES = f"/console/{TREE.version}"
SCREENS = [
    "",
    "/",
    "/receipts",
    "/receipts/",
    "/receipts/12",
    "/webhooks/1/deliveries/2",
    "/account",
]
OTHERS = [
    f"/console/{'0' * 16}/main.js",
    f"{FILES}/main.js.gz",
    f"{FILES}/index.html",
    f"{FILES}/tsconfig.json",
    f"{FILES}/vendor/preact.d.ts",
    f"{FILES}/../app.py",
    f"{FILES}/..%2fapp.py",
    f"{FILES}//etc/passwd",
    FILES,
    "/console/main.js",
    "/console/nothing",
]


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "AWS_DEFAULT_REGION": "eu-west-1",
        "IMPORT_BUCKET": "drops",
        "IMPORT_WORK_BUCKET": "reports",
        "DOCS_BASE": DOCS,
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)


@pytest.fixture
def reader() -> Erp:
    """A caller without a token."""
    return Erp(Gateway(Template({}), "wms.example"), None)


def base_of(page: Response, address: str) -> str:
    """Return the address to which the links of a page are relative."""
    found = re.search(r'<base href="([^"]+)" />', page.text)
    assert found
    return urljoin(address, str(found[1]))


def links_of(page: Response) -> list[str]:
    return re.findall(r'(?:src|href)="(\w[^"]*\w)"', page.text)


# What the console consists of


def test_every_import_names_a_file_that_is_served() -> None:
    for name in TEXTS:
        text = re.sub(r"/\*.*?\*/", "", (CONSOLE / name).read_text(), flags=re.DOTALL)
        for target in re.findall(
            r"""(?:^import|\bfrom|\bimport\()\s?['"]([\w@./][^'"]*)['"]""", text
        ):
            assert urljoin(name, target) in TREE.files, f"{name}: {target}"


def test_no_two_modules_import_each_other() -> None:
    """An `import()` when something is used is not counted: all modules are complete by then."""
    imported = {
        name: {
            urljoin(name, target)
            for target in re.findall(
                r"^(?:import|export)\s(?:[^'\";]*\sfrom\s)?['\"]([^'\"]+)", text, re.MULTILINE
            )
        }
        for name in TREE.files
        if name.endswith(".js") and (text := (CONSOLE / name).read_text())
    }
    assert imported["components/table.js"] >= {"components/parts.js", "core/links.js"}
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        pytest.fail(f"import cycle: {error.args[1]}")


def test_the_first_page_needs_the_shell_and_no_screen_of_a_subject() -> None:
    first = content.loaded_with(CONSOLE)
    for name in ("core/app.js", "components/shell.js", "screens/home.js", "vendor/preact.js"):
        assert name in first
    assert not {name for name in first if name.startswith("interface/")}
    assert "screens/list.js" not in first


def test_a_visit_downloads_little() -> None:
    assert first_visit() <= 60_000
    assert screens()["imports, detail"] > screens()["users, detail"]  # panels count
    for name, size in screens().items():
        assert size <= 20_000, name


def test_browsers_get_the_code_without_its_comments_on_the_same_lines(tmp_path: Path) -> None:
    code = """/** A module. */
// for the test
const one = /** @type {any} */ (2); // two
/*
 * Several lines *,
 */
const two = { [`//${one}`]: '/* text */' }; /** @type {any} */
    """
    (tmp_path / "vendor").mkdir()
    for name in ("a.js", "a.css", "a.svg", "vendor/a.js"):
        (tmp_path / name).write_text(code)
    read = {
        name: gzip.decompress(content.compressed(tmp_path, name)).decode()
        for name in ("a.js", "a.css", "a.svg", "vendor/a.js")
    }
    lines = code.splitlines(keepends=True)
    assert read["a.js"] == read["a.css"] == "".join(["\n\n", lines[2], "\n\n\n", *lines[6:]])
    assert read["a.svg"] == read["vendor/a.js"] == code


def test_no_text_of_the_code_has_several_lines() -> None:
    """A line of it could look like a comment."""
    for name in TREE.files:
        if name.endswith(".js") and not name.startswith("vendor/"):
            served = gzip.decompress(content.compressed(CONSOLE, name)).decode()
            assert not [one for one in served.splitlines() if one.count("`") % 2], name


def test_every_list_of_the_interface_has_an_address() -> None:
    listed = {
        path.split("/")[1]
        for path, methods in document()["paths"].items()
        if '"cursor"' in json.dumps(methods.get("get", {}))
    }
    assert listed <= {*TREE.screens}
    assert {"account", "map", "settings"} <= {*TREE.screens}
    for name in TREE.screens:
        assert (CONSOLE / f"interface/{name}.js").exists() or name in {
            "account",
            "deliveries",
            "floor",
            "map",
        }


def test_files_have_no_inline_code_and_load_nothing_from_elsewhere() -> None:
    page = (CONSOLE / "index.html").read_text()
    assert re.findall(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|https?:", page) == []
    for name in TEXTS:
        text = (CONSOLE / name).read_text()
        assert not re.findall(r"\beval\(|\bnew Function|url\(['\"]?https?:|@import", text), name
        if not name.startswith("vendor/"):
            assert not re.findall(r"innerHTML|setAttribute\('(?:style|on)", text), name


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the console, as the build has it."""
    return shutil.copytree(CONSOLE, tmp_path / "files")


def test_the_build_has_the_same_content_and_nothing_else(folder: Path) -> None:
    content.pack(folder)
    content.pack(folder)

    assert content.read(folder) == content.Console(*json.loads(json.dumps(TREE)))
    for name in TREE.files:
        assert content.compressed(folder, name) == content.compressed(CONSOLE, name), name
    left = {path.relative_to(folder).as_posix() for path in folder.rglob("*.*")}
    assert left == {"packed.json", *(f"{name}.gz" for name in TREE.files)}


@pytest.mark.parametrize("name", ["index.html", "style.css", "core/words.js"])
def test_every_change_gives_the_files_other_addresses(name: str, folder: Path) -> None:
    assert content.read(folder).version == TREE.version
    with (folder / name).open("a") as file:
        file.write("\n")
    assert content.read(folder).version != TREE.version


def test_the_function_needs_the_standard_library_only() -> None:
    """Its import must take less than 60 ms; what takes time is other modules."""
    program = (
        "import sys; sys.path.insert(0, '.'); import functions.console.app; print(*sys.modules)"
    )
    modules = output_of("-I", "-S", "-c", program).split()
    assert {name.partition(".")[0] for name in modules} <= {
        *sys.stdlib_module_names,
        *("__main__", "functions"),
    }
    assert len(modules) <= 100
    assert not {"asyncio", "dataclasses", "email", "inspect", "logging", "urllib"} & {*modules}


# How it is served


@each_case("screen", SCREENS)
@pytest.mark.parametrize("prefix", ["/api", "/_aws/execute-api/a1b2c3/api"])
def test_links_of_every_screen_lead_to_files(reader: Erp, screen: str, prefix: str) -> None:
    page = reader.get(f"/console{screen}")
    assert (page.status, page.headers["Content-Type"]) == (200, "text/html; charset=utf-8")

    base = base_of(page, f"https://wms.example{prefix}/v1/console{screen}")
    assert base == f"https://wms.example{prefix}/v1/console/"
    for link in links_of(page):
        path = urlsplit(urljoin(base, link)).path.partition("/v1")[2]
        assert reader.get(path).status == 200, link


def test_page_asks_for_the_first_modules_at_once(reader: Erp) -> None:
    page = reader.get("/console/")
    asked = re.findall(rf'rel="modulepreload" href="{TREE.version}/([^"]+)"', page.text)
    assert ["main.js", *asked] == content.loaded_with(CONSOLE)


def test_floor_has_a_page_of_its_own_that_asks_for_its_modules(reader: Erp) -> None:
    page = reader.get("/console/floor/pickings/12")
    asked = re.findall(rf'rel="modulepreload" href="{TREE.version}/([^"]+)"', page.text)
    assert ["floor/main.js", *asked] == content.loaded_with(CONSOLE, "floor/main.js")
    assert f'src="{TREE.version}/floor/main.js"' in page.text
    base = base_of(page, "https://wms.example/api/v1/console/floor/pickings/12")
    assert base == "https://wms.example/api/v1/console/"


def test_worker_of_the_floor_keeps_all_that_its_page_may_load(reader: Erp) -> None:
    worker = reader.get("/console/floor/worker.js")
    assert worker.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert worker.headers["Cache-Control"] == "no-cache", "the next release is found there"
    version, files = (json.loads(line.split(" = ")[1][:-1]) for line in worker.text.split("\n")[:2])
    assert version == TREE.version
    own = [name for name in TREE.files if name.startswith("floor/") and name.endswith(".js")]
    for name in own:  # also those that load when they are first shown
        assert {*content.loaded_with(CONSOLE, name)} <= {*files}, name
    assert {"words/es.js", "words/floor_es.js", "style.css", "floor/floor.css"} <= {*files}
    assert all(reader.get(f"{FILES}/{name}").status == 200 for name in files)
    again = reader.get(
        "/console/floor/worker.js", headers={"If-None-Match": worker.headers["ETag"]}
    )
    assert (again.status, again.text) == (304, "")


def test_floor_downloads_little() -> None:
    assert first_visit_of_floor() <= 70_000
    assert screens_of_floor()["task"] > screens_of_floor()["menu"]
    for name, size in screens_of_floor().items():
        assert size <= 15_000, name
    assert 400_000 < reader_of_camera() <= 450_000, "only where the browser reads no codes"


@each_case("name", TREE.files)
def test_files_are_compressed_and_kept_for_good(reader: Erp, name: str) -> None:
    for headers in ({}, {"Accept-Encoding": "identity"}):
        answer = reader.get(f"{FILES}/{name}", headers=headers)
        assert answer.status == 200
        assert answer.content == gzip.decompress(content.compressed(CONSOLE, name))
        assert answer.sent_bytes
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        suffix = name.rpartition(".")[2]
        media = {
            "css": "text/css",
            "js": "text/javascript",
            "svg": "image/svg+xml",
            "wasm": "application/wasm",
            "webmanifest": "application/manifest+json",
        }[suffix]
        assert answer.headers["Content-Type"].partition(";")[0] == media


@each_case("path", OTHERS)
def test_other_paths_are_404(reader: Erp, path: str) -> None:
    answer = reader.get(path)
    assert (answer.status, answer.headers["Cache-Control"]) == (404, "no-store")
    request = answer.headers["X-Request-Id"]
    assert answer.json() == error_body(NotFound("The route"), request, DOCS)


def test_browser_that_asks_for_an_unknown_screen_gets_the_page(reader: Erp) -> None:
    page = reader.get("/console/")
    headers = {"Accept": "text/html,*/*;q=0.8", "If-None-Match": page.headers["ETag"]}
    answer = reader.get("/console/nonsense", headers=headers)
    assert (answer.status, answer.text) == (404, page.text)
    post = reader.send("POST", "/console/nonsense", headers={"Accept": "text/html"})
    assert post.headers["Content-Type"] == "application/json"


def test_path_with_an_empty_part_is_no_screen() -> None:
    assert call("GET", "/console//receipts")["statusCode"] == 404


@each_case("path", ["/console", "/console/", "/console/receipts", f"{FILES}/main.js"])
@each_case("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_other_methods_are_405(reader: Erp, method: str, path: str) -> None:
    answer = reader.send(method, path)
    assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD")
    request = answer.headers["X-Request-Id"]
    assert answer.json() == error_body(MethodNotAllowed(method, ("GET", "HEAD")), request, DOCS)


def test_page_is_asked_for_again_and_sent_when_it_changed(reader: Erp) -> None:
    page = reader.get("/console/receipts/12")
    assert page.headers["Cache-Control"] == "no-cache"
    tag = page.headers["ETag"]
    assert TREE.version in tag

    def status(path: str, known: str) -> int:
        return reader.get(path, headers={"If-None-Match": known}).status

    for known in (tag, f'"other", {tag}', "*"):
        again = reader.get("/console/stocks/7", headers={"If-None-Match": known})
        assert (again.status, again.text, again.headers["ETag"]) == (304, "", tag)
    assert status("/console/receipts", tag) == 200, "the base differs"
    assert status("/console/receipts/12", tag.replace(TREE.version, "0" * 16)) == 200


@each_case("path", ["/console", "/console/", "/console/receipts", f"{FILES}/main.js"])
def test_head_has_the_headers_of_get_without_content(reader: Erp, path: str) -> None:
    get, head = reader.get(path), reader.send("HEAD", path)
    assert head.status == get.status
    assert {**head.headers, "x-request-id": ""} == {**get.headers, "x-request-id": ""}
    assert call("HEAD", path)["body"] == ""


def call(method: str, path: str, handler: Any = lambda_handler) -> Mapping[str, Any]:
    """Return what a function returns to API Gateway."""
    context = {"requestId": "r", "identity": {}}
    event = {"httpMethod": method, "path": f"/v1{path}", "requestContext": context}
    response: Mapping[str, Any] = handler(event, None)
    return response


@each_case("path", ["/console/", f"{FILES}/main.js", "/console/nothing"])
def test_page_may_load_and_call_the_service_only(reader: Erp, path: str) -> None:
    headers = reader.get(path).headers
    rules = dict(rule.split(" ", 1) for rule in headers["Content-Security-Policy"].split("; "))
    assert rules == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' data: blob:",
        "connect-src": "'self' https://drops.s3.eu-west-1.amazonaws.com"
        " https://reports.s3.eu-west-1.amazonaws.com",
        "manifest-src": "'self'",
        "worker-src": "'self'",
        "base-uri": "'self'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    floor = reader.get("/console/floor/pickings/12").headers["Content-Security-Policy"]
    policy = headers["Content-Security-Policy"]
    assert floor == policy.replace("script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'")
    assert {name: headers[name] for name in SECURITY_HEADERS} == SECURITY_HEADERS
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"


@pytest.mark.parametrize(
    ("region", "local"),
    [
        ("eu-west-1", None),
        ("us-east-1", None),
        ("cn-north-1", None),
        ("us-east-1", "http://127.0.0.1:4566"),
    ],
)
def test_page_may_send_and_read_files_where_the_service_tells(
    region: str, local: str | None
) -> None:
    storage: Any = session().create_client(
        "s3",
        region_name=region,
        endpoint_url=local,
        config=_config_of("s3"),
        aws_access_key_id="a",
        aws_secret_access_key="b",
    )
    report = {"Bucket": "reports", "Key": "acme/1"}
    links = [
        urlsplit(storage.generate_presigned_post("drops", "acme/1")["url"]),
        urlsplit(storage.generate_presigned_url("get_object", Params=report)),
    ]
    environment = {
        "AWS_DEFAULT_REGION": region,
        "IMPORT_BUCKET": "drops",
        "IMPORT_WORK_BUCKET": "reports",
    }
    if local:
        environment["AWS_ENDPOINT_URL"] = local
    assert _storage(environment).split() == list(
        dict.fromkeys(f"{one.scheme}://{one.netloc}" for one in links)
    )


def test_service_is_reachable_behind_the_base_path_of_a_domain() -> None:
    reader = Erp(Gateway(Template({}), "acme.wms.example", "/api"), None)
    for path in ("/console", "/console/receipts/12", f"{FILES}/main.js"):
        assert reader.get(path).status == 200


@pytest.mark.parametrize(
    ("path", "logged", "route"),
    [
        ("/console", "/console", "/console"),
        ("/console/", "/console/", "/console"),
        ("/console/receipts/12", "/console/receipts", "/console"),
        (f"{FILES}/main.js", f"{FILES}/main.js", "/console/{version}/{file}"),
        ("/console/eyJhbGciOiJFUzI1NiJ9.e30.c2ln", "/console", "unknown"),
    ],
)
def test_log_line_has_the_form_of_the_other_functions(
    path: str,
    logged: str,
    route: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("functions.reference.app.config", lambda: SimpleNamespace(docs_base=DOCS))
    answer = call("GET", path)
    line = json.loads(capsys.readouterr().out)
    with captured() as written:
        call("GET", "/docs" if answer["statusCode"] == 200 else "/docs/nothing", reference)
    (usual,) = written.lines("answered")

    assert line.keys() == usual.keys() - {"location"}
    assert {name: type(value) for name, value in line.items()} == {
        name: type(usual[name]) for name in line
    }
    assert (line["path"], line["route"], line["status"]) == (logged, route, answer["statusCode"])
    assert line["request_id"] == "r"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["timestamp"])


def test_fewer_log_lines_on_request(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("POWERTOOLS_LOG_LEVEL", "WARNING")
    call("GET", "/console/")
    assert capsys.readouterr().out == ""
