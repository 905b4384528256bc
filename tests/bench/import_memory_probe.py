"""Validates files of products and reports the memory use, in a process of its own."""

import json
import sys
from pathlib import Path

from tests.bench.import_work import validate
from tests.unit.spreadsheets.memory_probe import peak_mb

if __name__ == "__main__":
    for name in sys.argv[1:]:
        sys.stdout.write(json.dumps([name, validate(Path(name)), peak_mb()]) + "\n")
