"""What holds for every language's words, whoever adds one."""

import re
from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from itertools import product

import pytest

from harness.analysis import GOLD_METRICS, KINDS
from harness.analysis.findings.kinds import Finding
from harness.analysis.results import Attribution, Conclusion, Trust
from harness.metrics import METRICS
from harness.records import Layer, Status
from harness.render import LANGUAGES, sentence, words
from harness.render.quantities import STYLES
from harness.render.sentences import PARTS, TRANSLATED
from harness.render.wording import SLOT

WRITTEN = sorted(set(LANGUAGES.values()))
each_language = pytest.mark.parametrize("language", WRITTEN)
each_kind = pytest.mark.parametrize("kind", KINDS)

CHOICES = {
    "direction": ("won", "lost"),
    "said": ("better", "no_evidence"),
    "unmatched": ("one_label", "other_claims"),
    "check": ("passage_useful", "response_in_context"),
    "verdict": ("no_evidence", "inverted"),
    "reason": ("corpus", "testset"),
    "status": ("judge_unparsable", "no_claims"),
    "graded_by": ("grade", "answer_match"),
    "source": ("gold", "judge"),
}
"""Names of a finding that are words of ours, and what they may be."""


def templates(language: str, kind: str) -> Iterator[tuple[str, str]]:
    """Yield each part of a kind's words by its name."""
    template = words(language).texts["kinds"][kind]
    yield from [("", template)] if isinstance(template, str) else template.items()


@each_language
def test_every_kind_has_words(language: str) -> None:
    """Each kind of finding is put into words, and nothing that is no kind."""
    assert set(words(language).texts["kinds"]) == set(KINDS)


@each_language
@each_kind
def test_slots_are_carried_by_the_kind(language: str, kind: str) -> None:
    """A template asks only for what findings of its kind carry, each in a style that exists."""
    carried = KINDS[kind]
    texts = {*carried.about, *carried.names, *carried.groups}
    if {"factor", "left", "right", "left_value"} <= texts:
        texts.add("change")
    for _, template in templates(language, kind):
        for slot in SLOT.finditer(template):
            name, style, one, _ = slot.group("name", "style", "one", "many")
            assert name in (texts if style is None and one is None else carried.numbers), template
            assert style is None or style in STYLES, template
        assert "{" not in SLOT.sub("", template)


@each_kind
def test_parts_are_the_same_in_every_language(kind: str) -> None:
    """What is said in parts is said in the same parts everywhere, and a rule chooses them."""
    parts = [[name for name, _ in templates(language, kind)] for language in WRITTEN]

    assert all(found == parts[0] for found in parts)
    assert (parts[0] == [""]) is (kind not in PARTS)


@each_language
def test_lines_have_the_slots_of_the_english_ones(language: str) -> None:
    """A line takes the same values in every language; only its plural may be missing."""

    def slots(template: str) -> set[tuple[str, str | None]]:
        return {
            (found["name"], found["style"])
            for found in SLOT.finditer(template)
            if found["one"] is None
        }

    mine, english = words(language).texts["lines"], words("en").texts["lines"]

    assert list(mine) == list(english)
    for key in english:
        assert slots(mine[key]) == slots(english[key]), key


@each_language
def test_tables_have_the_keys_of_the_english_ones(language: str) -> None:
    """No heading, status, verdict or metric is forgotten in a language."""
    mine, english = words(language).texts, words("en").texts

    assert list(mine) == list(english)
    for table, entries in english.items():
        assert set(mine[table]) == set(entries), table


@each_language
@pytest.mark.parametrize(
    ("table", "members"),
    [
        ("statuses", Status),
        ("verdicts", Conclusion),
        ("trust", Trust),
        ("attribution", Attribution),
    ],
)
def test_every_member_has_words(language: str, table: str, members: type[StrEnum]) -> None:
    """Whatever analysis may say has a word."""
    assert set(words(language).texts[table]) == {member.value for member in members}


@each_language
def test_layers_have_words(language: str) -> None:
    """Every layer of the system has a word."""
    assert set(words(language).texts["layers"]) == {layer.value for layer in Layer}


@each_language
@pytest.mark.parametrize("metric", [*METRICS, *(facts.name for facts in GOLD_METRICS)])
def test_every_metric_has_a_name_and_a_meaning(language: str, metric: str) -> None:
    """No metric of the table stands in a report under its spelling alone."""
    texts = words(language).texts
    base, _, rule = metric.partition("@")

    assert base in texts["metrics"]
    assert not rule or rule in texts["rules"]
    assert metric in texts["meanings"] or base in texts["meanings"]


@each_language
@pytest.mark.parametrize("number", [None, float("nan"), 0, 1, 0.25])
@each_kind
def test_no_sentence_says_none(language: str, number: float | None, kind: str) -> None:
    """Every finding becomes one whole sentence, and a number that is undefined is NA in it."""
    said = sentence(finding(kind, number), words(language))

    assert said[-1] in ".。"
    assert not re.search(r"None|nan|\{|\}", said)


@each_kind
def test_every_part_can_be_said(kind: str) -> None:
    """Whatever its numbers, lists and names are, a finding's parts are all there."""
    for number, group in product((None, 0, 0.01, 1), ((), ("q1",))):
        whole = finding(kind, number, group)
        for choice in range(2):
            names = {name: CHOICES.get(name, ("a", "b"))[choice] for name in whole.names}
            assert sentence(replace(whole, names=names), words("en"))


def finding(kind: str, number: float | None, group: tuple[str, ...] = ("q1", "q2")) -> Finding:
    """Return a finding of this kind that carries all it may."""
    carried = KINDS[kind]
    about = {name: f"the {name}" for name in carried.about if name not in ("questions", "metric")}
    return Finding(
        kind=kind,
        numbers=dict.fromkeys(carried.numbers, number),
        names={name: CHOICES.get(name, (f"the {name}",))[0] for name in carried.names},
        groups=dict.fromkeys(carried.groups, group),
        questions=("q1", "q2") if "questions" in carried.about else (),
        metric="faithfulness" if "metric" in carried.about else None,
        **about,
    )


def test_translated_names_have_a_table() -> None:
    """A finding's name that is looked up is looked up in a table that exists."""
    assert set(TRANSLATED.values()) <= set(words("en").texts)


def test_simplified_chinese_borrows_the_traditional_words() -> None:
    """A language without words of its own has another's, under its own name."""
    assert words("zh_hans").texts == words("zh_hant").texts


def test_unknown_language() -> None:
    """A language that is in no table is refused, not replaced."""
    with pytest.raises(KeyError):
        words("klingon")


def test_what_is_put_in_is_no_template() -> None:
    """Braces in a name are shown as they are."""
    assert words("en").fill("{left} {n:count}", {"left": "{n:count}"}, {"n": 3}) == "{n:count} 3"


def test_long_lists_are_cut_with_their_count() -> None:
    """Of more names than fit, the first stand there and the others are counted."""
    assert words("en", 2).list(["q1", "q2", "q3", "q4"]) == "q1, q2 and 2 more"
    assert words("ja", 2).list(["q1", "q2", "q3"]) == "q1、q2ほか1件"


def test_unknown_metrics_keep_their_spelling() -> None:
    """A metric of one's own needs no words."""
    assert words("zh_hant").metric("cites_policy") == "cites_policy"
    assert words("en").metric("f1@mine") == "F1 (mine)"


def test_long_values_are_cut() -> None:
    """A whole prompt does not bury the sentence that names it as a value."""
    assert words("en").value("a\nb" + "c" * 100) == "a b" + "c" * 54 + "..."
