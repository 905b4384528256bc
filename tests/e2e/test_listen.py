"""`make listen` with the deployed stack."""

import re
from subprocess import Popen

import httpx

from tests.subprocesses import python


def _wait_for_line(running: Popen[str], pattern: str) -> re.Match[str]:
    """Wait for a matching line; other tests may cause more lines."""
    assert running.stdout is not None
    for line in running.stdout:
        if found := re.match(pattern, line):
            return found
    raise AssertionError(f"the program ended without {pattern}")


def test_events_are_printed_as_they_arrive(beta: httpx.Client, run: str) -> None:
    listening = ["-m", "local.listen", "--tenant", "beta", "--port", "0"]
    with python(*listening, PYTHONUNBUFFERED="1") as running:
        number = int(_wait_for_line(running, r"Subscription (\d+) sends every event")[1])
        created = beta.post("/products", json={"item_code": f"LISTEN-{run}", "name": "Drum"}).json()
        product = created["data"]["id"]
        _wait_for_line(running, rf"new +product\.created +product {product} ")
        assert beta.post(f"/webhooks/{number}/rotate-secret").status_code == httpx.codes.OK
        assert beta.post(f"/webhooks/{number}/test").status_code == httpx.codes.ACCEPTED
        _wait_for_line(running, rf"new +webhook\.test +webhook {number} ")

        running.terminate()
        rest, errors = running.communicate(timeout=120)
    assert f"Deleted subscription {number}." in rest
    assert (errors, running.returncode) == ("", 0)
    assert beta.get(f"/webhooks/{number}").status_code == httpx.codes.GONE
