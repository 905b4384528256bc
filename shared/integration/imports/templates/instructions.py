"""What a template tells the person who fills it in."""

from collections.abc import Iterator, Sequence

from shared.identity.tenancy.tenant import PLANS, PlanName
from shared.integration.imports.files.columns import Form, Language, Layout, Words

TITLE = Words("Instructions", "Instrucciones")
HEADINGS: Sequence[Words] = (
    Words("Column", "Columna"),
    Words("Required", "Obligatoria"),
    Words("What it holds", "Qué contiene"),
    Words("Example", "Ejemplo"),
    Words("Choices", "Valores posibles"),
)
REQUIRED = Words("yes", "sí")
NOT_A_CHOICE = Words(
    "This word is not in the list. It is accepted if it says the same in the other language.",
    "Esta palabra no está en la lista. Se acepta si dice lo mismo en el otro idioma.",
)

_RULES: Sequence[tuple[Words, set[Form]]] = (
    (
        Words(
            "Columns marked * are required. The others may be empty or missing. Their order does"
            " not matter; columns with other headers are ignored.",
            "Las columnas marcadas con * son obligatorias. Las demás pueden estar vacías o faltar."
            " El orden no importa; las columnas con otros títulos se ignoran.",
        ),
        set(),
    ),
    (
        Words(
            "The sample row in grey is ignored as long as it is not changed. It may be deleted.",
            "La fila de ejemplo en gris se ignora mientras no se modifique. Se puede borrar.",
        ),
        set(),
    ),
    (
        Words(
            "Dates: as dates of the spreadsheet, or as text such as 2026-01-31 or 31/01/2026.",
            "Fechas: como fechas de la hoja de cálculo, o como texto: 2026-01-31 o 31/01/2026.",
        ),
        {"day", "moment"},
    ),
    (
        Words(
            "Numbers: without units; decimals after a point or a comma.",
            "Números: sin unidades; los decimales, tras un punto o una coma.",
        ),
        {"number", "whole"},
    ),
    (
        Words("Yes or no: yes, no.", "Sí o no: sí, no."),
        {"flag"},
    ),
    (
        Words(
            "Codes are text: 007 stays 007.",
            "Los códigos son texto: 007 sigue siendo 007.",
        ),
        set(),
    ),
    (
        Words(
            "Formulas and merged cells are not accepted: paste values.",
            "No se aceptan fórmulas ni celdas combinadas: pegue valores.",
        ),
        set(),
    ),
    (
        Words(
            "Save it as .xlsx or as .csv. Only the first visible sheet is read.",
            "Guárdelo como .xlsx o como .csv. Solo se lee la primera hoja visible.",
        ),
        set(),
    ),
)
"""Each with the forms of column that it is about; none: it is about all."""

_PLAN_NAMES: Sequence[PlanName] = ("essentials", "professional", "enterprise")


def rules(layout: Layout, language: Language) -> Iterator[str]:
    """Yield the rules that hold for the whole sheet, one sentence or two each."""
    yield _rows(layout).in_(language)
    forms = {column.form for column in layout.columns}
    for rule, about in _RULES:
        if not about or about & forms:
            yield rule.in_(language)
    yield _limits().in_(language)


def _rows(layout: Layout) -> Words:
    if layout.key:
        return Words(
            f"Each row is one line. Rows with the same {_listed(layout, layout.key, 'en')} belong"
            f" together: their {_listed(layout, _shared_fields(layout), 'en')} must be the same,"
            " or be given in the first of them only.",
            "Cada fila es una línea. Las filas que coinciden en"
            f" {_listed(layout, layout.key, 'es')} van juntas:"
            f" {_listed(layout, _shared_fields(layout), 'es')} deben ser iguales en todas, o"
            " indicarse solo en la primera.",
        )
    return Words(
        f"No two rows may have the same {_listed(layout, layout.unique, 'en')}.",
        f"No puede haber dos filas que coincidan en {_listed(layout, layout.unique, 'es')}.",
    )


def _shared_fields(layout: Layout) -> Sequence[str]:
    return [
        column.field
        for column in layout.columns
        if not column.of_line and column.field not in layout.key
    ]


def _listed(layout: Layout, fields: Sequence[str], language: Language) -> str:
    *names, last = [layout.by_field[field].header.in_(language) for field in fields]
    conjunction = Words("and", "y").in_(language)
    return f"{', '.join(names)} {conjunction} {last}" if names else last


def _limits() -> Words:
    amounts = [f"{PLANS[name].limits['rows_per_import']:,}" for name in _PLAN_NAMES]
    plans = [
        f"{amount} ({name.capitalize()})" for name, amount in zip(_PLAN_NAMES, amounts, strict=True)
    ]
    english = ", ".join(plans)
    spanish = english.translate({ord(","): "."}).replace("). ", "), ")
    return Words(
        f"Rows per file, by plan: {english}.", f"Filas por archivo, según el plan: {spanish}."
    )
