"""The languages of templates, instructions and error reports."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

type Language = Literal["en", "es"]

LANGUAGES: tuple[Language, ...] = ("en", "es")


@dataclass(frozen=True, slots=True)
class BilingualText:
    """A text in English and in Spanish."""

    en: str
    es: str

    def in_(self, language: Language) -> str:
        """Return the text in `language`."""
        return self.es if language == "es" else self.en


class ColumnWords(NamedTuple):
    """The header of a column, what it contains, and an example."""

    header: BilingualText
    description: BilingualText
    example: BilingualText
