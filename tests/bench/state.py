"""The state that figures belong to: a commit without changes, and a build of it."""

import os
import platform
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[2]
WRITTEN = ("docs/internals/performance.md", "tests/bench/baseline.json")
"""What the benchmark itself writes."""

_BUILT_FROM = ("shared", "functions", "layers", "template.yaml", "samconfig.toml")
_SOURCES = {".py", ".txt", ".yaml", ".toml", ".json"}


@dataclass(frozen=True, slots=True)
class State:
    """The commit that is checked out, and the files that differ from it."""

    commit: str
    changes: tuple[str, ...]

    def reason_against_writing(self) -> str | None:
        """Return why figures of this state cannot be recorded; None when they can."""
        if not self.commit:
            return "This folder is no git working tree, so the figures would belong to no commit."
        if not self.changes:
            return None
        names = ", ".join(self.changes[:5]) + (" …" if len(self.changes) > 5 else "")
        return (
            f"{len(self.changes)} changed files: {names}. The figures would belong to no commit:"
            " commit or stash the changes first, or look at the figures without --write."
        )

    def reason_against_comparing(self, before: "State") -> str | None:
        """Return why figures that were measured since `before` are of no single state."""
        if self == before:
            return None
        return "The working tree changed during the measurement: its figures are not written."

    def measured(self) -> str:
        """Return a sentence with the date, the commit and the machine."""
        return (
            f"Measured {datetime.now(UTC):%Y-%m-%d} at commit {self.commit} with Python"
            f" {platform.python_version()} on {platform.system()} {platform.machine()},"
            f" {os.cpu_count()} cores."
        )


def current_state(root: Path = ROOT) -> State:
    """Return the state of the working tree, without the files that the benchmark writes."""
    status = _git(root, "status", "--porcelain", "--untracked-files=all")
    changed = [line[3:].rpartition(" -> ")[2].strip('"') for line in status.splitlines()]
    code = tuple(path for path in changed if not path.startswith(WRITTEN))
    return State(_git(root, "rev-parse", "--short=7", "HEAD").strip(), code)


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(  # noqa: S603 - arguments of this module
        ["git", "-C", str(root), *arguments],  # noqa: S607 - the git of this machine
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout if done.returncode == 0 else ""


def reason_against_build(stamp: Path, target: str, root: Path = ROOT) -> str | None:
    """Return why a build cannot be measured; None when it can.

    Args:
        stamp: A file that the build writes at its end.
        target: The target of make that builds.
        root: The working tree.
    """
    if not stamp.exists():
        return f"{stamp.relative_to(root)} is missing: run `make {target}` first."
    built = stamp.stat().st_mtime
    newer = [path for path in _sources(root) if path.stat().st_mtime > built]
    if newer:
        name = newer[0].relative_to(root)
        return f"{name} is newer than the build: run `make {target}` first."
    return None


def _sources(root: Path) -> Iterator[Path]:
    for name in _BUILT_FROM:
        path = root / name
        yield from (one for one in path.rglob("*") if one.suffix in _SOURCES)
        if path.is_file():
            yield path
