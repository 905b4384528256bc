"""Snapshots of initialized functions (SnapStart): what must be unique is not in them."""

import json
from typing import Any

from tests.subprocesses import output_of
from tests.template import Template

MODULES = sorted(
    function["Handler"].removesuffix(".lambda_handler")
    for function in Template({}).resources("AWS::Serverless::Function").values()
)
HARMLESS = {
    "logging/__init__.py: time.time_ns",  # for `relativeCreated` of a log line, which is not logged
    "multiprocessing/process.py: os.urandom",  # the key of a connection between processes
    "parser/_parser.py: time.localtime",  # the century of years with two digits, which are refused
    "python3.13/socket.py: socket.__new__",  # urllib3 tries IPv6 and closes the socket
    "util/connection.py: socket.bind",
}


def imported(*modules: str) -> Any:
    return json.loads(output_of("-m", "tests.import_probe", *modules))


def test_environments_of_a_snapshot_share_nothing_that_must_be_unique() -> None:
    """What all functions import takes no random number, time or connection; random has a hook."""
    result = imported(*MODULES)
    assert set(result["taken"]) - HARMLESS == set()
    assert (result["held"], result["threads"]) == ([], 1)
    assert result["new_seed"]


def test_the_probe_sees_what_an_import_takes() -> None:
    result = imported("tests.unit.taken_by_import")
    own = "unit/taken_by_import.py: "
    assert {call.removeprefix(own) for call in result["taken"] if call.startswith(own)} == {
        "datetime.now",
        "os.urandom",
        "random.random",
        "ssl.create_default_context",
        "time.time",
        "uuid.uuid4",
    }
    assert result["held"] == ["Random", "SSLContext"]
    assert not result["new_seed"]
