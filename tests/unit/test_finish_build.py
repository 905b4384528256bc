"""The build keeps what the functions use."""

import re
from pathlib import Path

from tools.finish_build import KEPT_SERVICES

ROOT = Path(__file__).parents[2]


def test_the_build_keeps_the_description_of_every_service_that_the_functions_call() -> None:
    called = {
        name
        for folder in ("shared", "functions")
        for path in (ROOT / folder).rglob("*.py")
        for name in re.findall(r"\bclient(?:_as)?\(\s*\"(\w+)\"", path.read_text(encoding="utf-8"))
    }
    assert called == KEPT_SERVICES
