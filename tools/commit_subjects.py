"""Check the subjects of the commits that the default branch of the remote does not have.

Without a remote, and in a clone whose history does not reach that branch, the latest commits are
checked instead.
"""

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

_MAX_CHARACTERS = 72
_LATEST = 20
"""Commits that are checked if it is not known which ones are new."""
_UNFINISHED = re.compile(r"wip\b|(fixup|squash|amend)!", re.IGNORECASE)
_DEFAULT_BRANCHES = ("HEAD", "main", "master")
"""Branches of the remote; the first that exists counts. A clone of CI often has no HEAD."""
_MERGE_OF_GITHUB = re.compile(r"Merge [0-9a-f]{40} into [0-9a-f]{40}")
"""The subject of what GitHub checks out for a pull request: no merge in a shallow clone."""


def new_commits(repository: Path) -> list[str]:
    """Return the new commits of the checkout, each as `HASH SUBJECT`; none outside of git.

    Merges are left out, because git writes their subjects.
    """
    return _git(repository, "log", "--no-merges", "--format=%h %s", *_range(repository))


def _range(repository: Path) -> tuple[str, ...]:
    """Return the arguments of `git log` that select the new commits."""
    for branch in _DEFAULT_BRANCHES:
        for base in _git(repository, "merge-base", f"refs/remotes/origin/{branch}", "HEAD"):
            return (f"{base}..HEAD",)
    return (f"-{_LATEST}",)


def _git(repository: Path, *arguments: str) -> list[str]:
    """Return the lines that a command of git prints; none if it fails."""
    done = subprocess.run(
        ["git", *arguments],  # noqa: S607 - the one of the machine
        cwd=repository, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout.splitlines()


def problems(commits: Iterable[str]) -> Iterator[str]:
    """Yield what is wrong with subjects of commits, each given as `HASH SUBJECT`."""
    for commit in commits:
        subject = commit.partition(" ")[2]
        if len(subject) > _MAX_CHARACTERS and not _MERGE_OF_GITHUB.fullmatch(subject):
            yield f"{commit}: {len(subject)} characters; at most {_MAX_CHARACTERS} are allowed"
        if not subject.strip():
            yield f"{commit}: the commit has no subject"
        if _UNFINISHED.match(subject):
            yield f"{commit}: the commit is not finished"


def main() -> None:
    """Print the problems; exit with 1 if there are any."""
    commits = new_commits(ROOT)
    if wrong := list(problems(commits)):
        sys.exit("\n".join([*wrong, "Change the subjects with git rebase --interactive."]))
    print(f"Subjects of {len(commits)} commits: each has at most {_MAX_CHARACTERS} characters.")


if __name__ == "__main__":
    main()
