"""The floors of the code: which part may import which."""

import re
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.import_graph import imports_below, modules_below

ROOT = Path(__file__).parents[2]

FLOORS = (
    # kernel: what any service of this kind needs
    "shared.kernel.precompiled",
    "shared.kernel.errors",
    "shared.kernel.action_table",
    "shared.kernel.json_text",
    "shared.kernel.clock",
    "shared.kernel.config",
    "shared.kernel.observability",
    "shared.kernel.tracing",
    "shared.kernel.caller",
    "shared.kernel.sent_request",
    "shared.kernel.uploaded_file",
    "shared.kernel.randomness",
    "shared.kernel.aws_calls",
    "shared.kernel.dynamodb_json",
    "shared.kernel.aws",
    "shared.kernel.sealing",
    "shared.kernel.queue",
    "shared.kernel.dead_letters",
    "shared.kernel.tenant_files",
    "shared.kernel.spreadsheets",
    "shared.kernel.validation",
    "shared.kernel.differences",
    "shared.kernel.fields",
    "shared.kernel.metadata",
    "shared.kernel.calendar_days",
    "shared.kernel.company",
    "shared.kernel.db",
    "shared.kernel.queued_work",
    "shared.kernel.references",
    "shared.kernel.list_parameters",
    "shared.kernel.events",
    # identity: who is asking, and for which company
    "shared.identity.tenancy",
    "shared.identity.auth.clients",
    "shared.identity.names",
    "shared.identity.audit",
    "shared.identity.request_log",
    "shared.identity.webhook_deactivation",
    "shared.identity.auth",
    "shared.identity.users",
    # warehouse: the warehouse domain
    "shared.warehouse.master_data.uses",
    "shared.warehouse.work",
    "shared.warehouse.approvals",
    "shared.warehouse.gs1",
    "shared.warehouse.labels",
    "shared.warehouse.catalog",
    "shared.warehouse.partners",
    "shared.warehouse.warehouses",
    "shared.warehouse.layout",
    "shared.warehouse.master_data",
    "shared.warehouse.pick_faces",
    "shared.warehouse.scanning",
    "shared.warehouse.settings",
    "shared.warehouse.stock",
    "shared.warehouse.holds",
    "shared.warehouse.documents",
    "shared.warehouse.receiving",
    "shared.warehouse.picking",
    "shared.warehouse.packing",
    "shared.warehouse.transfers",
    "shared.warehouse.transfer_orders",
    "shared.warehouse.returns",
    "shared.warehouse.rfid",
    "shared.warehouse.waves",
    "shared.warehouse.counts",
    "shared.warehouse.replenishment",
    "shared.warehouse.putaway",
    # integration: what connects to the outside
    "shared.integration.imports",
    "shared.integration.webhooks",
    "shared.integration.changes",
    "shared.integration.exports",
    "shared.integration.reconciliations",
    "shared.http",
    "functions",
    "operations",
    "cli",
)
"""Every package and module of the service. Each imports only from itself and from those before."""

_SUBJECTS = ("shared.warehouse.", "shared.integration.")
_SHARED_BY_SUBJECTS = (
    "shared.warehouse.gs1.", "shared.warehouse.master_data.", "shared.warehouse.work.",
)  # fmt: skip
"""Packages that hold what several subjects share: each of their modules may be imported."""
_CATCH_ALL_NAMES = {"common", "helpers", "misc", "utils"}
_ENTRY_POINTS = {
    "adjustment_lines", "adjustment_models", "allocation", "changes", "codes", "dispatch",
    "drafts", "expiry", "file_rows", "gtins", "level_book", "lines", "listed_objects",
    "models", "need", "picks", "posting", "reading",
    "renames", "service", "several_lines", "undo_picks", "unit_quantities", "values", "vocabulary",
}  # fmt: skip
"""Modules of a subject that another subject may import. Never a repository: only the subject that
owns an item reads and writes it."""


def _graph(root: Path) -> dict[str, set[str]]:
    """Return the modules of ours that each module imports."""
    found = imports_below(root)
    return {name: found.keys() & imported for name, imported in found.items()}


def _floor(module: str) -> int | None:
    """Return the position of a module in FLOORS; None for the package of a whole group."""
    for position, floor in enumerate(FLOORS):
        if module == floor or module.startswith(f"{floor}."):
            return position
    return None


def _violation(importer: str, imported: str) -> str | None:
    """Return the rule that one import breaks; None when it breaks none."""
    if importer == "shared":
        return None if imported == FLOORS[0] else "the package imports what prepares a process"
    here, there = _floor(importer), _floor(imported)
    assert here is not None, f"{importer} is on no floor"
    if here == there:
        return None
    module = imported.rpartition(".")[2]
    is_inside_subject = imported.startswith(_SUBJECTS) and not imported.startswith(
        _SHARED_BY_SUBJECTS
    )
    broken = {
        "packages that group floors hold no code": there is None,
        "a floor imports only from those before it": there is not None and here < there,
        "operations import no function": importer.startswith("operations.")
        and imported.startswith("functions."),
        "subjects meet through a service": is_inside_subject
        and importer.startswith(_SUBJECTS)
        and module not in _ENTRY_POINTS,
        "a function calls the service": is_inside_subject
        and importer.startswith("functions.")
        and module in {"repository", "rules"},
    }
    return next((rule for rule, is_broken in broken.items() if is_broken), None)


def violations(root: Path) -> list[str]:
    """Return every import below `root` that breaks a rule."""
    return [
        f"{importer} imports {imported}: {rule}"
        for importer, imports in _graph(root).items()
        for imported in imports
        if (rule := _violation(importer, imported))
    ]


def test_each_floor_imports_only_from_those_before_it() -> None:
    assert violations(ROOT) == []


def test_every_floor_exists_and_none_is_missing_from_the_list() -> None:
    groups = {
        "shared",
        "shared.kernel",
        "shared.identity",
        "shared.warehouse",
        "shared.integration",
    }
    modules = set(modules_below(ROOT))
    assert [floor for floor in FLOORS if floor not in modules] == []
    assert [name for name in sorted(modules - groups) if _floor(name) is None] == []


def test_no_two_files_import_each_other() -> None:
    try:
        TopologicalSorter(_graph(ROOT)).prepare()
    except CycleError as error:
        pytest.fail(f"import cycle: {error.args[1]}")


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("shared/kernel/db/store.py", "from shared.warehouse.catalog import service"),
        ("shared/kernel/clock.py", "from shared.kernel.db import store"),
        ("shared/identity/tenancy/directory.py", "from shared.identity.users import service"),
        ("shared/warehouse/catalog/service.py", "from shared.http.envelope import HttpResponse"),
        ("shared/warehouse/catalog/service.py", "import shared.warehouse.documents.service"),
        (
            "shared/warehouse/documents/rules.py",
            "def late():\n    from shared.warehouse.catalog import repository",
        ),
        ("shared/warehouse/catalog/service.py", "from functions.catalog.app import routes"),
        ("functions/oauth/app.py", "from shared.warehouse.catalog.repository import PRODUCTS"),
        ("functions/oauth/app.py", "from operations.export import export_tenant"),
        ("operations/export.py", "from functions.catalog.app import routes"),
    ],
)
def test_a_planted_violation_is_found(tmp_path: Path, module: str, line: str) -> None:
    for name in (
        "functions/catalog/app.py", "operations/export.py", "shared/http/envelope.py",
        "shared/kernel/db/store.py", "shared/identity/users/service.py",
        "shared/warehouse/catalog/repository.py", "shared/warehouse/catalog/service.py",
        "shared/warehouse/documents/service.py", module,
    ):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / module).write_text(line + "\n")

    assert len(violations(tmp_path)) == 1


def test_no_module_has_a_catch_all_name() -> None:
    found = [name for name in modules_below(ROOT) if name.rpartition(".")[2] in _CATCH_ALL_NAMES]
    assert found == []


def test_only_webhook_deliveries_open_connections() -> None:
    """Nothing else connects to an address that a request or a file contains."""
    network = {"socket", "ssl", "http.client", "urllib.request", "urllib3", "requests", "httpx"}
    found = {
        name
        for name, imports in imports_below(ROOT).items()
        if name.startswith(("shared.", "functions."))
        for imported in imports
        if imported in network or imported.startswith("urllib3.")
    }
    assert found == {
        "functions.canary.app",  # the API of the stack
        "shared.integration.webhooks.http_client",
        "shared.integration.webhooks.target_urls",  # resolves host names
        "shared.kernel.tracing",  # the X-Ray daemon, whose address Lambda gives
    }


def test_no_two_public_classes_have_the_same_name() -> None:
    classes = Counter(
        name
        for path in modules_below(ROOT).values()
        for name in re.findall(r"^class ([A-Za-z]\w*)", path.read_text(), re.MULTILINE)
    )
    assert [name for name, count in classes.items() if count > 1] == []
