"""Run everything in full, with random seeds (`make thorough`).

`make test` runs samples of the families that repeat one mechanism, with fixed seeds; here all of
their cases run, with seeds that differ from run to run. A part that passed is not repeated until
the code changes, so that an interrupted or failed run continues where it stopped, with its seed.
The results are in .local/thorough.json.
"""

import argparse
import hashlib
import json
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]
STATE = ROOT / ".local" / "thorough.json"
console = Console(highlight=False, soft_wrap=True)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the run; `{seed}` in its command is the seed of the run."""

    name: str
    shows: str
    command: str

    def with_seed(self, seed: int) -> str:
        """Return the command, which repeats the part."""
        return self.command.format(seed=seed)


PARTS = (
    Part("sweep", "every family of tests with all cases", "make sweep SEED={seed}"),
    Part("random", "long random sequences and interleavings", "make random SEED={seed}"),
    Part("mutants", "each condition and write removed in turn", "make mutants"),
    Part("fuzz", "20 rounds of hostile forms", "make fuzz SEED={seed}"),
    Part("soak", "traffic over HTTP with kills", "make soak MINUTES=10 SEED={seed}"),
    Part("floor", "500 scans of handhelds through cuts and kills", "make floor SEED={seed}"),
    Part("kills", "the local stack killed and started again", "make kills"),
)


@dataclass(slots=True)
class Progress:
    """What has passed for one state of the code."""

    code: str
    seed: int
    seconds: dict[str, float] = field(default_factory=dict)
    """Name of a part that passed → its duration."""

    @classmethod
    def load(cls, code: str, seed: int | None) -> "Progress":
        """Return the stored progress if it is that of the code and of the seed, or a new one."""
        if STATE.exists():
            stored = cls(**json.loads(STATE.read_text()))
            if stored.code == code and seed in {None, stored.seed}:
                return stored
        return cls(code, random.randrange(10**6) if seed is None else seed)  # noqa: S311

    def save(self) -> None:
        """Store the progress."""
        STATE.parent.mkdir(exist_ok=True)
        STATE.write_text(json.dumps(asdict(self)))


def code_digest() -> str:
    """Return a digest of the commit and of what differs from it."""
    total = hashlib.sha256()
    for command in ("rev-parse HEAD", "diff HEAD --binary"):
        total.update(subprocess.check_output(["git", *command.split()], cwd=ROOT))  # noqa: S603, S607
    listed = ["git", "ls-files", "--others", "--exclude-standard", "-z"]
    new = subprocess.check_output(listed, cwd=ROOT)  # noqa: S603
    for name in filter(None, new.decode().split("\0")):
        total.update(name.encode() + (ROOT / name).read_bytes())
    return total.hexdigest()


def run_parts(parts: Sequence[Part], progress: Progress) -> list[str]:
    """Run the parts that have not passed yet; return the names of those that fail."""
    failed = []
    for number, part in enumerate(parts, 1):
        title = f"[{number} of {len(parts)}] {part.name}: {part.shows}"
        if part.name in progress.seconds:
            console.print(f"{title} (passed before)", markup=False)
            continue
        command = part.with_seed(progress.seed)
        console.print(f"{title}\n{command}", markup=False)
        began = time.time()
        done = subprocess.run(command.split(), cwd=ROOT, check=False)  # noqa: S603
        if done.returncode:
            failed.append(part.name)
            continue
        progress.seconds[part.name] = round(time.time() - began)
        progress.save()
    return failed


def summary(parts: Sequence[Part], progress: Progress) -> Table:
    """Return the result of each part, with the command that repeats it."""
    table = Table("part", "result", "minutes", "command")
    for part in parts:
        seconds = progress.seconds.get(part.name)
        table.add_row(
            part.name,
            "failed" if seconds is None else "passed",
            "" if seconds is None else f"{seconds / 60:.0f}",
            part.with_seed(progress.seed),
        )
    return table


def main(arguments: Sequence[str]) -> int:
    """Run the parts; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.thorough",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = [part.name for part in PARTS]
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(names)}; default all")
    parser.add_argument("--seed", type=int, help="the seed of all parts; default random")
    options = parser.parse_args(arguments)
    if unknown := {*options.parts} - {*names}:
        parser.error(f"unknown part {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    parts = [part for part in PARTS if not options.parts or part.name in options.parts]
    progress = Progress.load(code_digest(), options.seed)
    console.print(f"Seed {progress.seed}")
    failed = run_parts(parts, progress)
    console.print(summary(parts, progress))
    if failed:
        console.print(f"Failed: {', '.join(failed)}. Run it again to repeat only these.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
