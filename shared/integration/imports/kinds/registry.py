"""The importer of each import kind. To add one, see CONTRIBUTING.md, "Add an import kind"."""

import importlib
from collections.abc import Mapping
from functools import cache

from shared.integration.imports.kinds.importer import Importer
from shared.integration.imports.models import ImportKind

_IMPORTERS: Mapping[ImportKind, str] = {
    "entry_documents": "documents:EntryDocumentImporter",
    "exit_documents": "documents:ExitDocumentImporter",
    "transfer_orders": "transfer_orders:TransferOrderImporter",
    "returns": "returns:ReturnImporter",
    "stock_counts": "stock_counts:StockCountImporter",
    "pick_faces": "pick_faces:PickFaceImporter",
    "products": "products:ProductImporter",
}
"""Module of this package and importer class of each kind."""


@cache
def importer_of(kind: ImportKind) -> Importer:
    """Return the importer of `kind`.

    Its module is imported on the first call: importing all of them would slow every cold start.
    """
    module, _, name = _IMPORTERS[kind].partition(":")
    importer: type[Importer] = getattr(
        importlib.import_module(f"shared.integration.imports.kinds.{module}"), name
    )
    return importer()
