"""Import modules and print what the imports leave in memory, as one JSON object.

Every execution environment of a snapshot (SnapStart) has the same memory. `taken` lists the calls
that took random numbers, times or connections (`FILE: CALL`), `held` the types of objects that must
not be copied, `threads` is the number of threads, and `new_seed` is whether the hooks that run
after a restore seed the module `random` again.
"""

import datetime as dt
import functools
import gc
import importlib
import json
import os
import random
import secrets
import socket
import ssl
import sys
import threading
import time
import traceback
import uuid
from pathlib import Path
from types import ModuleType
from typing import Any

import snapshot_restore_py

_SOURCES = {
    time: ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "gmtime", "localtime"),
    os: ("urandom", "getrandom"),
    uuid: ("uuid1", "uuid4", "getnode"),
    random: ("random", "uniform", "randrange", "randint", "getrandbits", "choice"),
    secrets: ("token_bytes", "token_hex", "token_urlsafe", "randbelow", "choice"),
    socket: ("getaddrinfo", "create_connection", "gethostname"),
    ssl: ("create_default_context",),
}
_CHANGES = ("socket.", "subprocess.", "os.fork", "os.posix_spawn", "os.system", "os.putenv")
"""Beginnings of audit events that reach beyond the process, or change its environment."""

_found: set[str] = set()


def _note(call: str) -> None:
    frames = [frame.filename for frame in traceback.extract_stack() if frame.filename[0] != "<"]
    outside = [name for name in frames if name != __file__]
    _found.add("/".join(Path(outside[-1]).parts[-2:] if outside else ()) + f": {call}")


def _watched(module: ModuleType, name: str) -> Any:
    original = getattr(module, name)
    call = f"{module.__name__}.{name}"

    @functools.wraps(original)
    def called(*arguments: Any, **options: Any) -> Any:
        _note(call)
        return original(*arguments, **options)

    return called


class _DateTime(dt.datetime):
    """The type `datetime`, whose constructors from the clock are watched."""

    @classmethod
    def now(cls, tz: dt.tzinfo | None = None) -> "_DateTime":
        _note("datetime.now")
        return super().now(tz)

    @classmethod
    def utcnow(cls) -> "_DateTime":
        _note("datetime.utcnow")
        return super().utcnow()


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event.startswith(_CHANGES):
        _note(event)
    elif (
        event == "open" and isinstance(arguments[0], str) and set(arguments[1] or "") & set("wax+")
    ):
        _note("write a file")


def watch() -> None:
    """Note from now on every call that takes a random number, the time or a connection."""
    for module, names in _SOURCES.items():
        for name in names:
            setattr(module, name, _watched(module, name))
    dt.datetime = _DateTime  # type: ignore[misc]
    sys.addaudithook(_audit)


def _held() -> set[str]:
    """Return the types of living objects that must not be copied."""
    kinds = (random.Random, socket.socket, ssl.SSLContext)
    shared = (random._inst, secrets._sysrand)  # type: ignore[attr-defined]
    found = [one for one in gc.get_objects() if isinstance(one, kinds)]
    return {type(one).__name__ for one in found if one not in shared}


def _seeds_again() -> bool:
    before = random.getstate()
    for function, arguments, options in snapshot_restore_py.get_after_restore():
        function(*arguments, **options)
    return random.getstate() != before


def main(modules: list[str]) -> None:
    """Import the modules and print the result."""
    watch()
    for module in modules:
        importlib.import_module(module)
    result = {
        "taken": sorted(_found),
        "held": sorted(_held()),
        "threads": threading.active_count(),
        "new_seed": _seeds_again(),
    }
    print(json.dumps(result))  # noqa: T201 - the result


if __name__ == "__main__":
    main(sys.argv[1:])
