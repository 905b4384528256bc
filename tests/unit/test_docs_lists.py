"""Lists that the pages show have each entry of the code and the template, and no other."""

import ast
import re
from pathlib import Path
from typing import get_args

from shared.identity.tenancy import directory
from shared.identity.tenancy.tenant import State
from shared.kernel.errors import CODES
from shared.warehouse.settings.models import SettingsChange

ROOT = Path(__file__).parents[2]


def _rows(name: str, header: str) -> list[str]:
    """Return the rows of the table of a page with a header."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return text.partition(header + "\n")[2].partition("\n\n")[0].splitlines()[1:]


def _column(name: str, header: str) -> list[str]:
    """Return what is in backticks in the first column of the table with a header."""
    cells = [row.split("|")[1] for row in _rows(name, header)]
    return [part for cell in cells for part in re.findall(r"`([^`]+)`", cell)]


def test_page_lists_the_states_of_a_tenant() -> None:
    header = "| State | API requests | Token requests | Webhooks, imports | Data |"
    states = {*get_args(State.__value__), *directory.HIDDEN_STATES}
    assert set(_column("docs/operating/operating.md", header)) == states


def test_page_lists_what_the_settings_route_changes() -> None:
    names = _column("docs/guides/settings.md", "| Field | Values | Meaning |")
    fields = {"modules" if "." in name else name for name in names}
    assert fields == set(SettingsChange.model_fields)


def test_page_lists_the_codes_of_the_command_line() -> None:
    """The second argument of a failure of a command is its code."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "cli").glob("*.py")]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    codes = {
        str(call.args[1].value)
        for call in calls
        if isinstance(call.func, ast.Name)
        and call.func.id == "CommandFailed"
        and isinstance(call.args[1], ast.Constant)
    }
    header = "| Exit code | Meaning | Codes of `--json` in addition to those of the API |"
    cells = [row.split("|")[3] for row in _rows("docs/operating/operating.md", header)]
    listed = [code for cell in cells for code in re.findall(r"`([^`]+)`", cell)]
    assert sorted(listed) == sorted(codes - {*CODES})
