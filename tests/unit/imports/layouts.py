"""The layouts of all import kinds."""

import pytest

from shared.integration.imports.kinds.registry import importer_of
from shared.integration.imports.languages import LANGUAGES
from shared.integration.imports.models import IMPORT_KINDS

LAYOUTS = {kind: importer_of(kind).layout for kind in IMPORT_KINDS}

EACH_KIND = pytest.mark.parametrize("kind", IMPORT_KINDS)
EACH_KIND_AND_LANGUAGE = pytest.mark.parametrize(
    ("kind", "language"), [(kind, language) for kind in IMPORT_KINDS for language in LANGUAGES]
)
