"""Runs in a process of its own: reads the files named as arguments and tells what that took.

Writes one line of JSON per file: its name, how many rows it has or why it was refused, and the
most memory that the process has had so far, in MB.
"""

import json
import resource
import sys
from pathlib import Path

from shared.kernel.spreadsheets.open_table import inspect, open_table
from shared.kernel.spreadsheets.table import UnreadableFile

_STATUS = Path("/proc/self/status")


def peak_mb() -> int:
    """Most memory that this process has had, in MB."""
    if _STATUS.exists():
        # Unlike that of `getrusage`, this figure does not begin with the parent's.
        return int(_STATUS.read_text().partition("VmHWM:")[2].split()[0]) >> 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 20


def main() -> None:
    """Read each file."""
    for path in map(Path, sys.argv[1:]):
        try:
            inspect(path, path.name)
            found: object = sum(1 for _ in open_table(path, path.name, most_rows=10**7).rows())
        except UnreadableFile as refusal:
            found = refusal.message
        sys.stdout.write(json.dumps([path.name, found, peak_mb()]) + "\n")


if __name__ == "__main__":
    main()
