"""Clients generated from the OpenAPI document compile, and their calls work on the stack."""

import json
import os
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
GENERATOR = "openapi-python-client==0.29.1"


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


def _calls(output: str) -> int:
    return int(output.split(" calls", maxsplit=1)[0])


def test_generated_python_client(tmp_path: Path, access: dict[str, str]) -> None:
    config = HERE / "openapi-python-client.yaml"
    said = _run(
        "uv", "tool", "run", "--from", GENERATOR, "openapi-python-client", "generate",
        "--path", DOCUMENT, "--config", config, "--output-path", "stowage_client",
        "--meta", "none", "--fail-on-warning",
        cwd=tmp_path,
    )  # fmt: skip
    assert "warning" not in said.lower()
    models = list((tmp_path / "stowage_client" / "models").iterdir())
    document = json.loads(DOCUMENT.read_text())
    operations = sum(len(path) for path in document["paths"].values())
    few = len(document["components"]["schemas"]) + operations
    assert len(models) < few, "each operation has models of its own again"
    assert not [model.name for model in models if "VALUE_" in model.read_text()]
    for name in ("driver.py", "mypy.ini"):
        shutil.copy(HERE / name, tmp_path)

    _run("mypy", "--config-file", "mypy.ini", "driver.py", cwd=tmp_path)

    assert _calls(_run("python", "driver.py", cwd=tmp_path, **access)) >= 20


def test_generated_typescript_client(tmp_path: Path, access: dict[str, str]) -> None:
    _run(ROOT / "tools" / "node" / "install.sh", cwd=ROOT)
    for name in ("driver.ts", "tsconfig.json", "package.json"):
        shutil.copy(HERE / name, tmp_path)
    (tmp_path / "node_modules").symlink_to(NODE_TOOLS)
    bin_folder = NODE_TOOLS / ".bin"
    _run(bin_folder / "openapi-typescript", DOCUMENT, "-o", "stowage.d.ts", cwd=tmp_path)

    _run(bin_folder / "tsc", "-p", ".", cwd=tmp_path)

    assert _calls(_run("node", "driver.js", cwd=tmp_path, **access)) >= 20


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
    assert {*answers.values()} <= {200, 404, 410}
    read = ("List products", "Get a position", "Get an exit document", "Get the settings")
    assert {answers[name] for name in read} == {200}
