"""The dlt source of the examples loads lists into DuckDB, changes and deletions included."""

import os
import subprocess
import sys
from pathlib import Path

from tests.e2e.conftest import Deployed

ROOT = Path(__file__).parents[2]


def test_lists_are_loaded_into_duckdb(stack: Deployed, run: str, tmp_path: Path) -> None:
    acme = stack.tenants["acme"]
    known = {
        "BASE_URL": acme.base_url, "CLIENT_ID": acme.client_id, "RUN": run,
        "CLIENT_SECRET": acme.client_secret, "PYTHONPATH": str(ROOT),
        "DLT_DATA_DIR": str(tmp_path / "dlt"), "RUNTIME__DLTHUB_TELEMETRY": "false",
    }  # fmt: skip
    done = subprocess.run(  # noqa: S603 - fixed commands
        [
            *("uv", "run", "--no-project", "--python", sys.executable),
            *("--with", "dlt[duckdb]==1.31.0", "--with", "httpx"),
            *("python", "-m", "tests.e2e.dlt_loads"),
        ],
        check=False,
        cwd=tmp_path,
        env={**os.environ, **known},
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines()[-1:] == ["loaded"], done.stderr[-3000:]
