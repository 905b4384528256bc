"""Start, stop and reset the local stack.

The targets run, stop, clean and e2e of the Makefile call this module. `python -m local.stack
--help` lists the commands.
"""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click
from rich.console import Console

from local import deployment, sample, sample_operations, server, tenants
from local.server import LocalRunFailed, Server
from local.settings import (
    DATA,
    DEFAULT_PORT,
    STACK_FILE,
    START_LOCK,
    STATE,
    aws_environment,
    state_file,
    write_atomically,
)
from local.tenant_access import pick_tenant
from operations.provisioning import list_tenants
from shared.integration.webhooks.relay import relay_missed_entries
from shared.kernel import aws

console = Console()

_PORT_HELP = f"Port on 127.0.0.1.  [default: that of the last run, or {DEFAULT_PORT}]"


def _start_stack(port: int | None) -> Server:
    """Start the emulator unless it runs, deploy, create tenants, load data, write stack.json."""
    STATE.mkdir(exist_ok=True)
    STATE.chmod(0o700)  # other accounts must not read the data, the logs and the secrets in it
    with _only_start():
        found = server.find()
        running = found or _start_emulator(_choose_port(port))
        _use(running)
        if deployment.first_start_was_cut_off():
            console.print("[yellow]The first start was cut off: starting again without data.[/]")
            server.stop(running)
            shutil.rmtree(DATA)
            found = None
            running = _start_emulator(running.port)
            _use(running)
        try:
            _deploy_and_provision(running)
        except BaseException:
            if not found:
                console.print("The start failed: stopping the emulator.")
                server.stop(running)
            raise
        return running


def _use(running: Server) -> None:
    """Let all AWS clients use an emulator; each start of it has another access key."""
    os.environ.update(aws_environment(running.endpoint))
    aws.session.cache_clear()
    aws.client.cache_clear()


def _start_emulator(port: int) -> Server:
    if lost := server.clear_after_crash():
        console.print(f"[yellow]{lost}[/]", soft_wrap=True)
    with _step("Starting the emulator"):
        return server.start(port)


@contextmanager
def _only_start() -> Iterator[None]:
    """Refuse a second start at the same time; the lock ends with the process that holds it."""
    with START_LOCK.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise LocalRunFailed(
                "Another `make run` is starting the stack. Wait for it."
            ) from error
        yield


def _choose_port(wanted: int | None) -> int:
    """Return the port; existing data keeps its port, because the URLs of its queues contain it."""
    last = server.last_run()
    is_bound = last is not None and state_file(DATA).exists()
    if last and is_bound and wanted not in {None, last.port}:
        raise LocalRunFailed(
            f"The data of the local stack was created with port {last.port}. Run `make run"
            f" PORT={last.port}`, or remove the data with `make clean`."
        )
    port = wanted or (last.port if last else DEFAULT_PORT)
    server.ensure_port_is_free(port, is_bound=is_bound)
    return port


def _deploy_and_provision(running: Server) -> None:
    with _step("Deploying the template"):
        deployment.deploy(running)
    os.environ.update(deployment.operator_environment())
    base_url = deployment.base_url(running)
    with _step("Creating the demo tenants"):
        made = tenants.provision(base_url, _read_stack_file().get("tenants", {}))
    _write_stack_file(
        {
            "base_url": base_url,
            "endpoint_url": running.endpoint,
            "import_bucket": deployment.outputs()["ImportBucket"],
            "tenants": made,
        }
    )
    with _step("Relaying events that the last run did not relay"):
        _relay_missed_events()
    with _step("Loading master data and documents of acme"):
        token = pick_tenant(made, "acme").request_token()
        sample.load(base_url, token)
    with _step("Creating receipts, pickings and other work of acme"):
        sample_operations.run(base_url, token)
    deployment.mark_first_start_complete()


def _relay_missed_events() -> None:
    """Relay the events of all tenants that were not relayed, not only those of the demo tenants."""
    for tenant in list_tenants():
        deque(relay_missed_entries(tenant.slug, older_than=0), maxlen=0)


@contextmanager
def _step(title: str) -> Iterator[None]:
    began = time.monotonic()
    console.print(f"{title} …")
    yield
    console.print(f"  [green]done[/] in {time.monotonic() - began:.1f} s")


def _read_stack_file() -> dict[str, Any]:
    """Return what the last start wrote; nothing if the file is missing or damaged."""
    if not STACK_FILE.exists():
        return {}
    try:
        content: dict[str, Any] = json.loads(STACK_FILE.read_text())
    except ValueError:
        console.print(f"[yellow]{STACK_FILE} is damaged: the tenants get new credentials.[/]")
        return {}
    return content


def _write_stack_file(stack: dict[str, Any]) -> None:
    write_atomically(STACK_FILE, json.dumps(stack, indent=2) + "\n")


def _print_summary() -> None:
    stack = _read_stack_file()
    acme = stack["tenants"]["acme"]
    # Plain print, because rich would wrap lines that are meant to be copied.
    shown = ("plan", "client_id", "client_secret", "username", "password")
    rows = [["tenant", *shown]]
    rows += [[slug, *(known[name] for name in shown)] for slug, known in stack["tenants"].items()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    print()
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)))
    print(f"\nBase address      {stack['base_url']}")
    print(f"Web console       {stack['base_url']}/console/")
    print(f"Floor (scanning)  {stack['base_url']}/console/floor/")
    print(f"                  sign in as {acme['username']} with {acme['password']}")
    print(f"All credentials   {STACK_FILE}\n\nTry it:\n")
    print(f"TOKEN=$(curl -s -u {acme['client_id']}:{acme['client_secret']} \\")
    print(f"  -d grant_type=client_credentials {stack['base_url']}/oauth/token |")
    print("  python3 -c 'import json,sys; print(json.load(sys.stdin)[\"access_token\"])')")
    print(f'curl -s -H "Authorization: Bearer $TOKEN" "{stack["base_url"]}/products?per_page=2"\n')


def _stop_stack() -> bool:
    running = server.find()
    if running is None:
        server.end_leftovers()
        return False
    with _step("Stopping the stack"):
        in_order = server.stop(running)
    if not in_order:
        console.print("[red]The emulator had to be killed: its last changes are lost.[/]")
    return True


@click.group(help=__doc__)
def main() -> None:
    """Group the commands."""
    # SIGTERM ends every command in the same way as Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)


@main.command()
@click.option("--detach", is_flag=True, help="Return as soon as the stack is ready.")
@click.option("--port", type=click.IntRange(1024, 64000), help=_PORT_HELP)
def start(*, detach: bool, port: int | None) -> None:
    """Start the stack, or deploy changed code to the running stack."""
    was_running = server.find() is not None
    running = _start_stack(port)
    _print_summary()
    if detach or was_running:
        console.print("The stack runs in the background. Stop it with [bold]make stop[/].")
        return
    console.print("Press Ctrl-C to stop the stack; its data is kept.")
    try:
        while running.alive():
            time.sleep(1)
    except KeyboardInterrupt:
        _stop_stack()
        return
    raise LocalRunFailed(
        "The emulator ended unexpectedly. Start it again with `make run`, which restores its data."
        f" The last lines of its log:\n{server.log_tail()}"
    )


@main.command()
def stop() -> None:
    """Stop the stack; its data is kept."""
    if not _stop_stack():
        console.print("The stack is not running.")


@main.command()
def clean() -> None:
    """Stop the stack and remove its data."""
    _stop_stack()
    for path in (DATA, STATE / "tmp"):
        shutil.rmtree(path, ignore_errors=True)
    STACK_FILE.unlink(missing_ok=True)


@main.command(name="with", context_settings={"ignore_unknown_options": True})
@click.option("--port", type=click.IntRange(1024, 64000), help=_PORT_HELP)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def run_with(*, port: int | None, command: Sequence[str]) -> None:
    """Run a command against the running stack; start and stop the stack if it does not run."""
    was_running = server.find() is not None
    if not was_running:
        _start_stack(port)
    try:
        done = subprocess.run(list(command), check=False)
    finally:
        if not was_running:
            _stop_stack()
    sys.exit(done.returncode)


if __name__ == "__main__":
    try:
        main()
    except LocalRunFailed as problem:
        console.print(f"[red]{problem}[/]", soft_wrap=True)
        sys.exit(1)
