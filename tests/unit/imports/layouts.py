"""The layouts of all import kinds."""

from shared.integration.imports.kinds.registry import importer_of
from shared.integration.imports.languages import LANGUAGES
from shared.integration.imports.models import IMPORT_KINDS
from tests.cases import each_case

LAYOUTS = {kind: importer_of(kind).layout for kind in IMPORT_KINDS}

EACH_KIND = each_case("kind", IMPORT_KINDS)
EACH_KIND_AND_LANGUAGE = each_case(
    ("kind", "language"), [(kind, language) for kind in IMPORT_KINDS for language in LANGUAGES]
)
