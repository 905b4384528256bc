"""The instructions in a template."""

from collections.abc import Iterator, Sequence

from shared.identity.tenancy.tenant import PLANS, PlanName
from shared.integration.imports.files.columns import CellType, FileLayout
from shared.integration.imports.languages import BilingualText, Language

TITLE = BilingualText("Instructions", "Instrucciones")
HEADINGS: Sequence[BilingualText] = (
    BilingualText("Column", "Columna"),
    BilingualText("Required", "Obligatoria"),
    BilingualText("Content", "Contenido"),
    BilingualText("Example", "Ejemplo"),
    BilingualText("Choices", "Valores posibles"),
)
REQUIRED = BilingualText("yes", "sí")
UNKNOWN_CHOICE = BilingualText(
    "This value is not in the list. Values of the list in the other language are accepted.",
    "Este valor no está en la lista. Se aceptan los valores de la lista en el otro idioma.",
)

_RULES: Sequence[tuple[BilingualText, set[CellType]]] = (
    (
        BilingualText(
            "Columns marked * are required. Other columns may be empty or missing. The order of"
            " columns does not matter. Columns with unknown headers are ignored.",
            "Las columnas marcadas con * son obligatorias. Las demás pueden estar vacías o faltar."
            " El orden no importa. Las columnas con títulos desconocidos se ignoran.",
        ),
        set(),
    ),
    (
        BilingualText(
            "The grey sample row is ignored unless it is changed. It may be deleted.",
            "La fila de ejemplo en gris se ignora si no se modifica. Se puede borrar.",
        ),
        set(),
    ),
    (
        BilingualText(
            "Dates: date cells, or text such as 2026-01-31 or 31/01/2026.",
            "Fechas: celdas de fecha, o texto como 2026-01-31 o 31/01/2026.",
        ),
        {"date", "datetime"},
    ),
    (
        BilingualText(
            "Numbers: without units, with a decimal point or a decimal comma.",
            "Números: sin unidades, con punto decimal o coma decimal.",
        ),
        {"decimal", "integer"},
    ),
    (
        BilingualText("Yes or no: yes, no.", "Sí o no: sí, no."),
        {"boolean"},
    ),
    (
        BilingualText(
            "Codes are text: 007 remains 007.",
            "Los códigos son texto: 007 sigue siendo 007.",
        ),
        set(),
    ),
    (
        BilingualText(
            "Formulas and merged cells are not accepted. Paste values instead.",
            "No se aceptan fórmulas ni celdas combinadas. Pegue valores.",
        ),
        set(),
    ),
    (
        BilingualText(
            "Save the file as .xlsx or .csv. Only the first visible sheet is read.",
            "Guarde el archivo como .xlsx o .csv. Solo se lee la primera hoja visible.",
        ),
        set(),
    ),
)
"""Each rule with the cell types that it concerns. An empty set means every file."""

_PLAN_NAMES: Sequence[PlanName] = ("essentials", "professional", "enterprise")


def file_rules(layout: FileLayout, language: Language) -> Iterator[str]:
    """Yield the rules for the whole sheet, one or two sentences each."""
    yield _row_rule(layout).in_(language)
    cell_types = {column.cell_type for column in layout.columns}
    for rule, concerned in _RULES:
        if not concerned or concerned & cell_types:
            yield rule.in_(language)
    yield _row_limits().in_(language)


def _row_rule(layout: FileLayout) -> BilingualText:
    if layout.group_by:
        return BilingualText(
            "Each row is one line. Rows with the same"
            f" {_join(layout, layout.group_by, 'en')} belong together. Their"
            f" {_join(layout, _head_fields(layout), 'en')} must be the same, or be given only in"
            " the first of these rows.",
            "Cada fila es una línea. Las filas que coinciden en"
            f" {_join(layout, layout.group_by, 'es')} van juntas."
            f" {_join(layout, _head_fields(layout), 'es')} deben ser iguales en todas, o indicarse"
            " solo en la primera.",
        )
    return BilingualText(
        f"No two rows may have the same {_join(layout, layout.unique_fields, 'en')}.",
        f"No puede haber dos filas que coincidan en {_join(layout, layout.unique_fields, 'es')}.",
    )


def _head_fields(layout: FileLayout) -> Sequence[str]:
    return [
        column.field
        for column in layout.columns
        if not column.is_line_field and column.field not in layout.group_by
    ]


def _join(layout: FileLayout, fields: Sequence[str], language: Language) -> str:
    *names, last = [layout.by_field[field].header.in_(language) for field in fields]
    conjunction = BilingualText("and", "y").in_(language)
    return f"{', '.join(names)} {conjunction} {last}" if names else last


def _row_limits() -> BilingualText:
    amounts = [f"{PLANS[name].limits['rows_per_import']:,}" for name in _PLAN_NAMES]
    plans = [
        f"{amount} ({name.capitalize()})" for name, amount in zip(_PLAN_NAMES, amounts, strict=True)
    ]
    english = ", ".join(plans)
    spanish = english.translate({ord(","): "."}).replace("). ", "), ")
    return BilingualText(
        f"Rows per file, by plan: {english}.", f"Filas por archivo, según el plan: {spanish}."
    )
