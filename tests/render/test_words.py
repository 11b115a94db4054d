"""What holds for every language's words, whoever adds one."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from harness.analysis import KINDS
from harness.analysis.findings import Finding
from harness.records import Status
from harness.render import LANGUAGES, sentence, vocabulary, words
from harness.render.notation import STYLES
from harness.render.sections.finding_sentences import TRANSLATED
from harness.render.vocabulary import SLOT, Words

WRITTEN = sorted(set(LANGUAGES.values()))
each_language = pytest.mark.parametrize("language", WRITTEN)

CHOICES = {
    "direction": ("won", "lost"),
    "said": ("better", "no_evidence"),
    "unmatched": ("one_label", "other_claims"),
    "check": ("passage_useful", "response_in_context"),
    "verdict": ("no_evidence", "inverted"),
    "reason": ("corpus", "unknown_corpus", "testset"),
    "status": ("judge_unparsable", "no_claims"),
    "graded_by": ("grade", "answer_match"),
    "source": ("gold", "judge"),
}
"""Names of a finding that are codes of ours, and what they may be."""


def templates(voice: Words, kind: str) -> Iterator[tuple[str, str]]:
    """Yield each text of a kind with the condition under which it is said."""
    template = voice.texts["kinds"][kind]
    for part in [template] if isinstance(template, str) else template:
        yield from [("", part)] if isinstance(part, str) else part.items()


def slots(template: str) -> set[tuple[str, str | None]]:
    """Return the slots of a template that a translation must have too: all but the plurals."""
    found = SLOT.finditer(template)
    return {(slot["name"], slot["style"]) for slot in found if slot["one"] is None}


@each_language
def test_templates_ask_for_what_findings_carry(language: str) -> None:
    """Each kind has words; their slots and conditions name only what its findings carry."""
    voice = words(language)
    assert set(voice.texts["kinds"]) == set(KINDS)
    for kind, carried in KINDS.items():
        texts = {*carried.about, *carried.names, *carried.groups}
        if {"factor", "left_value"} <= texts:
            texts.add("change")
        known = {*texts, *carried.numbers, "alpha"}
        for condition, template in templates(voice, kind):
            tested = re.findall(r"(?:^|and )(\w+)", condition)
            assert set(tested) <= {*known, "else"}, (kind, condition)
            for slot in SLOT.finditer(template):
                name, style, one, _ = slot.group("name", "style", "one", "many")
                assert name in (texts if style is None and one is None else carried.numbers), kind
                assert style is None or style in STYLES, (kind, template)
            assert "{" not in SLOT.sub("", template), (kind, template)


@each_language
def test_a_translation_fills_what_the_english_text_fills(language: str) -> None:
    """Every text has a slot of the same name and style, and is said under the same conditions."""
    mine, english = words(language), words("en")
    for kind in KINDS:
        found = list(templates(mine, kind))
        assert [name for name, _ in found] == [name for name, _ in templates(english, kind)], kind
    for table in ("lines", "html", "notes", "latex"):
        for key, text in english.texts[table].items():
            assert slots(mine.texts[table][key]) == slots(text), (table, key)


@each_language
def test_shipped_languages_are_complete(language: str) -> None:
    """A shipped language has a text for every English one, and none that English lacks."""
    mine, english = vocabulary.language_file(language), vocabulary.language_file("en")

    assert set(mine) == set(english)
    for table, entries in english.items():
        assert set(mine[table]) == set(entries), table


@each_language
def test_no_sentence_says_none(language: str) -> None:
    """Every finding becomes one whole sentence, whatever of it is undefined, empty or zero."""
    voice, groups, numbers = words(language), ((), ("q1", "q2")), (None, float("nan"), 0, 1, 0.25)
    for kind, number, group, choice in product(KINDS, numbers, groups, range(2)):
        whole = finding(kind, number, group)
        names = {name: CHOICES.get(name, ("a", "b"))[choice] for name in whole.names}
        said = sentence(replace(whole, names=names), voice)

        assert said[-1] in ".。", (kind, number, group)
        assert not re.search(r"None|nan|\{|\}", said), said


def finding(kind: str, number: float | None, group: tuple[str, ...]) -> Finding:
    """Return a finding of this kind that carries all it may."""
    carried = KINDS[kind]
    about = {name: f"the {name}" for name in carried.about if name not in ("questions", "metric")}
    return Finding(
        kind=kind,
        numbers=dict.fromkeys(carried.numbers, number),
        names={name: f"the {name}" for name in carried.names},
        groups=dict.fromkeys(carried.groups, group),
        questions=("q1", "q2") if "questions" in carried.about else (),
        metric="faithfulness" if "metric" in carried.about else None,
        **about,
    )


def test_every_status_and_translated_name_has_a_table() -> None:
    """A code of ours that a finding names is looked up in a table that exists."""
    assert set(TRANSLATED.values()) <= set(words("en").texts)
    assert set(words("en").texts["statuses"]) == {status.value for status in Status}


def test_what_a_language_lacks_is_said_in_english(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file with one translated word is a whole language."""
    english = vocabulary.language_file("en")

    def written(language: str) -> Any:
        return {"columns": {"run": "lancio"}} if language == "it" else english

    monkeypatch.setattr(vocabulary, "language_file", written)
    monkeypatch.setitem(vocabulary.LANGUAGES, "it", "it")
    italian = words("it", 7)

    assert italian.get("columns", "run") == "lancio"
    assert italian.get("columns", "question") == "question"
    assert italian.line("n_of_n") == words("en").line("n_of_n")


def test_the_languages_are_the_files() -> None:
    """A language is a file; one without words of its own has another's, under its own name."""
    assert LANGUAGES == {"en": "en", "ja": "ja", "zh_hans": "zh_hant", "zh_hant": "zh_hant"}
    assert words("zh_hans").texts == words("zh_hant").texts


def test_unknown_language() -> None:
    """A language without a file is refused, not replaced."""
    with pytest.raises(KeyError):
        words("klingon")


def test_what_is_put_in_is_no_template() -> None:
    """Braces in a name are shown as they are."""
    assert words("en").fill("{left} {n:count}", {"left": "{n:count}"}, {"n": 3}) == "{n:count} 3"


def test_long_lists_are_cut_with_their_count() -> None:
    """Of more names than fit, the first are listed and the others are counted."""
    assert words("en", 2).list(["q1", "q2", "q3", "q4"]) == "q1, q2 and 2 more"
    assert words("ja", 2).list(["q1", "q2", "q3"]) == "q1、q2ほか1件"


def test_unknown_metrics_keep_their_spelling() -> None:
    """A new metric needs no words: its identifier is shown."""
    assert words("zh_hant").metric("cites_policy") == "cites_policy"
    assert words("en").metric("f1@mine") == "F1 (mine)"


def test_long_values_are_cut() -> None:
    """A whole prompt does not bury the sentence that names it as a value."""
    assert words("en").value("a\nb" + "c" * 100) == "a b" + "c" * 54 + "..."


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "lines:\n"])
def test_an_empty_file_speaks_english(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str
) -> None:
    """A file of words that has just been created, or a table without entries, has no words."""
    for name in ("en", "zh_hant"):
        (tmp_path / f"{name}.yaml").write_bytes(
            vocabulary.FOLDER.joinpath(f"{name}.yaml").read_bytes()
        )
    (tmp_path / "de.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(vocabulary, "FOLDER", tmp_path)
    monkeypatch.setattr(vocabulary, "LANGUAGES", vocabulary.languages())

    german = words.__wrapped__("de")

    assert german.texts == words("en").texts
    vocabulary.language_file.cache_clear()
