"""The list of pages for programs that read text, in the format of llmstxt.org."""

import re

_ROW = re.compile(r"^\| (?P<who>[^|]*)\| \[(?P<name>[^]]+)\]\((?P<path>[^)]+)\) \| (?P<has>.+) \|$")
_SERVED = re.compile(r"(guides|reference)/[\w-]+\.md")
_HEAD = """# Stowage

> Warehouse management over REST: catalog, stock by position, batch and serial, orders, receipts,
> pickings, transfers, counts, returns, packing, imports and signed webhooks.

Begin with "Integrating an ERP". Everything that a request can send and a response can contain is in
the [OpenAPI document](../openapi.json); the [Postman collection](postman.json) has its requests.
"""


def llms(index: str) -> str:
    """Return the file: what `docs/README.md` lists of guides and reference, with its readers.

    The links are relative to `/docs/llms.txt`, below which a deployment serves the pages.
    """
    lines = [_HEAD]
    for line in index.split("\n## ")[1].split("\n"):
        row = _ROW.match(line)
        if row is None:
            continue
        if who := row["who"].strip():
            lines.append(f"\n## {who}\n\n")
        if _SERVED.fullmatch(row["path"]):
            has = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", row["has"]).replace("**", "")
            lines.append(f"- [{row['name']}]({row['path']}): {has}\n")
    # Readers whose pages are all in the repository only have no list.
    return re.sub(r"\n## [^\n]+\n\n(?=\n|\Z)", "", "".join(lines))
