"""One finding, one sentence, with the numbers that it rests on."""

from collections.abc import Callable, Mapping

from harness.analysis import Finding
from harness.analysis.results import Difference
from harness.render.wording import Template, Words

ALPHA = 0.05
"""Above this p a result is called consistent with chance."""

TRANSLATED = {
    "status": "statuses",
    "graded_by": "origins",
    "source": "sources",
    "verdict": "trust",
    "check": "agreed_checks",
    "unmatched": "unmatched",
}
"""Names that are words of ours: name -> the table they are looked up in."""

VALUES = ("left_value", "right_value", "second_left_value", "second_right_value")
"""Names that are values of a factor, which may be long."""


def sentence(finding: Finding, words: Words, alpha: float = ALPHA) -> str:
    """Return the finding as a sentence.

    >>> from harness.analysis import Severity
    >>> from harness.render.wording import words
    >>> found = Finding("partial_run", {"asked": 2, "questions": 8}, run="ctx_k9")
    >>> sentence(found, words("en"))
    'ctx_k9: only 2 of 8 questions were asked, and only those are compared.'
    """
    template: Template = words.texts["kinds"][finding.kind]
    names = names_of(finding, words)
    if isinstance(template, str):
        return words.fill(template, names, finding.numbers)
    chosen = PARTS[finding.kind](finding, alpha)
    return words.parts(words.fill(template[part], names, finding.numbers) for part in chosen)


def names_of(finding: Finding, words: Words) -> dict[str, object]:
    """Return the texts and lists that may stand in the finding's sentence."""
    names: dict[str, object] = {
        name: words.get(TRANSLATED[name], text)
        if name in TRANSLATED
        else words.value(text)
        if name in VALUES
        else text
        for name, text in finding.names.items()
    }
    about = {name: getattr(finding, name) for name in ("factor", "left", "right", "run")}
    names |= {name: text for name, text in about.items() if text is not None}
    names |= finding.groups
    if finding.metric is not None:
        names["metric"] = words.metric(finding.metric)
    if finding.questions:
        names["questions"] = finding.questions
    if finding.left is not None and "left_value" in names:
        names["change"] = words.line(
            "change_version" if finding.factor == "version" else "change", **names
        )
    return names


def answers_changed(right: Difference, words: Words, alpha: float = ALPHA) -> str:
    """Return which answers one contrast turned, and what chance would have done."""
    test = right.mcnemar
    numbers = {
        "p": right.p if test is None else test.p,
        "p_floor": right.p_floor if test is None else test.floor,
        "discordant": right.wins + right.losses,
        "questions": right.questions,
    }
    groups = {"gained": right.won, "lost": right.lost}
    template: Mapping[str, str] = words.texts["kinds"]["answers_changed"]
    parts = (turned(groups), chance(numbers, alpha)) if numbers["discordant"] else ("neither",)
    return words.parts(words.fill(template[part], groups, numbers) for part in parts)


def turned(groups: Mapping[str, tuple[str, ...]]) -> str:
    """Name the part that says which answers turned right or wrong."""
    found = [name for name in ("gained", "lost") if groups[name]]
    return found[0] if len(found) == 1 else "both" if found else "neither"


def chance(numbers: Mapping[str, float | int | None], alpha: float) -> str:
    """Name the part that says whether chance would do as much."""
    p, floor = numbers["p"], numbers["p_floor"]
    if p is None:
        return "untested"
    if p <= alpha:
        return "clear"
    return "floor" if floor is not None and p <= floor else "chance"


def won_and_lost(finding: Finding, alpha: float) -> tuple[str, ...]:
    """Name the parts about a difference; between two versions, with the questions that turned.

    Of other contrasts the questions stand in a table, with their signs.
    """
    told = ("won", "lost") if finding.factor == "version" else ()
    return ("lead", *(name for name in told if finding.groups[name]))


def agree(finding: Finding, alpha: float) -> tuple[str, ...]:
    """Name the part that says how far two judges agree, or why nothing does."""
    if finding.numbers["kappa"] is not None:
        if finding.names.get("unmatched"):
            return ("constant",)
        return ("point" if finding.numbers["low"] is None else "interval",)
    if finding.numbers["n"]:
        return ("no_kappa",)
    return ("lacking" if "lacking" in finding.names else "unmatched",)


def by_construction(finding: Finding, alpha: float) -> tuple[str, ...]:
    """Name the parts about a contrast whose passages are all the same."""
    return ("lead", *(name for name in ("gained", "lost") if finding.groups[name]))


def depends(finding: Finding, alpha: float) -> tuple[str, ...]:
    """Name the parts about an interaction."""
    p = finding.numbers["p"]
    return ("lead",) if p is None else ("lead", "clear" if p <= alpha else "chance")


def with_words(finding: Finding, alpha: float) -> tuple[str, ...]:
    """Name the part that offers a variant, where one can be written in a line."""
    return ("some" if finding.groups["words"] else "unwritable",)


def with_others(finding: Finding, alpha: float) -> tuple[str, ...]:
    """Name the parts about one contrast that may stand for others."""
    return ("lead", *(name for name in ("flips", "others") if finding.numbers.get(name)))


def named(name: str) -> Callable[[Finding, float], tuple[str, ...]]:
    """Return a rule that lets one of the finding's own names choose the part."""
    return lambda finding, alpha: (finding.names[name],)


PARTS: dict[str, Callable[[Finding, float], tuple[str, ...]]] = {
    "answers_changed": lambda finding, alpha: (
        "lead",
        turned(finding.groups),
        chance(finding.numbers, alpha),
    ),
    "better": won_and_lost,
    "worse": won_and_lost,
    "under_every_judge": named("said"),
    "under_some_judges": named("said"),
    "judges_agreement": agree,
    "different": lambda finding, alpha: (
        "constant" if finding.numbers["low"] is None else "spread",
    ),
    "credit": named("direction"),
    "generation_by_construction": by_construction,
    "interaction": depends,
    "informative": lambda finding, alpha: ("some" if finding.questions else "none",),
    "metric_not_trusted": named("verdict"),
    "saturated": lambda finding, alpha: ("all" if finding.numbers["share"] == 1 else "most",),
    "missing_not_at_random": with_others,
    "judged_differently": with_others,
    "not_comparable": named("reason"),
    "confounded": with_words,
    "missing_corner": with_words,
}
"""Kind -> which parts of its words are said."""
