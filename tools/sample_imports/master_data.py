"""The partners and positions of `sample/acme` to which the sample orders refer."""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_ACME = ROOT / "sample" / "acme"


@dataclass(frozen=True, slots=True)
class Partner:
    """A client or provider, with its delivery address."""

    code: str
    name: str
    address: str | None = None


def clients() -> Sequence[Partner]:
    """Return the clients."""
    documents = json.loads((_ACME / "exit_documents.json").read_text(encoding="utf-8"))
    addresses = {one["partner_code"]: one.get("ship_to") for one in documents}
    return [Partner(code, name, addresses.get(code)) for code, name in _partners("clients.csv")]


def providers() -> Sequence[Partner]:
    """Return the providers."""
    return [Partner(code, name) for code, name in _partners("providers.csv")]


def storage_positions() -> Mapping[str, Sequence[str]]:
    """Return the codes of the positions for putaway by warehouse."""
    found: dict[str, list[str]] = {}
    for position in _rows("warehouse_positions.csv"):
        in_use = "true" not in {position["is_blocked"], position["disabled"]}
        if in_use and position["type"] in {"reserve", "storage"}:
            found.setdefault(position["whs_code"], []).append(position["bin_code"])
    return found


def _partners(name: str) -> Sequence[tuple[str, str]]:
    return [(row["code"], row["name"]) for row in _rows(name)]


def _rows(name: str) -> Sequence[Mapping[str, str]]:
    with (_ACME / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
