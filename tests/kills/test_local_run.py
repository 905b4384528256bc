"""Kill parts of the local run at several moments: `make run` then serves the code of the tree.

`make kills` runs these tests in a copy of the working tree, so a stack of the developer is not
touched. They build on each other and take about five minutes on a machine that is otherwise idle;
`make run` needs the build of `make build`.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from local.processes import Process, kill, list_processes

ROOT = Path(__file__).parents[2]
PORT = int(os.environ.get("PORT", "4620"))
_LEFT_OUT = shutil.ignore_patterns(
    ".git", ".local", ".venv", ".*_cache", "__pycache__", ".hypothesis"
)
_SERVED = "functions/fallback/app.py"
_TEXT = "The path"
"""A text in this file of the functions; the answer to an unknown route begins with it."""
_MINUTES = 15


@dataclass(frozen=True, slots=True)
class Checkout:
    """A copy of the working tree with a local stack of its own."""

    root: Path

    def run(self, *arguments: str) -> str:
        """Run make; return its output."""
        done = subprocess.run(  # noqa: S603
            self._make(*arguments), cwd=self.root, env=self._environment(), check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=_MINUTES * 60,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
        return done.stdout

    def begin_start(self) -> subprocess.Popen[bytes]:
        """Begin `make run` and return while it runs."""
        return subprocess.Popen(  # noqa: S603
            self._make("run", "DETACH=1"), cwd=self.root, env=self._environment(),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def _make(self, *arguments: str) -> list[str]:
        return ["make", *arguments, f"PORT={PORT}"]

    def _environment(self) -> dict[str, str]:
        return dict(os.environ) | {"PYTHONPATH": str(self.root)}

    @property
    def supervisor(self) -> list[Process]:
        """The processes of `make run` itself, but not what they started."""
        return [
            process
            for process in list_processes("local.stack start", f"--port {PORT}")
            if "make" not in process.command
        ]

    @property
    def emulator(self) -> list[Process]:
        return list_processes("local.emulator", str(self.root))

    @property
    def functions(self) -> list[Process]:
        return list_processes("ministack-lambda-", str(self.root))

    @property
    def deployment(self) -> list[Process]:
        return list_processes("sam", " deploy ", str(self.root))

    def change_code(self, text: str) -> None:
        """Change the beginning of the answer to an unknown route."""
        original = (ROOT / _SERVED).read_text()
        assert f'"{_TEXT} ' in original
        (self.root / _SERVED).write_text(original.replace(f'"{_TEXT} ', f'"{text} '))

    @property
    def saved_at(self) -> float:
        """Time of the last save of the emulator's state."""
        return (self.root / ".local/data/state.json").stat().st_mtime

    @property
    def answer(self) -> str:
        """What the functions answer to an unknown route."""
        return str(httpx.get(f"{self.stack['base_url']}/unknown", timeout=60).json()["message"])

    @property
    def stack(self) -> Any:
        return httpx.Response(200, content=(self.root / ".local/stack.json").read_bytes()).json()

    def erp(self) -> httpx.Client:
        """Return an HTTP client of the tenant beta with the credentials of stack.json."""
        beta = self.stack["tenants"]["beta"]
        granted = httpx.post(
            f"{beta['base_url']}/oauth/token", data={"grant_type": "client_credentials"},
            auth=(beta["client_id"], beta["client_secret"]), timeout=60,
        )  # fmt: skip
        assert granted.is_success, granted.text
        headers = {"Authorization": f"Bearer {granted.json()['access_token']}"}
        return httpx.Client(base_url=beta["base_url"], headers=headers, timeout=60)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checkout]:
    """A copy of the working tree with its build, whose first start was killed and repeated."""
    root = tmp_path_factory.mktemp("kills") / "stowage"
    shutil.copytree(ROOT, root, symlinks=True, ignore=_LEFT_OUT)
    (root / ".venv").symlink_to((ROOT / ".venv").resolve())
    (root / ".local").mkdir()
    (root / ".local" / "setup.stamp").touch()
    made = Checkout(root)
    try:
        yield made
    finally:
        kill([*made.supervisor, *made.deployment, *made.emulator, *made.functions])


def wait_for[T](value: Callable[[], T]) -> T:
    """Return a value as soon as it is true."""
    deadline = time.monotonic() + 300
    while not (found := value()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def test_first_start_that_was_killed_while_deploying_is_repeated(checkout: Checkout) -> None:
    starting = checkout.begin_start()
    wait_for(lambda: checkout.deployment)
    time.sleep(3)
    kill([*checkout.supervisor, *checkout.emulator])  # `sam deploy` goes on without them
    starting.wait()

    output = checkout.run("run", "DETACH=1")

    assert "without data" in output
    assert checkout.answer.startswith(_TEXT)


def test_data_saved_before_the_emulator_is_killed_is_restored(checkout: Checkout) -> None:
    with checkout.erp() as erp:
        assert erp.post("/warehouses", json={"whs_code": "SAVED", "name": "Saved"}).is_success
    changed_at = time.time()
    wait_for(lambda: checkout.saved_at > changed_at)
    old_functions = checkout.functions
    assert old_functions
    kill(checkout.emulator)

    output = checkout.run("run", "DETACH=1")

    assert "is restored, later changes are lost" in output
    with checkout.erp() as erp:
        assert erp.get("/warehouses", params={"whs_code": "SAVED"}).json()["meta"]["total"] == 1
    assert not set(old_functions) & set(checkout.functions)


def test_killed_function_processes_are_replaced(checkout: Checkout) -> None:
    kill(checkout.functions)
    answers = [
        httpx.get(f"{checkout.stack['base_url']}/unknown", timeout=60).status_code for _ in range(8)
    ]
    assert answers[-1] == 404
    with checkout.erp() as erp:
        assert erp.get("/warehouses").is_success


@pytest.mark.parametrize(
    "killed",
    [
        ("supervisor",),
        ("emulator",),
        ("supervisor", "deployment", "emulator", "functions"),
    ],
)
def test_deployment_that_was_killed_is_completed_by_the_next_start(
    checkout: Checkout, killed: tuple[str, ...]
) -> None:
    text = f"After a kill of {' and '.join(killed)}, this route"
    checkout.change_code(text)
    starting = checkout.begin_start()
    wait_for(lambda: checkout.deployment)
    time.sleep(5)  # into the update of the functions
    kill([process for part in killed for process in getattr(checkout, part)])
    starting.wait()

    checkout.run("run", "DETACH=1")

    assert checkout.answer.startswith(text)
    with checkout.erp() as erp:
        assert erp.get("/warehouses", params={"whs_code": "SAVED"}).json()["meta"]["total"] == 1


def test_stop_in_order_loses_nothing(checkout: Checkout) -> None:
    with checkout.erp() as erp:
        assert erp.post("/warehouses", json={"whs_code": "LAST", "name": "Last"}).is_success
    checkout.run("stop")
    assert not [*checkout.emulator, *checkout.functions]

    output = checkout.run("run", "DETACH=1")

    assert "did not stop in order" not in output
    with checkout.erp() as erp:
        assert erp.get("/warehouses", params={"whs_code": "LAST"}).json()["meta"]["total"] == 1
