"""The report's words in each language: templates with named slots, and what fills them.

A template's slot is `{left}` for a text or a list of names, `{mean:signed}` for a number in
one of the styles of `quantities`, or `{errors|question|questions}` for the word that goes
with a number.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from harness.analysis.findings.listing import value_text
from harness.render.quantities import STYLES, Number

LANGUAGES: dict[str, str] = {"en": "en", "ja": "ja", "zh_hant": "zh_hant", "zh_hans": "zh_hant"}
"""Language -> the file of words it is written in. Simplified Chinese has none of its own yet."""

SLOT = re.compile(r"\{(?P<name>\w+)(?::(?P<style>\w+)|\|(?P<one>[^|{}]*)\|(?P<many>[^|{}]*))?\}")

Template = str | Mapping[str, str]
"""A sentence, or its parts by name where not every part is said every time."""

LONGEST = 60
"""Characters of a setting's value; a whole prompt would bury the sentence."""


@dataclass(frozen=True, slots=True)
class Words:
    """One language's words."""

    language: str
    texts: Mapping[str, Mapping[str, Any]]
    """Table -> key -> text, as the YAML file has them."""
    listed: int = 12
    """So many names of a list are written out; of the others there is the count."""

    def get(self, table: str, key: str) -> str:
        """Return a text; a key that nobody put into words stands for itself."""
        return str(self.texts[table].get(key, key))

    def line(self, key: str, /, **values: object) -> str:
        """Return a line with its slots filled."""
        return self.fill(str(self.texts["lines"][key]), values, cast(Mapping[str, Number], values))

    def fill(
        self, template: str, names: Mapping[str, object], numbers: Mapping[str, Number]
    ) -> str:
        """Fill a template once: what is put in is never read as a template itself."""

        def value(slot: re.Match[str]) -> str:
            name, style, one, many = slot.group("name", "style", "one", "many")
            if style:
                return STYLES[style](numbers[name])
            if one is not None:
                return str(one if numbers[name] == 1 else many)
            found = names[name]
            return found if isinstance(found, str) else self.list(cast(Iterable[str], found))

        return SLOT.sub(value, template)

    def list(self, names: Iterable[str]) -> str:
        """Return names in a row, the first of them where they are many."""
        every = list(names)
        joined = self.texts["joins"]["list"].join(every[: self.listed])
        more = len(every) - self.listed
        return str(joined) + (self.line("and_more", more=more) if more > 0 else "")

    def parts(self, texts: Iterable[str]) -> str:
        """Return the parts of a sentence, joined as this language joins them."""
        return str(self.texts["joins"]["parts"].join(texts))

    def metric(self, name: str) -> str:
        """Return a metric's name; a rule stands behind it in brackets.

        >>> words("en").metric("context_precision@ragchecker")
        'context precision (RAGChecker)'
        """
        base, _, rule = name.partition("@")
        written = self.get("metrics", base)
        return f"{written} ({self.get('rules', rule)})" if rule else written

    def value(self, value: object) -> str:
        """Return a factor's value, cut where it is long."""
        written = " ".join(value_text(value).split())
        return written if len(written) <= LONGEST else written[: LONGEST - 3] + "..."


@cache
def words(language: str, listed: int = 12) -> Words:
    """Return a language's words; raise KeyError for one that is not in `LANGUAGES`."""
    from importlib.resources import files

    import yaml  # type: ignore[import-untyped, unused-ignore]

    file = files("harness.render").joinpath("words", f"{LANGUAGES[language]}.yaml")
    return Words(language, yaml.safe_load(file.read_text(encoding="utf-8")), listed)
