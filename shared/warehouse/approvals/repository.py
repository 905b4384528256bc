"""The items of approvals. Keys and indexes: see docs/internals/storage.md."""

from dataclasses import replace

from shared.kernel.db.collection import Collection
from shared.kernel.db.facets import Facets
from shared.kernel.db.indexes import Partition, Range
from shared.kernel.db.items import Item, Key, item_at
from shared.kernel.db.lists.listing import read_page
from shared.kernel.db.lists.page import Page
from shared.kernel.db.store import Store
from shared.kernel.db.table import EXPIRY
from shared.kernel.db.transaction import Transaction
from shared.warehouse.approvals import rules
from shared.warehouse.approvals.models import ApprovalParameters, OpenApproval, StoredApproval


def _facets(approval: StoredApproval) -> Facets:
    return {
        "stage": "expired" if rules.is_replaced(approval) else approval.stage,
        # pending and granted together: what may have expired
        "group": "open" if rules.is_open(approval) else approval.stage,
        "created_at": approval.created_at,
        "updated_at": approval.updated_at,
    }


APPROVALS = Collection(
    kind="approval",
    noun="Approval",
    listed_as="approval",
    model=StoredApproval,
    facets=_facets,
    sorts={"created_at": 1, "updated_at": 2},
    partitions={"group": Partition({"created_at": 3, "updated_at": 4})},
)


def list_approvals(
    store: Store, parameters: ApprovalParameters, now_ms: int
) -> Page[StoredApproval]:
    """Read a page of approvals with their status at `now_ms`."""
    wanted = parameters.status or ()
    unexpired = [one for one in wanted if one in {"pending", "granted"}]
    ended = [one for one in wanted if one in {"denied", "used"}]
    equal: dict[str, tuple[str, ...]] = {}
    moving: dict[str, Range] = {}
    unless = None
    if wanted:
        equal["group"] = (*(["open"] if len(ended) < len(wanted) else []), *ended)
    if "expired" in wanted:
        # What has another of these statuses, or expired early, whenever it was created.
        moving = {"created_at": (None, rules.latest_expired(now_ms))}
        unless = ("stage", wanted)
    elif unexpired:
        moving = {"created_at": (rules.oldest_unexpired(now_ms), None)}
        unless = ("group", tuple(ended)) if ended else None
        equal["stage"] = wanted
    days = parameters.created(store.company.timezone)
    query = parameters.list_query(equal=equal, between=days, moving=moving)
    return read_page(store, APPROVALS, replace(query, unless=unless))


# The open approval of a request


def open_approval_key(digest: str) -> Key:
    """Return the key of the item that leads from a request to its open approval."""
    return (f"approval_request#{digest}", "OPEN")


def read_open_approval(store: Store, digest: str) -> OpenApproval | None:
    """Read the open or used approval of the request with a digest; it may have expired."""
    item = store.get(open_approval_key(digest))
    if item is None:
        return None
    return OpenApproval(int(item["id"]), item["stage"], int(item["until"]), item.get("figures"))


def open_approval_item(approval: StoredApproval) -> Item:
    """Return the item that leads from a request to its open or used approval."""
    until = rules.known_until_ms(approval)
    values = {
        "id": approval.id, "stage": approval.stage, "until": until, "figures": approval.figures,
    }  # fmt: skip
    return item_at(open_approval_key(approval.digest), **values, **{EXPIRY: -(-until // 1000)})


def put_open_approval(tx: Transaction, approval: StoredApproval, *, replaces: int | None) -> None:
    """Write the item of an open or used approval in place of that of `replaces`, if any.

    The commit raises StaleRead when another one is there by then.
    """
    item = open_approval_item(approval)
    if replaces is None:
        tx.insert(item)
    else:
        tx.put(item, condition="id = :seen", values={":seen": replaces})


def delete_open_approval(tx: Transaction, approval: StoredApproval) -> None:
    """Delete the item of an approval that is open no more; StaleRead when it is of another one."""
    tx.delete(open_approval_key(approval.digest), condition="id = :id", values={":id": approval.id})
