"""Use cases of replenishment."""

from urllib.parse import urlencode

from shared.kernel.db.parallel import run_all
from shared.kernel.db.store import Store
from shared.kernel.errors import Problem, ValidationFailed
from shared.kernel.fields import ZERO
from shared.warehouse.pick_faces import service as pick_faces
from shared.warehouse.replenishment import creating
from shared.warehouse.replenishment.models import (
    Need,
    Replenishment,
    ReplenishmentFrame,
    ReplenishmentLinks,
    ReplenishmentMeta,
    ReplenishmentParameters,
    ReplenishmentProposal,
)
from shared.warehouse.replenishment.needs import read_needs
from shared.warehouse.warehouses import service as warehouses

_PATH = "/replenishments"


def list_replenishments(
    store: Store, parameters: ReplenishmentParameters, base_url: str
) -> tuple[list[Replenishment], ReplenishmentFrame]:
    """Return the pick faces below their minimum among the next ones of a warehouse."""
    store, code, most = store.repeatable(), parameters.warehouse, parameters.per_page
    faces, warehouse = run_all(
        lambda: pick_faces.faces_with_minimum(store, code, parameters.after, most),
        lambda: warehouses.find_warehouse(store, code),
    )
    if warehouse is None:
        raise ValidationFailed([Problem("warehouse", f"no warehouse has the code {code}")])
    needs = read_needs(store, warehouse, faces)
    last = faces[-1].id if faces else parameters.after
    sent = parameters.model_dump(exclude_unset=True)
    address = f"{base_url}{_PATH}?{urlencode({**sent, 'after': last})}"
    frame = ReplenishmentFrame(
        links=ReplenishmentLinks(next=address if len(faces) == most else None),
        meta=ReplenishmentMeta(after=parameters.after, last=last),
    )
    return [_shown(need) for need in needs], frame


def _shown(need: Need) -> Replenishment:
    face = need.face
    return Replenishment(
        pick_face=face.id,
        item_code=face.item_code,
        bin_code=face.bin_code,
        qty=need.qty,
        minimum=face.minimum or ZERO,
        maximum=face.maximum,
        needed=need.needed,
        transfer_id=need.transfer_id,
        proposals=[
            ReplenishmentProposal(
                from_bin_code=line.from_bin or "", batch_num=line.batch_num, qty=line.qty
            )
            for line in need.lines
        ],
    )


create_replenishments = creating.create_replenishments
