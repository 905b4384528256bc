"""The reasons of error reports in the language of the report.

Rules write English messages. Their Spanish texts are here, because only reports show them.
"""

import re
from collections.abc import Mapping
from functools import cache

from shared.integration.imports.languages import Language

_FIXED = "item_code, man_btch_num, man_ser_num or inventory_item"
_AS_TEXT = "format the cell as text and enter it again"
_COMO_TEXTO = "dé formato de texto a la celda y vuelva a escribirlo"

_SPANISH: Mapping[str, str] = {
    # any field
    "is required": "es obligatorio",
    "must not be empty": "no debe estar vacío",
    "must be a text": "debe ser un texto",
    "must be valid Unicode text": "debe ser un texto Unicode válido",
    "must not contain control characters": "no debe contener caracteres de control",
    "must not contain control or hidden characters": (
        "no debe contener caracteres de control ni ocultos"
    ),
    "must have at most {} characters": "debe tener como máximo {} caracteres",
    "must have at least {} entry": "debe tener al menos {} elemento",
    "must have at most {} entries": "debe tener como máximo {} elementos",
    "must be a list": "debe ser una lista",
    f"has more digits than a number keeps; {_AS_TEXT}": (
        f"tiene más cifras de las que conserva un número; {_COMO_TEXTO}"
    ),
    "must be an object": "debe ser un objeto",
    "must be a country code of two capital letters (ISO 3166-1), such as ES": (
        "debe ser un código de país de dos letras mayúsculas (ISO 3166-1), como ES"
    ),
    "must have at most {} names, has {}": "debe tener como máximo {} nombres, tiene {}",
    "must have at most {} bytes, has {}": "debe tener como máximo {} bytes, tiene {}",
    "must be one of {}": "debe ser uno de estos valores: {}",
    "must be true or false": "debe ser verdadero o falso",
    "must be yes or no": "debe ser sí o no",
    "is not a valid value: {}": "no es un valor válido: {}",
    f"is not a valid value: {{}}, a date or time; {_AS_TEXT}": (
        f"no es un valor válido: {{}}, una fecha u hora; {_COMO_TEXTO}"
    ),
    f"is not a valid value: {{}} in the number format {{}}; {_AS_TEXT}": (
        f"no es un valor válido: {{}} en el formato de número {{}}; {_COMO_TEXTO}"
    ),
    "is already taken by another product": "ya lo usa otro artículo",
    "was the code of {} (product, id {}); documents or stock movements name it": (
        "fue el código de {} (artículo, id {}); hay documentos o movimientos que lo nombran"
    ),
    "already exists": "ya existe",
    "already exists with the id {}": "ya existe con el id {}",
    # numbers and dates
    "must be a number": "debe ser un número",
    "must be a number; {} has its minus at the end, write {}": (
        "debe ser un número; {} tiene el signo menos al final, escriba {}"
    ),
    "must be a number the service can hold": "es un número fuera de los límites del servicio",
    "must be a whole number": "debe ser un número entero",
    "must be a whole number: product {} is managed by serial": (
        "debe ser un número entero: el artículo {} se gestiona por serie"
    ),
    "must have at most {} decimals": "debe tener como máximo {} decimales",
    "must be more than {}": "debe ser mayor que {}",
    "must be at least {}": "debe ser como mínimo {}",
    "must be at least minimum ({})": "debe ser como mínimo el mínimo ({})",
    "must be at most {}": "debe ser como máximo {}",
    "must be at most maximum ({})": "debe ser como máximo el máximo ({})",
    "is too large": "es demasiado grande",
    "is ambiguous: {} may have decimals or thousands; write {} or {}": (
        "es ambiguo: {} puede tener decimales o millares; escriba {} o {}"
    ),
    "must be a date as text": "debe ser una fecha como texto",
    "must be a date, YYYY-MM-DD or, day first, dd/mm/yyyy": (
        "debe ser una fecha, AAAA-MM-DD o, con el día primero, dd/mm/aaaa"
    ),
    "must be a date-time with offset, such as {}": (
        "debe ser una fecha y hora con desfase horario, como {}"
    ),
    "must be a date and time such as {}, or a day as {}": (
        "debe ser una fecha y hora como {}, o un día como {}"
    ),
    # products
    "must be an http or https address": "debe ser una dirección http o https",
    "must be equal to item_code ({})": "debe ser igual a item_code ({})",
    "no product has the code {}": "ningún artículo tiene el código {}",
    "the product has no unit {}; it has none": (
        "el artículo no tiene la unidad {}; no tiene ninguna"
    ),
    "the product has no unit {}; it has {}": "el artículo no tiene la unidad {}; tiene {}",
    "must count at most {} units; {} requested": "debe contar {} unidades como máximo; se piden {}",
    "{} {} are {} units; at most 6 decimals fit": (
        "{} {} son {} unidades; caben 6 decimales como máximo"
    ),
    "{} requested, {} can be sold of {} in {}": "se piden {}; se pueden vender {} de {} en {}",
    "product {} is not kept in stock": "el artículo {} no se mantiene en inventario",
    "product {} is not managed by batch": "el artículo {} no se gestiona por lote",
    "product {} is not managed by serial": "el artículo {} no se gestiona por serie",
    "is required: product {} is managed by batch": (
        "es obligatorio: el artículo {} se gestiona por lote"
    ),
    "is required: product {} is managed by serial": (
        "es obligatorio: el artículo {} se gestiona por serie"
    ),
    "{} given, {} required": "se dan {} y se requieren {}",
    "batch {} has the expiry date {} at {}": "el lote {} tiene la fecha de caducidad {} en {}",
    "batch {} has the expiry date {} at row {}": (
        "el lote {} tiene la fecha de caducidad {} en la fila {}"
    ),
    "batch {} of {} is in stock with the expiry date {}, {} given": (
        "el lote {} de {} está en inventario con la fecha de caducidad {}, no {}"
    ),
    "batch {} of {} is in stock without an expiry date, {} given; correct the date of the batch"
    " first": (
        "el lote {} de {} está en inventario sin fecha de caducidad, no con {}; corrija antes la"
        " fecha del lote"
    ),
    "is on the document already, at {}": "ya está en el documento, en {}",
    "is on the document already, at row {}": "ya está en el documento, en la fila {}",
    **{
        f"Product {{}} is {use} and cannot change {_FIXED}.": (
            f"El artículo {{}} está {usado} y no puede cambiar {_FIXED.replace(' or ', ' ni ')}."
        )
        for use, usado in (
            ("in stock", "en inventario"),
            ("on open documents or counts", "en documentos o conteos abiertos"),
            ("in use by pick faces", "en posiciones de preparación"),
        )
    },
    # warehouses and positions
    "no warehouse has the code {}": "ningún almacén tiene el código {}",
    "warehouse {} has no position {}": "el almacén {} no tiene la posición {}",
    "position {} is disabled": "la posición {} está deshabilitada",
    "position {} is blocked": "la posición {} está bloqueada",
    "position {} is not pickable": "en la posición {} no se puede preparar",
    "position {} is the pick face of {} products; the limit is {}": (
        "la posición {} es la de preparación de {} artículos; el límite es {}"
    ),
    "must be another warehouse than from_warehouse, {}": (
        "debe ser un almacén distinto del de origen, {}"
    ),
    # stock
    "is the same stock as in row {}": "son las mismas existencias que en la fila {}",
    "{} expected, {} there": "se esperaban {}, hay {}",
    "{} counted, {} allocated of {} at {}": "{} contados, {} asignados de {} en {}",
    "must be 1 for a serial, or 0 if it is missing; {} given": (
        "debe ser 1 para un número de serie, o 0 si falta; se da {}"
    ),
    "serial {} is already in row {}": "la serie {} ya está en la fila {}",
    "serial {} is already in stock at {} {}": "la serie {} ya está en existencias en {} {}",
    "serial {} is already in transit to {}": "la serie {} ya está en tránsito a {}",
    "{} at {} would be {}; the limit is {}": "{} en {} serían {}; el límite es {}",
    "{} has passed, today is {}; expired goods enter the stock as quarantine, damaged or blocked,"
    " not as available": (
        "{} ya pasó, hoy es {}; la mercancía caducada entra en existencias como cuarentena, dañada"
        " o bloqueada, no como disponible"
    ),
    "{} of {} at {} would be adjusted, from {} to {}; more than {} needs the approval of a user"
    " with approvals.grant": (
        "se ajustarían {} de {} en {}, de {} a {}; más de {} requiere la aprobación de un usuario"
        " con approvals.grant"
    ),
    # what customers send back
    "no exit document has the number, reference or id {}": (
        "ningún documento de salida tiene el número, la referencia o el id {}"
    ),
    "{} may mean {}; write one of these numbers": ("{} puede ser {}; escriba uno de estos números"),
    "no exit document has the id {}": "ningún documento de salida tiene el id {}",
    "is required without exit_document_id": "es obligatorio sin documento de salida",
    "is required: the setting blind_returns does not allow returns without it": (
        "es obligatorio: el ajuste blind_returns no permite devoluciones sin él"
    ),
    "{} of {} to return; {} dispatched with {}, {} returned, {} left": (
        "{} de {} por devolver; {} despachados con {}, {} devueltos, quedan {}"
    ),
    "serial {} of {} did not leave with {}": "la serie {} de {} no salió con {}",
    "serial {} of {} was returned already": "la serie {} de {} ya se devolvió",
    # rows
    "skipped because row {} of the document differs": (
        "omitida porque la fila {} del documento difiere"
    ),
    "differs from what exists with the id {}": "difiere de lo que ya existe con el id {}",
    "already used in row {}": "ya se usa en la fila {}",
    "differs from {} in the column {}": "difiere de {} en la columna {}",
    "differs from row {} of the same document": "difiere de la fila {} del mismo documento",
    "rejected because row {} of the document has errors": (
        "rechazada porque la fila {} del documento tiene errores"
    ),
    "row {} has no valid type and may belong to this document; add it or remove the row": (
        "la fila {} no tiene un tipo válido y puede ser de este documento; añádalo o quite la fila"
    ),
    "row {} has no reference and may belong to this document; add it or remove the row": (
        "la fila {} no tiene referencia y puede ser de este documento; añádala o quite la fila"
    ),
    "is in column {}, but the header has {} columns": (
        "está en la columna {}, pero la cabecera tiene {} columnas"
    ),
    "has more problems; only the first {} are listed": (
        "tiene más problemas; solo se muestran los primeros {}"
    ),
    "{} characters in all rows, at most {} allowed": (
        "{} caracteres en todas las filas; se permiten como máximo {}"
    ),
}
"""English message → Spanish text. `{}` stands for a value; the values keep their order."""


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    """Return the patterns of the messages, those with the most fixed text first."""
    longest_first = sorted(_SPANISH, key=len, reverse=True)
    return [
        (re.compile(re.escape(english).replace(r"\{\}", "(.*)"), re.DOTALL), _SPANISH[english])
        for english in longest_first
    ]


def reason_in(language: Language, message: str) -> str:
    """Return a message in a language; in English if it has no other text."""
    if language == "en":
        return message
    matches = ((pattern.fullmatch(message), text) for pattern, text in _patterns())
    return next((text.format(*found.groups()) for found, text in matches if found), message)
