"""The Python client of the Model Context Protocol works with the tools of agents."""

import os
import subprocess
import sys
from pathlib import Path

import httpx

from shared.identity.auth import tokens
from tests.e2e.conftest import Deployed, client_of, operator_access, token_of_tenant
from tests.e2e.responses import fields

ROOT = Path(__file__).parents[2]


def _supervisor(token: str) -> str:
    """Return the token of a user who decides on approvals, of the tenant of a token."""
    claims = tokens._json(token.split(".")[1])
    user = {"sub": "1", "kind": "user", "permissions": "inventory.manage approvals.grant"}
    return tokens.sign_claims(claims | user | {"second_factor": True})


def _prepare(erp: httpx.Client, run: str) -> None:
    """Create a warehouse, unless an earlier run made it, and a product."""
    for path, body, code in (
        ("/warehouses", {"whs_code": "AGE", "name": "Agents"}, "whs_code"),
        ("/warehouse-positions", {"whs_code": "AGE", "bin_code": "A-01"}, "bin_code"),
        ("/products", {"item_code": f"AGENT-{run}", "name": "Product of agents"}, "item_code"),
    ):
        made = erp.post(path, json=body)
        assert made.status_code == httpx.codes.CREATED or fields(made) == [code], made.text
    changed = erp.patch("/settings", json={"approval_adjustment_qty": 10})
    assert changed.status_code == httpx.codes.OK, changed.text


def test_python_client_works_with_the_tools(stack: Deployed, run: str, tmp_path: Path) -> None:
    token = token_of_tenant(stack, "agents")
    with operator_access(stack):
        supervisor = _supervisor(token)
    with client_of(stack.base_url, token) as erp:
        _prepare(erp, run)
    known = {"BASE_URL": stack.base_url, "TOKEN": token, "SUPERVISOR": supervisor, "RUN": run}
    done = subprocess.run(  # noqa: S603 - fixed commands
        [
            *("uv", "run", "--no-project", "--python", sys.executable, "--with", "mcp==2.3.0"),
            *("python", str(ROOT / "tests/e2e/agent_story.py")),
        ],
        check=False,
        cwd=tmp_path,
        env={**os.environ, **known},
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines()[-1:] == ["worked"], done.stderr[-3000:]
