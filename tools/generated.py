"""Generated files: write them, or with --check compare them with what is generated now."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def write_or_check(
    module: str, texts: Callable[[], Mapping[str, str | bytes]], *, folders: Sequence[str] = ()
) -> int:
    """Write the files, or compare them and return 1 when one differs.

    Args:
        module: The module of `tools` that generates them.
        texts: Returns the content of each file by its path in the repository.
        folders: Folders that have no other files.
    """
    command = f"python -m tools.{module}"
    parser = argparse.ArgumentParser(prog=command)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    check = parser.parse_args().check
    files = {
        ROOT / name: text if isinstance(text, bytes) else text.encode()
        for name, text in texts().items()
    }
    present = {path for folder in folders for path in (ROOT / folder).iterdir()}
    stale = [path for path, data in files.items() if not path.exists() or path.read_bytes() != data]
    for path in [*stale, *(present - files.keys())]:
        if check:
            print(f"{path.relative_to(ROOT)} is out of date; run {command}")
        elif path in files:
            path.write_bytes(files[path])
        else:
            path.unlink()
    return 1 if check and (stale or present - files.keys()) else 0
