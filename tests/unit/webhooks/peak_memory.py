"""A program that posts to hostile endpoints and prints its peak memory.

Its arguments are ports on loopback. It prints the errors in one line, and the growth of its peak
memory in kB in the next line.
"""

import sys
from pathlib import Path

import pytest

from shared.integration.webhooks import http_client
from shared.integration.webhooks.http_client import post_event
from tests.unit.webhooks.fake_internet import ADDRESS, HOST, URL
from tests.unit.webhooks.fake_resolver import FakeResolver

_STATUS = Path("/proc/self/status")


def peak_kb() -> int:
    """Return the peak memory of this process in kB."""
    return int(_STATUS.read_text().partition("VmHWM:")[2].split()[0])


def main() -> None:
    """Post to each port, after an attempt that fails."""
    connect = http_client._connect_to_address
    http_client._tls_context()
    ports = [1, *map(int, sys.argv[1:])]
    upcoming = iter(ports)
    errors = []
    peaks = []
    with pytest.MonkeyPatch.context() as patch:
        FakeResolver.install(patch).set_addresses(HOST, ADDRESS)
        patch.setattr(
            http_client,
            "_connect_to_address",
            lambda *_: connect("127.0.0.1", next(upcoming), 60.0),
        )
        for _ in ports:
            errors.append(str(post_event(URL, b"{}", {}, seconds=60.0).error))
            peaks.append(peak_kb())
    sys.stdout.write(f"{'; '.join(errors[1:])}\n{peaks[-1] - peaks[0]}\n")


if __name__ == "__main__":
    main()
