"""Reads the files named as arguments and reports the memory use, in a process of its own.

Writes one line of JSON per file: its name, its number of rows or the message of its refusal, and
the peak memory of the process so far in MB.
"""

import json
import resource
import sys
from pathlib import Path

from shared.kernel.spreadsheets.open_table import check_file, open_table
from shared.kernel.spreadsheets.table import UnreadableFile

_STATUS = Path("/proc/self/status")


def peak_mb() -> int:
    """Return the peak memory of this process in MB."""
    if _STATUS.exists():
        # Unlike `getrusage`, this does not include the memory of the parent process.
        return int(_STATUS.read_text().partition("VmHWM:")[2].split()[0]) >> 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 20


def main() -> None:
    """Read each file."""
    for path in map(Path, sys.argv[1:]):
        try:
            check_file(path, path.name)
            result: object = sum(1 for _ in open_table(path, path.name).rows())
        except UnreadableFile as refusal:
            result = str(refusal)
        sys.stdout.write(json.dumps([path.name, result, peak_mb()]) + "\n")


if __name__ == "__main__":
    main()
