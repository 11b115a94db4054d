"""The report's words in each language: templates with named slots, and what fills them.

A language is one file in `words/`. What a file leaves out is said in English; a file that holds
`same_as: zh_hant` and nothing else borrows the words of another language.

A template's slot is `{left}` for a text or a list of names, `{mean:signed}` for a number in
one of the styles of `notation`, or `{errors|question|questions}` for the word that goes
with a number.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, cast

from harness.analysis.findings import value_text
from harness.render.blocks import Block, Column, Section
from harness.render.notation import STYLES, Number
from harness.text import shortened, single_spaced

FOLDER = files("harness.render").joinpath("words")

SAME_AS = re.compile(r"same_as: (\w+)$", re.MULTILINE)

SLOT = re.compile(r"\{(?P<name>\w+)(?::(?P<style>\w+)|\|(?P<one>[^|{}]*)\|(?P<many>[^|{}]*))?\}")

Template = str | list[str | dict[str, str]]
"""A sentence, or its parts: each is a text, or texts by the condition under which one is said."""

TEXTS = (
    *("between_runs", "changed", "check", "claim", "direction", "doubt", "factor", "factors"),
    *("first", "first_rank", "given", "hits", "layer", "left", "meaning", "metric", "name"),
    *("prospect", "question", "reading", "reason", "right_run", "run", "runs", "second", "source"),
    "verdict",
)
"""Keys of columns that hold no numbers."""

LONGEST = 60
"""Characters of a setting's value; a whole prompt would bury the sentence."""

IN_FULL = 40
"""Names of a list that a report in full writes out; the others are counted."""


def languages() -> dict[str, str]:
    """Return each language's name and the language whose words it uses."""
    found = {}
    for file in sorted(FOLDER.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".yaml"):
            name = file.name.removesuffix(".yaml")
            borrowed = SAME_AS.match(file.read_text(encoding="utf-8"))
            found[name] = borrowed.group(1) if borrowed else name
    return found


LANGUAGES = languages()
"""Language -> the language whose words it uses; usually itself."""


def language_tag(language: str) -> str:
    """Return the tag that HTML has for a language.

    >>> language_tag("ja"), language_tag("zh_hant")
    ('ja', 'zh-Hant')
    """
    name, _, script = language.partition("_")
    return f"{name}-{script.title()}" if script else name


@dataclass(frozen=True, slots=True)
class Words:
    """One language's words."""

    language: str
    texts: Mapping[str, Mapping[str, Any]]
    """Table -> key -> text, as the YAML file has them."""
    listed: int = 12
    """Names of a list that are written out; the others are counted."""

    def get(self, table: str, key: str) -> str:
        """Return a text; a key that has none is shown itself."""
        return str(self.texts[table].get(key, key))

    def section(self, key: str, blocks: Iterable[Block], aside: bool = False) -> Section:
        """Return these blocks under the heading of this key."""
        return Section(key, self.get("headings", key), tuple(blocks), aside)

    def columns(
        self, keys: Iterable[str], long: Collection[str] = (), detail: Collection[str] = ()
    ) -> tuple[Column, ...]:
        """Return the columns of these keys; the other arguments name those of each kind."""
        return tuple(
            Column(self.get("columns", key), key not in TEXTS, key in long, key in detail)
            for key in keys
        )

    def line(self, key: str, /, **values: object) -> str:
        """Return a line with its slots filled."""
        return self.fill(str(self.texts["lines"][key]), values, cast(Mapping[str, Number], values))

    def on_page(self, key: str, /, **values: object) -> str:
        """Return a text that only the page for a browser shows, with its slots filled."""
        return self.fill(str(self.texts["html"][key]), values, cast(Mapping[str, Number], values))

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
        """Return names in a row; of a long list the first ones and the number of the others."""
        every = list(names)
        joined = self.join("list", every[: self.listed])
        more = len(every) - self.listed
        return joined + (self.line("and_more", more=more) if more > 0 else "")

    def join(self, how: str, texts: Iterable[str]) -> str:
        """Return all the texts, joined as this language joins a list, clauses or parts."""
        return str(self.texts["joins"][how]).join(texts)

    def metric(self, name: str) -> str:
        """Return a metric's name, with its rule in brackets.

        >>> words("en").metric("context_precision@ragchecker")
        'context precision (RAGChecker)'
        """
        base, _, rule = name.partition("@")
        written = self.get("metrics", base)
        return f"{written} ({self.get('rules', rule)})" if rule else written

    def value(self, value: object) -> str:
        """Return a factor's value, cut where it is long."""
        return shortened(single_spaced(value_text(value)), LONGEST)


@cache
def words(language: str, listed: int = 12) -> Words:
    """Return a language's words; KeyError for one that is not in `LANGUAGES`."""
    own = language_file(LANGUAGES[language])
    english = language_file("en")
    texts = {table: {**entries, **(own.get(table) or {})} for table, entries in english.items()}
    return Words(language, texts, listed)


@cache
def language_file(language: str) -> Mapping[str, Mapping[str, Any]]:
    """Return what a language's file holds; nothing where it is empty."""
    import yaml  # type: ignore[import-untyped, unused-ignore]

    text = FOLDER.joinpath(f"{language}.yaml").read_text(encoding="utf-8")
    found: Mapping[str, Mapping[str, Any]] = yaml.safe_load(text) or {}
    return found
