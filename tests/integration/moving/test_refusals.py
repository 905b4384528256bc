"""Imports that are refused, each with one sentence that says what to do; the next try works."""

import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from operations import provisioning
from operations.deletion import delete_tenant
from operations.domains import list_domains
from operations.export import export_tenant
from operations.items_file import ITEMS_FILE
from operations.tenant_changes import show_tenant
from operations.tenant_import import import_tenant, open_export
from operations.tenant_rules import NewTenant
from shared.identity.tenancy.tenant import MODULES, PLANS
from shared.kernel import aws
from shared.kernel.config import config
from shared.kernel.db import schema
from shared.kernel.errors import Conflict, NotFound
from tests.cases import each_case
from tests.faults import AwsFaults, Killed, kill_after
from tests.import_scenario import ImportScenario, leave_all_to_worker
from tests.integration.call_faults import at_calls, die
from tests.integration.moving.crafted_exports import accept
from tests.integration.moving.two_deployments import (
    ADDRESS,
    PASSPHRASE,
    WORK_FILE,
    TwoDeployments,
    edit_manifest,
    import_export,
    table_items,
)
from tests.sampling import sampled


def _truncate(folder: Path) -> None:
    path = folder / ITEMS_FILE
    path.write_bytes(path.read_bytes()[:-1])


def _change(folder: Path) -> None:
    path = folder / "products.jsonl"
    path.write_text(path.read_text().replace("Cable", "Table"))


def _change_with_manifest(folder: Path) -> None:
    """Change the encrypted items, and their digest in the manifest."""
    path = folder / ITEMS_FILE
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    accept(folder, path)


def _cut_with_manifest(folder: Path) -> None:
    """Leave out the last chunk, and correct the manifest."""
    path = folder / ITEMS_FILE
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    accept(folder, path)


def _replace(name: str, old: bytes, new: bytes) -> Callable[[Path], None]:
    """Return the change of a file without the passphrase, with a manifest that agrees with it."""

    def replace(folder: Path) -> None:
        (path,) = folder.glob(name)
        content = path.read_bytes()
        assert old in content
        path.write_bytes(content.replace(old, new))
        if path.name != "manifest.json":
            accept(folder, path)

    return replace


def _without_a_file(folder: Path) -> None:
    """Leave out a part file and its entry in the manifest."""
    (folder / "products.jsonl").unlink()
    files = json.loads((folder / "manifest.json").read_text())["files"]
    edit_manifest(folder, files={name: files[name] for name in files if name != "products.jsonl"})


def _with_link(folder: Path) -> None:
    """Replace a copied file by a link to the same content elsewhere."""
    (path,) = folder.glob("files/000001-*")
    path.rename(folder.parent / "elsewhere")
    path.symlink_to(folder.parent / "elsewhere")


def _without_secrets(folder: Path) -> None:
    export_tenant("acme", folder)


_MANIFEST_CHANGED = r"manifest\.json was changed since the export"
REFUSED: dict[str, tuple[Callable[[Path], Any], str]] = {
    "truncated": (_truncate, "is truncated: it has [0-9]+ of [0-9]+ bytes"),
    "changed": (_change, r"products\.jsonl was changed since the export"),
    "changed with manifest": (_change_with_manifest, "is truncated or was changed"),
    "cut with manifest": (_cut_with_manifest, "is truncated or was changed"),
    "missing": (lambda folder: (folder / "products.jsonl").unlink(), "is missing. Copy it again"),
    "no manifest": (lambda folder: (folder / "manifest.json").unlink(), "is no export of a tenant"),
    "no JSON": (lambda folder: (folder / "manifest.json").write_text("{"), "is no export"),
    "foreign": (lambda folder: edit_manifest(folder, tenant=None), "is no export of a tenant"),
    "interrupted": (lambda folder: edit_manifest(folder, complete=False), "was interrupted"),
    "format": (lambda folder: edit_manifest(folder, format=3), "has the format 3"),
    "schema": (
        lambda folder: edit_manifest(folder, schema_version=schema.SCHEMA_VERSION + 1),
        "Deploy the release of the other deployment first",
    ),
    "state": (lambda folder: edit_manifest(folder, state="active"), "was active during the export"),
    "part file": (_replace("products.jsonl", b"Cable", b"Table"), _MANIFEST_CHANGED),
    "copied file": (_replace("files/000003-*", WORK_FILE, WORK_FILE.upper()), _MANIFEST_CHANGED),
    "list of files": (_replace("files.jsonl", b"sources/", b"sauces/"), _MANIFEST_CHANGED),
    "tenant.json": (_replace("tenant.json", b"enterprise", b"essentials"), _MANIFEST_CHANGED),
    "time": (
        _replace("manifest.json", b'"started_at": "2', b'"started_at": "3'),
        _MANIFEST_CHANGED,
    ),
    "state in manifest": (lambda folder: edit_manifest(folder, state="moved"), _MANIFEST_CHANGED),
    "counts": (lambda folder: edit_manifest(folder, counts={}), _MANIFEST_CHANGED),
    "other tenant": (lambda folder: edit_manifest(folder, tenant="beta"), "is that of another"),
    "no files": (lambda folder: edit_manifest(folder, files=None), "without --with-secrets"),
    "no sizes": (
        lambda folder: edit_manifest(folder, files={ITEMS_FILE: {"bytes": "1"}}),
        "is no export of a tenant",
    ),
    "left out": (_without_a_file, _MANIFEST_CHANGED),
    "link": (_with_link, "is no export of a tenant"),
    "without secrets": (_without_secrets, "stowage tenant export acme --to DIR --with-secrets"),
}


@each_case("case", REFUSED)
def test_damaged_or_unfit_export_is_refused(
    both: TwoDeployments, tmp_path: Path, kept_export: Path, case: str
) -> None:
    if not kept_export.exists():
        both.export(kept_export)
    _refuse(case, both, shutil.copytree(kept_export, tmp_path / case))


@pytest.mark.parametrize("case", sampled("next try", list(REFUSED), every=len(REFUSED)))
def test_import_after_a_refusal_succeeds(both: TwoDeployments, tmp_path: Path, case: str) -> None:
    _refuse(case, both, both.export(tmp_path / "acme"))
    assert both.import_(both.export(tmp_path / "again")).compared


def _refuse(case: str, both: TwoDeployments, folder: Path) -> None:
    """Damage the export in the folder; assert that it is refused and creates nothing."""
    damage, message = REFUSED[case]
    both.enter_source()
    provisioning.set_state("acme", "suspended")
    damage(folder)
    both.enter_target()
    with pytest.raises(Conflict, match=message):
        open_export(folder, PASSPHRASE)
    assert "other-tenant-acme" not in aws.client("dynamodb").list_tables()["TableNames"]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [("PLANS", {"essentials": PLANS["essentials"]}, "plan"), ("MODULES", {"waves"}, "module")],
)
def test_unknown_plan_or_module_is_refused(
    both: TwoDeployments, tmp_path: Path, name: str, value: Any, message: str
) -> None:
    assert MODULES
    folder = both.export(tmp_path / "acme")
    both.monkeypatch.setattr(f"operations.tenant_import.reading.{name}", value)
    with pytest.raises(Conflict, match=rf"has the {message} .* which this release does not know"):
        open_export(folder, PASSPHRASE)


def test_name_that_exists_is_refused(both: TwoDeployments, tmp_path: Path) -> None:
    folder = both.export(tmp_path / "acme")
    both.enter_target()
    provisioning.create_tenant(NewTenant("acme", base_url=ADDRESS))
    before = table_items("other")
    export = open_export(folder, PASSPHRASE)
    with pytest.raises(Conflict, match="already has a tenant acme"):
        import_tenant(export, export.terms, base_url=ADDRESS)
    assert table_items("other") == before
    provisioning.set_state("acme", "cancelled")
    delete_tenant("acme")
    with pytest.raises(Conflict, match="belonged to a tenant that was deleted here"):
        import_tenant(export, export.terms, base_url=ADDRESS)


def test_unfinished_import_accepts_only_its_own_export(
    both: TwoDeployments, aws_faults: AwsFaults, tmp_path: Path
) -> None:
    first, second = both.export(tmp_path / "1"), both.export(tmp_path / "2")
    both.enter_target()
    assert aws_faults.kills(kill_after(30), lambda: import_export(first))
    with pytest.raises(Conflict, match="from another export is not complete"):
        import_export(second)
    with pytest.raises(Conflict, match="began with the address"):
        import_export(first, host="wms.acme.test")
    with pytest.raises(NotFound, match="was not imported completely; import it again"):
        show_tenant("acme")
    with pytest.raises(Conflict, match="is being imported"):
        provisioning.create_tenant(NewTenant("acme", base_url=ADDRESS))
    assert both.import_(first).compared
    assert both.import_(first).compared == ()


def test_import_that_is_given_up_leaves_name_and_host_to_another_export(
    both: TwoDeployments, aws_faults: AwsFaults, tmp_path: Path
) -> None:
    first, second = both.export(tmp_path / "1"), both.export(tmp_path / "2")
    both.enter_target()
    assert aws_faults.kills(kill_after(30), lambda: import_export(first, host="wms.acme.test"))
    delete_tenant("acme")
    assert "wms.acme.test" not in [each.host for each in list_domains()]
    assert import_export(second).compared


def test_import_that_is_given_up_while_it_runs_ends(
    both: TwoDeployments, aws_faults: AwsFaults, tmp_path: Path
) -> None:
    folder = both.export(tmp_path / "acme")

    def give_up() -> None:
        with both.monkeypatch.context() as patch, suppress(Killed):
            patch.setattr("operations.deletion.wait_for_running_invocations", lambda *_: die())
            delete_tenant("acme")

    both.enter_target()
    with (
        aws_faults.faulty(at_calls("BatchGetItem", {0}, before=give_up)),  # the comparison
        pytest.raises(Conflict, match="or the tenant was deleted"),
    ):
        import_export(folder)
    with pytest.raises(NotFound, match="was not deleted completely; delete it again"):
        show_tenant("acme")
    delete_tenant("acme")
    assert both.import_(folder).compared


def test_item_that_something_else_has_written_is_named(
    both: TwoDeployments, aws_faults: AwsFaults, tmp_path: Path
) -> None:
    folder = both.export(tmp_path / "acme")

    def add() -> None:
        item = {"PK": {"S": "foreign"}, "SK": {"S": "HEAD"}}
        aws.client("dynamodb").put_item(TableName=config().tenant_table("acme"), Item=item)

    both.enter_target()
    export = open_export(folder, PASSPHRASE)
    with (
        aws_faults.faulty(at_calls("BatchGetItem", before=add)),  # the comparison
        pytest.raises(Conflict, match="are not those of the export: the export has"),
    ):
        import_tenant(export, export.terms, base_url=ADDRESS)


# The export


def test_active_tenant_is_not_exported_with_secrets(both: TwoDeployments, tmp_path: Path) -> None:
    assert both
    with pytest.raises(Conflict, match="is active, so its data changes"):
        export_tenant("acme", tmp_path / "acme", passphrase=PASSPHRASE)
    provisioning.set_state("acme", "suspended")
    with pytest.raises(Conflict, match="The passphrase has 5 characters; it needs at least 12"):
        export_tenant("acme", tmp_path / "acme", passphrase="short")


def test_export_beside_an_import_that_ends_meanwhile_is_refused(
    both: TwoDeployments, aws_faults: AwsFaults, tmp_path: Path
) -> None:
    """Some of its items would be as before the commit, and others as after it."""
    both.enter_source()
    leave_all_to_worker(both.monkeypatch)
    imports = ImportScenario(both.source)
    one = imports.import_file("products", "a.csv", b"item_code,name\nIMPORTED,One\n")
    imports.erp.post(f"/imports/{one['id']}/commit").ok(202)
    provisioning.set_state("acme", "suspended", for_move=True)
    to = tmp_path / "acme"
    with (
        aws_faults.faulty(at_calls("Scan", before=imports.drain_queue)),
        pytest.raises(Conflict, match=r"The import \d+ of acme is committing\. Resume the tenant"),
    ):
        export_tenant("acme", to, passphrase=PASSPHRASE)
    assert not json.loads((to / "manifest.json").read_text())["complete"]
