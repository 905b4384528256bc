"""Generate docs/errors.md, the page to which `doc_url` of every error links."""

import argparse
import sys
from pathlib import Path

from shared.kernel.errors import CODES

PAGE = Path(__file__).resolve().parent.parent / "docs" / "errors.md"

_HEAD = """# Errors

Every error has the same body; `error.code` tells what happened, `errors` lists every problem:

```json
{
  "error": {
    "code": "validation_failed",
    "message": "lines.0.qty: must be more than 0 (and 1 more)",
    "doc_url": "https://docs.stowage.example/errors#validation_failed",
    "request_id": "0d4b5a1e-6f0c-4c8e-9a57-0d8f2f6f5b3e",
    "field": "lines.0.qty"
  },
  "errors": [
    {"field": "lines.0.qty", "message": "must be more than 0"},
    {"field": "lines.1.item_code", "message": "no product has the code X-1"}
  ],
  "message": "lines.0.qty: must be more than 0 (and 1 more)"
}
```

Paths count from 0. Quote `request_id` (also the header `X-Request-Id`) when you ask for help.

| Code | Status | Meaning | What to do |
|---|---|---|---|
"""


def page() -> str:
    """Return the text of the page."""
    rows = [
        f'| <a id="{name}"></a>`{name}` | {code.status} | {code.meaning} | {code.action} |\n'
        for name, code in CODES.items()
    ]
    return _HEAD + "".join(rows)


def main() -> int:
    """Write the page, or with --check compare it with the code; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    if parser.parse_args().check:
        if PAGE.read_text() != page():
            print("docs/errors.md is out of date. Run: python -m tools.error_page")
            return 1
        return 0
    PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
