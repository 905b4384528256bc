"""Exports that somebody with the passphrase has changed, line by line."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from operations.encrypted_lines import EncryptedWriter, read_encrypted
from operations.items_file import ITEMS_FILE
from tests.integration.moving.two_deployments import PASSPHRASE, edit_manifest

type Line = dict[str, Any]


@cache
def quick_cipher(passphrase: str, salt: bytes) -> AESGCM:
    """Return a cipher without the half second that a real one takes to derive its key."""
    return AESGCM(hashlib.sha256(passphrase.encode() + salt).digest())


@dataclass(frozen=True, slots=True)
class CraftedExport:
    """A copy of an export whose lines can be replaced; its manifest then agrees with them."""

    original: Path
    folder: Path
    """The copy."""

    def lines(self) -> list[Line]:
        """Return the lines of the original."""
        return [json.loads(text) for text in read_encrypted(self.original / ITEMS_FILE, PASSPHRASE)]

    def write(self, lines: list[Line]) -> Path:
        """Replace the lines; return the folder."""
        path = self.folder / ITEMS_FILE
        with EncryptedWriter(path, PASSPHRASE) as file:
            for line in lines:
                file.write(as_text(line))
        accept(self.folder, path)
        return self.folder


def accept(folder: Path, path: Path) -> None:
    """Enter a file of an export into its manifest, as it is now."""
    files = json.loads((folder / "manifest.json").read_text())["files"]
    content = path.read_bytes()
    name = path.relative_to(folder).as_posix()
    files[name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    edit_manifest(folder, files=files)


def as_text(line: Line) -> str:
    """Return a line as an export writes it."""
    return json.dumps(line, separators=(",", ":"))


def first(lines: list[Line], where: str) -> Line:
    """Return the first line of a place."""
    return next(line for line in lines if line["where"] == where)


_FOREIGN_KEYS = (
    "TENANT#beta", "TENANT#*", "HOST#*", "HOST#wms.beta.test", "KEYS", "beta#0", "acme#0",
    "acme#revoked#0", "acme2#0", "CLIENT#stw_beta_0123456789abcdef01234567",
    "CLIENT#stm_beta_0123456789abcdef01234567", "CLIENT#stw_acme_x_0123456789abcdef01234567",
    "rate#tenant", "product#000000000001", "idempotency#stw_beta_0123456789abcdef01234567#key", "",
)  # fmt: skip
_OTHER_VALUES: tuple[Any, ...] = (
    {"S": "beta"}, {"S": "beta#revoked"}, {"S": ""}, {"N": "1"}, {"N": "x"}, {"N": "1e9999"},
    {"BOOL": True}, {"M": {}}, {"L": []}, {"SS": []}, {"NS": ["1"]}, {"B": "eJw="}, {"X": "1"}, {},
    "beta", None,
)  # fmt: skip


def mutations(line: Line) -> Iterator[Line]:
    """Yield the line with one thing changed: place, key, tenant, client id, an attribute."""
    item: Mapping[str, Any] = line["item"]
    for where in ("tenant", "table", "client", "event", "host", None, 5):
        yield {"where": where, "item": item}
    yield {"item": item}
    yield {**line, "more": 1}
    yield {"item": item, **line}
    for name in ("PK", "SK", "pk", "tenant", "expires_at", "state", "plan", "unknown"):
        for key in _FOREIGN_KEYS:
            yield {**line, "item": {**item, name: {"S": key}}}
    for name in item:
        yield {**line, "item": {key: value for key, value in item.items() if key != name}}
        for other in _OTHER_VALUES:
            yield {**line, "item": {**item, name: other}}
    text = json.dumps(line)
    yield json.loads(text.replace("acme", "beta"))
    yield json.loads(text.replace("_acme_", "_beta_"))
    yield json.loads(text.replace('"acme"', '"beta"'))


def replaced(lines: list[Line], where: str, change: Callable[[Line], Line]) -> list[Line]:
    """Return the lines with `change` applied to the item of the first line of a place."""
    old = first(lines, where)
    new = {**old, "item": change(old["item"])}
    return [new if line is old else line for line in lines]
