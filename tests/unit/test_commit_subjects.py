"""The subjects of commits that `make check` accepts, and the commits at which it looks."""

import subprocess
from pathlib import Path

import pytest

from tools.commit_subjects import new_commits, problems


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    """Return a repository with 22 commits on main, 0 to 21."""
    path = tmp_path / "origin"
    path.mkdir()
    git(path, "init", "--quiet", "--initial-branch=main")
    for number in range(22):
        commit(path, f"{number}")
    return path


def git(path: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=T", "-c", "user.email=t@example.com")
    subprocess.run(["git", *identity, *arguments], cwd=path, check=True)  # noqa: S603, S607


def commit(path: Path, subject: str) -> None:
    git(path, "commit", "--quiet", "--allow-empty", "--allow-empty-message", "-m", subject)


def clone(origin: Path, *options: str) -> Path:
    git(origin, "clone", "--quiet", *options, origin.as_uri(), "../clone")
    return origin.with_name("clone")


def subjects(path: Path) -> list[str]:
    return [one.partition(" ")[2] for one in new_commits(path)]


def test_commits_that_the_remote_does_not_have_are_new(origin: Path) -> None:
    path = clone(origin)
    assert subjects(path) == []

    git(path, "checkout", "--quiet", "-b", "branch")
    commit(path, "of the branch")
    commit(path, "")
    commit(origin, "of others")
    git(path, "fetch", "--quiet")
    git(path, "merge", "--quiet", "-m", "a merge", "origin/main")
    assert subjects(path) == ["", "of the branch"]


@pytest.mark.parametrize("branch", ["main", "branch"])
def test_what_a_shallow_clone_has_is_new_if_its_branch_is(origin: Path, branch: str) -> None:
    git(origin, "checkout", "--quiet", "-B", branch)
    commit(origin, "of the branch")
    path = clone(origin, "--depth=1", "--branch", branch)
    git(path, "checkout", "--quiet", "--detach")
    git(path, "remote", "set-head", "origin", "--delete")

    assert subjects(path) == ([] if branch == "main" else ["of the branch"])


def test_without_a_remote_the_latest_commits_are_new(origin: Path) -> None:
    assert subjects(origin) == [f"{number}" for number in range(21, 1, -1)]


def test_outside_of_git_nothing_is_new(tmp_path: Path) -> None:
    assert new_commits(tmp_path) == []


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        ("x" * 72, []),
        ("x" * 73, ["73 characters; at most 72 are allowed"]),
        (f"Merge {'0' * 40} into {'1' * 40}", []),
        ("", ["the commit has no subject"]),
        ("WIP: labels", ["the commit is not finished"]),
        ("fixup! Print labels", ["the commit is not finished"]),
        ("Wipe the data of a tenant", []),
    ],
)
def test_subjects_are_short_and_finished(subject: str, expected: list[str]) -> None:
    commit = f"1a2b3c4 {subject}"
    assert list(problems([commit])) == [f"{commit}: {problem}" for problem in expected]
