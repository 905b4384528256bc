"""Use cases of approvals: require, request, decide, use and read them.

A rule calls `require` where it would refuse the request. The request path creates the approval
(`request_approval`) when the refused request has none that is open.
"""

from collections.abc import Callable
from typing import Literal

from shared.identity.audit import service as audit
from shared.identity.audit.models import Actor
from shared.kernel.db.actions import Cost, StaleRead
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import Prefetched, run_transaction
from shared.kernel.errors import ApprovalRequired, Forbidden
from shared.kernel.sent_request import SentRequest
from shared.kernel.validation import Checked, ensure_valid
from shared.warehouse.approvals import repository, rules
from shared.warehouse.approvals.actions import ACTIONS
from shared.warehouse.approvals.models import ApprovalDecision, Approver, StoredApproval
from shared.warehouse.approvals.need import ApprovalNeed, ApprovalNotRequested
from shared.warehouse.approvals.repository import APPROVALS

PERMISSION = "approvals.grant"
"""The permission of users who decide."""


USE_COST = Cost(actions=5, size=20_000)
"""What `use` takes of a transaction: the approval, the item of its request, the entry of the audit
log, and the totals of approvals and entries."""


type Grant = Record[StoredApproval]
"""A granted approval of the present request, which `use` marks as used."""


# What rules call


def reads_ahead(tx: Transaction, *, own_entries: int = 0) -> list[Callable[[], object]]:
    """Return what `find_grant` reads first, for `run_all` with the reads of the use case.

    It includes the ids of the `own_entries` of the audit log that the use case adds in any case.

    A request without an Idempotency-Key also reserves the ids of an approval: a request with one
    does so while its key is released.
    """
    request = tx.request
    if request is None:
        return []
    reads: list[Callable[[], object]] = [
        lambda: repository.read_open_approval(tx.store, request.digest()),
        lambda: audit.actor_of(tx),
    ]
    if not tx.store.is_claimed:
        reads.append(lambda: tx.reserve_ids(APPROVALS.kind, 1))
    if not tx.store.is_claimed or own_entries:
        reads.append(lambda: audit.reserve_entry_ids(tx, own_entries + 1))
    return reads


def find_grant(tx: Transaction, need: ApprovalNeed) -> Grant:
    """Return the grant of exactly the present request; the caller adds `use` to the transaction.

    It was given for the figures of `need`. What the rule has read them from belongs to the
    transaction, so that they are the same when it commits.

    Raises:
        ApprovalRequired: There is no grant; `approval_id` is the approval that waits for a
            decision. An import has no request that a supervisor could grant.
        ApprovalNotRequested: The request has no open approval, or one of other figures.
    """
    if tx.request is None:
        raise ApprovalRequired(need.message)
    digest = tx.request.digest()
    run_all(lambda: None, *reads_ahead(tx))
    found = rules.unexpired(repository.read_open_approval(tx.store, digest), tx.now_ms)
    outdated = None
    if found and (found.stage == "used" or found.figures != rules.digest_of_figures(need)):
        # The figures may have been read before it was used, or before it was requested.
        tx.read_twice(f"approval {found.approval_id} {found.stage}")
        outdated, found = found.approval_id, None
    if found is None:
        key = repository.open_approval_key(digest)
        prefetched = Prefetched({key: tx.store.cached(key)}, tx.unused_ids)
        raise ApprovalNotRequested(need, outdated, prefetched, audit.actor_of(tx))
    if found.stage != "granted":
        raise ApprovalRequired(need.message, found.approval_id)
    record = _beside_audit(tx, lambda: APPROVALS.get(tx.store, found.approval_id))
    if rules.status_at(record.entity, tx.now_ms) != "granted":
        raise StaleRead  # it was used between both reads
    return record


def use(tx: Transaction, grant: Grant) -> None:
    """Mark a grant as used; StaleRead when another request has used it.

    The item of the request says so for a minute: a concurrent repeat that finds it reads the
    figures again, and does not ask for an approval of those before the use.
    """
    used = _change(tx, grant, "approval.used", stage="used")
    repository.put_open_approval(tx, used.entity, replaces=used.id)


def require(tx: Transaction, need: ApprovalNeed) -> Grant:
    """Use the grant of this request; without one, raise what `find_grant` raises.

    The change that it permits, and that the grant is used, are one transaction.
    """
    grant = find_grant(tx, need)
    use(tx, grant)
    return grant


# What the request path calls


def request_approval(store: Store, refused: ApprovalNotRequested, request: SentRequest) -> int:
    """Return the id of the open approval of a refused request; create it if there is none.

    The new one replaces the approval of other figures that the request has found. If a concurrent
    request was faster, its approval is returned.
    """
    digest = request.digest()

    def create(tx: Transaction) -> int:
        seen = repository.read_open_approval(tx.store, digest)
        found = rules.still_open(seen, tx.now_ms)
        if found and found.approval_id != refused.outdated:
            return found.approval_id
        if found:
            outdated = APPROVALS.get(tx.store, found.approval_id)
            APPROVALS.save(tx, outdated, outdated.entity, expires_at=tx.now)
        number, _ = run_all(lambda: tx.next_id(APPROVALS.kind), lambda: audit.reserve_entry_ids(tx))
        approval = rules.new_approval(number, refused.need, request, refused.actor.name, tx.now_ms)
        APPROVALS.insert(tx, number, approval)
        repository.put_open_approval(tx, approval, replaces=seen.approval_id if seen else None)
        replaces = found.approval_id if found else None
        _record(tx, approval, "approval.requested", refused.actor, replaces=replaces)
        return number

    return run_transaction(store, create, caller=request.caller, prefetched=refused.prefetched)


# What supervisors call


def decide(
    tx: Transaction,
    number: int,
    decision: Checked[ApprovalDecision],
    stage: Literal["granted", "denied"],
) -> Record[StoredApproval]:
    """Grant or deny a pending approval.

    Raises:
        Forbidden: An integration client decides.
        StaleState: The approval is decided or has expired.
    """
    caller = tx.caller
    if caller is None or caller.kind == "client":
        raise Forbidden(PERMISSION)
    comment = ensure_valid(decision).comment
    record = _beside_audit(tx, lambda: APPROVALS.get(tx.store, number))
    ACTIONS.ensure((record.entity, tx.now_ms), "grant" if stage == "granted" else "deny")
    decided = _change(
        tx,
        record,
        "approval.granted" if stage == "granted" else "approval.denied",
        stage=stage,
        decided_by=Approver(user_id=caller.user_id, name=audit.actor_of(tx).name),
        decided_at=tx.now,
        comment=comment,
    )
    if stage == "granted":
        repository.put_open_approval(tx, decided.entity, replaces=number)
    else:
        repository.delete_open_approval(tx, decided.entity)
    return decided


get_approval = APPROVALS.get
list_approvals = repository.list_approvals


type _Action = Literal["approval.requested", "approval.granted", "approval.denied", "approval.used"]


def _beside_audit[R](tx: Transaction, call: Callable[[], R]) -> R:
    """Return the result of `call`; concurrently read what an entry of the audit log needs."""
    _, _, result = run_all(lambda: audit.reserve_entry_ids(tx), lambda: audit.actor_of(tx), call)
    return result


def _change(
    tx: Transaction, record: Record[StoredApproval], action: _Action, **values: object
) -> Record[StoredApproval]:
    changed = APPROVALS.save(tx, record, record.entity, **values)
    _record(tx, changed.entity, action)
    return changed


def _record(
    tx: Transaction,
    approval: StoredApproval,
    action: _Action,
    actor: Actor | None = None,
    *,
    replaces: int | None = None,
) -> None:
    resource = approval.resource
    details: dict[str, object] = {
        "code": approval.code,
        "resource": {"object": resource.object, "id": resource.id},
        "method": approval.method,
        "path": approval.path,
    }
    if replaces is not None:
        details["replaces"] = replaces
    is_decision = action in {"approval.granted", "approval.denied"}
    audit.record(
        tx,
        action,
        "approval",
        approval.id,
        details=details,
        reason=approval.comment if is_decision else None,
        actor=actor,
    )
