"""Import of pick faces."""

from collections.abc import Mapping
from dataclasses import replace

from shared.integration.imports.files.columns import Column, FileLayout
from shared.integration.imports.kinds.importer import (
    ApplyOptions,
    CheckedGroup,
    GroupImporter,
    already_exists,
)
from shared.integration.imports.kinds.standard_columns import LINE_ITEM_CODE, WAREHOUSE, words_of
from shared.integration.imports.kinds.value_words import TITLES
from shared.kernel.db.items import Item, Key
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import ValidationFailed
from shared.kernel.validation import Checked
from shared.warehouse.pick_faces import service as pick_faces
from shared.warehouse.pick_faces.models import PickFaceDraft

_WORDS = words_of("pick_faces")
_COLUMNS = (
    replace(LINE_ITEM_CODE, words=_WORDS, is_line_field=False),
    WAREHOUSE,
    Column(_WORDS, "bin_code", required=True, aliases=("bin",)),
    Column(_WORDS, "minimum", "decimal", aliases=("min",)),
    Column(_WORDS, "maximum", "decimal", aliases=("max",)),
)
_DUPLICATE = already_exists(None, "item_code")


class PickFaceImporter(GroupImporter):
    """Assigns products to positions, or changes the quantities of existing pick faces."""

    layout = FileLayout(
        TITLES["pick_faces"],
        _COLUMNS,
        unique_fields=("item_code", "warehouse_code", "bin_code"),
        has_metadata=False,
    )
    model = PickFaceDraft
    id_sequence = "pick_face"
    max_actions = 5

    def add_fence(self, tx: Transaction) -> None:
        """See Importer."""
        pick_faces.fence_master_data(tx)

    def keys(self, draft: Checked[PickFaceDraft]) -> list[Key]:
        """See Importer."""
        return pick_faces.pick_face_keys(draft)

    def dependent_keys(self, draft: Checked[PickFaceDraft], found: Mapping[Key, Item]) -> list[Key]:
        """See Importer."""
        return pick_faces.existing_pick_face_keys(draft, found)

    def validate(
        self, tx: Transaction, draft: Checked[PickFaceDraft], options: ApplyOptions
    ) -> CheckedGroup:
        """See Importer. An existing pick face that is skipped has no problems."""
        problems = pick_faces.examine_pick_face(tx, draft)
        if options.on_duplicate and self._exists(tx, draft):
            return CheckedGroup([*problems, *_DUPLICATE] if options.on_duplicate == "fail" else [])
        return CheckedGroup(problems)

    def apply(self, tx: Transaction, draft: PickFaceDraft, options: ApplyOptions) -> bool:
        """See Importer."""
        if options.on_duplicate and self._exists(tx, draft):
            if options.on_duplicate == "fail":
                raise ValidationFailed(_DUPLICATE)
            return False
        pick_faces.assign_pick_face(tx, draft)
        return True

    def _exists(self, tx: Transaction, draft: Checked[PickFaceDraft]) -> bool:
        found = tx.store.get_many(pick_faces.pick_face_keys(draft))
        return bool(pick_faces.existing_pick_face_keys(draft, found))
