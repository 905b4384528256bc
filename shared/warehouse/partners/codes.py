"""The codes of partners, and the names to which they lead.

The alias of a code has the name of its partner, so that a document that names the partner by its
code gets the name by one read.
"""

from collections.abc import Mapping
from typing import Literal

from shared.kernel.db.items import Item, Key, alias_key, item_at

type PartnerKind = Literal["client", "provider"]


def code_key(kind: PartnerKind, code: str) -> Key:
    """Return the key of the alias that makes a code unique among the partners of a kind."""
    return alias_key(f"{kind}_code", code)


def code_alias(kind: PartnerKind, code: str, number: int, name: str) -> Item:
    """Return the alias of the code of a partner."""
    return item_at(code_key(kind, code), id=number, name=name)


def name_keys(kind: PartnerKind, code: str | None, name: str | None = None) -> list[Key]:
    """Return the key that leads to the name of a partner, if a request has the code only."""
    return [code_key(kind, code)] if code and name is None else []


def name_of(found: Mapping[Key, Item], kind: PartnerKind, code: str) -> str | None:
    """Return the name of the partner with a code, from items that were read by `name_keys`."""
    alias = found.get(code_key(kind, code))
    return None if alias is None else str(alias["name"])
