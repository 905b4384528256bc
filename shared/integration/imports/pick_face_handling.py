"""How pick faces are imported."""

from collections.abc import Mapping, Sequence

from shared.integration.imports.handling import Choice, Handling, exists, is_new
from shared.kernel.db.items import Item, Key
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem
from shared.kernel.validation import Checked
from shared.warehouse.pick_faces import service as pick_faces
from shared.warehouse.pick_faces.models import PickFaceDraft


class PickFaces(Handling):
    """Pick faces: assigned, or their quantities changed."""

    model = PickFaceDraft
    sequence = "pick_face"
    actions = 4

    def bind(self, tx: Transaction) -> None:
        """See Handling."""
        pick_faces.bind(tx)

    def keys(self, draft: Checked[PickFaceDraft], choice: Choice, *, applying: bool) -> list[Key]:
        """See Handling."""
        del choice, applying
        return pick_faces.pick_face_keys(draft)

    def further_keys(self, draft: Checked[PickFaceDraft], found: Mapping[Key, Item]) -> list[Key]:
        """See Handling."""
        return pick_faces.existing_pick_face_keys(draft, found)

    def examine(
        self, tx: Transaction, draft: Checked[PickFaceDraft], choice: Choice
    ) -> Sequence[Problem]:
        """See Handling."""
        found = pick_faces.examine_pick_face(tx, draft)
        existing = self._existing(tx, draft)
        twice = exists(None, "item_code") if existing and choice.on_duplicate == "fail" else []
        return [*found, *twice]

    def apply(self, tx: Transaction, draft: PickFaceDraft, choice: Choice) -> bool:
        """See Handling."""
        if choice.on_duplicate and self._existing(tx, draft):
            return is_new(None, choice, new=False)
        pick_faces.assign_pick_face(tx, draft)
        return True

    def _existing(self, tx: Transaction, draft: Checked[PickFaceDraft]) -> bool:
        found = tx.store.get_many(pick_faces.pick_face_keys(draft))
        return bool(pick_faces.existing_pick_face_keys(draft, found))
