"""What to do about findings that no repair can correct, as docs/operating/verify.md says it."""

from collections.abc import Mapping

_FROM_BACKUP = "take it from a backup"
_COUNT_AND_ADJUST = "count the stock, and adjust it"
_END_OR_COUNT = "cancel or revert it, or count the stock"

_BY_KIND: Mapping[str, str] = {
    "entity.unreadable": _FROM_BACKUP,
    "entity.id": _FROM_BACKUP,
    "entity.part_missing": _FROM_BACKUP,
    "duplicate": "rename or delete one through the API",
    "register.missing": "execute the waiting transfer or delete it",
    "login.missing": "delete the user and create it again",
    "item.unknown": "find out who wrote it",
    "reference.dangling": _FROM_BACKUP,
    "ledger.wrong": "count the stock, and keep the finding for the auditor",
    "stock.disagrees": _COUNT_AND_ADJUST,
    "stock.row_missing": _COUNT_AND_ADJUST,
    "stock.contradiction": _COUNT_AND_ADJUST,
    "picking.allocation": "cancel the picking",
    "picking.allocated_after_end": _FROM_BACKUP,
    "receipt.ledger": _END_OR_COUNT,
    "picking.ledger": _END_OR_COUNT,
    "receipt.lines": "compare the receipt with its document, and revert the receipt or close the"
    " document",
    **dict.fromkeys(
        ("return.received", "return.restocked", "return.scrapped"),
        "compare the return with its movements, and count the stock",
    ),
    **dict.fromkeys(("return.undecided", "return.status"), _FROM_BACKUP),
    "packing.exceeded": "take goods out of a unit",
    "packing.picking": "cancel the packing order",
    "packing.staged": "cancel the packing order",
    "wave.picking": "cancel the picking",
    "count.lines": "cancel the count",
    "count.place": "cancel the count",
}

_OTHERWISE = "correct the other findings about it, and run the command again"
"""For kinds that are repaired when what they follow from agrees, which it did not."""


def advice(kind: str) -> str:
    """Return what to do about a finding of a kind that cannot be repaired."""
    return _BY_KIND.get(kind, _OTHERWISE)
