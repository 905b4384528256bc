import shutil
from collections.abc import Iterator
from copy import copy
from pathlib import Path

import pytest

from tests.clock import Clock
from tests.integration.moving import crafted_exports
from tests.integration.moving.crafted_exports import CraftedExport
from tests.integration.moving.two_deployments import TwoDeployments
from tests.snapshot import Snapshot
from tests.stack import (
    ACCOUNT,
    REGION,
    Stack,
    _open_buckets_queues_and_schedules,
    clear_all_caches,
    deploy_another,
    enter_stack,
)

_populated: list[tuple[Snapshot, TwoDeployments]] = []
"""The tables and keys of both deployments as the first test of the process had them."""


@pytest.fixture
def both(stack: Stack, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[TwoDeployments]:
    """Two deployments: one with the tenant acme, which has data of every kind, and an empty one."""
    assert clock
    if not _populated:
        pair = TwoDeployments(stack, deploy_another("other"), monkeypatch)
        pair.populate()
        _populated.append((Snapshot.take(ACCOUNT, REGION), pair))
    else:
        snapshot, pair = _populated[0]
        pair = copy(pair)
        pair.source, pair.monkeypatch = stack, monkeypatch
        snapshot.restore()
        _open_buckets_queues_and_schedules("other")
        enter_stack(monkeypatch, stack.template)
    pair.put_files()
    yield pair
    clear_all_caches()


_moved: list[Snapshot] = []
"""The tables and keys of both deployments after the first move of the process."""


@pytest.fixture
def moved(both: TwoDeployments, tmp_path: Path) -> TwoDeployments:
    """Two deployments after acme has moved from the first to the second, without its files."""
    if not _moved:
        both.import_(both.export(tmp_path / "acme"))
        _moved.append(Snapshot.take(ACCOUNT, REGION))
    else:
        _moved[0].restore()
        both.enter_target()
    return both


@pytest.fixture(scope="module")
def kept_export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directory of an export that the tests of this module share, once one of them has made it."""
    return tmp_path_factory.mktemp("exports") / "acme"


@pytest.fixture
def export(
    both: TwoDeployments, tmp_path: Path, kept_export: Path, monkeypatch: pytest.MonkeyPatch
) -> CraftedExport:
    """An export of acme; the tests are in the target."""
    monkeypatch.setattr("operations.encrypted_lines._cipher", crafted_exports.quick_cipher)
    if not kept_export.exists():
        both.export(kept_export)
    both.enter_target()
    return CraftedExport(kept_export, shutil.copytree(kept_export, tmp_path / "acme"))
