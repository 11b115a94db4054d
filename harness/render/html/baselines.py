"""What the page's script needs to compare every run with a chosen baseline.

The numbers are the analysis' contrasts, written as in every other form of output; the script only
turns a contrast round where the chosen baseline is its right-hand run.
"""

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from harness.analysis.results import Analysis, Conclusion, Contrast, Difference
from harness.analysis.study_table import RIGHT
from harness.render.blocks import Tone
from harness.render.html.page_details import Details
from harness.render.notation import plain, signed, signed_quantity
from harness.render.sections.metric_trust import metric_title
from harness.render.sections.one_factor import TONES
from harness.render.sections.right_wrong import total
from harness.render.vocabulary import Words

MOST_VALUES = 200_000
"""Scores that the page holds for filters; of more, right and wrong alone."""

SAID = ("is_baseline", "not_in_report", "better_here", "worse_here", "marked_against")
"""Keys of the texts that the script shows."""


def baseline_view(analysis: Analysis, details: Details, words: Words) -> Mapping[str, Any]:
    """Return runs, questions, scores and pairs, as JSON can hold them."""
    grid = analysis.outcomes
    known = {question.id: question for question in details.questions}
    questions = [known.get(name) for name in grid.questions]
    runs = [run.name for run in analysis.runs]
    metrics = [RIGHT, *(m.metric for m in analysis.means if m.metric not in analysis.unscored)]
    better = {m.metric: m.higher_is_better for m in analysis.means} | {RIGHT: True}
    filled = {name: "{" + name + "}" for name in ("run", "shown", "every", "won", "lost")}
    return {
        "runs": [plain(run) for run in runs],
        "baseline": runs.index(analysis.baseline) if analysis.baseline in runs else 0,
        "totals": [total(row, words) if row.known else "" for row in grid.rows],
        "metrics": metrics,
        "titles": [plain(metric_title(metric, analysis, words)) for metric in metrics],
        "better": [{True: 1, False: -1, None: 0}[better[metric]] for metric in metrics],
        "values": values(analysis, details, metrics),
        "pairs": pairs(analysis, metrics, words),
        "verdicts": {
            one: [words.get("verdicts", one), TONES.get(one, Tone.PLAIN)] for one in Conclusion
        },
        "sources": [one.source if one else "" for one in questions],
        "tags": [list(one.tags) if one else [] for one in questions],
        "informative": [name in grid.informative for name in grid.questions],
        "words": {
            **{key: words.on_page(key, run="{run}") for key in SAID},
            **{key: words.on_page(key, **filled) for key in ("shown_of", "won_lost")},
            "arrow": words.join("arrow", ("", "")),
        },
    }


def choices(compared: Mapping[str, Any], words: Words) -> list[Mapping[str, Any]]:
    """Return the controls of the view: name, label, options and the one chosen at first."""
    runs = [(run, run) for run in compared["runs"]]
    measures = zip(compared["metrics"], compared["titles"], compared["better"], strict=True)
    named = [(name, title) for name, title, better in measures if better]
    scored = {
        metric
        for metric, rows in zip(compared["metrics"], compared["values"], strict=False)
        if any(value is not None for row in rows for value in row)
    }
    by = [one for one in named if one[0] in scored] or named[:1]
    kinds = {"changed": "changed", "lost": "lost", "won": "won"}
    kinds |= {"wrong": "wrong_everywhere", "informative": "only_informative"}
    places = [one for one in dict.fromkeys(compared["sources"]) if one]
    sources = [(one, words.get("question_sources", one)) for one in places if len(places) > 1]
    tags = sorted({tag for tags in compared["tags"] for tag in tags})
    anything = ("", words.on_page("anything"))
    found = [
        ("baseline", words.on_page("baseline"), runs),
        ("run", words.on_page("compared"), [("", words.line("every_run")), *runs]),
        ("by", words.on_page("by"), by),
        (
            "show",
            words.on_page("which"),
            [anything, *((key, words.on_page(word)) for key, word in kinds.items())],
        ),
        ("source", words.get("columns", "source"), [anything, *sources]),
        ("tag", words.on_page("tag"), [anything, *((tag, tag) for tag in tags)]),
        (
            "sort",
            words.on_page("order"),
            [("", words.on_page("in_order")), ("regression", words.on_page("most_regressed"))],
        ),
    ]
    at = compared["baseline"]
    return [
        {
            "name": name,
            "label": label,
            "options": options,
            "chosen": options[at if name == "baseline" else 0][0],
        }
        for name, label, options in found
        if len(options) > 1 or name == "by"
    ]


def values(
    analysis: Analysis, details: Details, metrics: list[str]
) -> list[list[list[float | None]]]:
    """Return the values by metric, run and question; of repeats their mean.

    Only right and wrong, the first metric, where the page would grow too large.
    """
    grid = analysis.outcomes
    found: list[list[list[float | None]]] = [
        [[short(cell) for cell in row.cells] for row in grid.rows]
    ]
    if len(metrics) * len(grid.rows) * len(grid.questions) > MOST_VALUES:
        return found
    scored: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for run, scores in details.scores.items():
        for row in scores:
            if row.value is not None:
                scored[row.metric, run, row.question_id].append(row.value)
    return found + [
        [[mean_of(scored[metric, row.run, name]) for name in grid.questions] for row in grid.rows]
        for metric in metrics[1:]
    ]


def mean_of(found: list[float]) -> float | None:
    """Return the mean; None of no scores."""
    return short(sum(found) / len(found)) if found else None


def short(value: float | None) -> float | None:
    """Return a number in as few characters as a comparison needs; None of what is no number.

    >>> short(1.0), short(1 / 3), short(None)
    (1, 0.333333333, None)
    """
    if value is None or not math.isfinite(value):
        return None
    return int(value) if value.is_integer() else float(f"{value:.9g}")


def pairs(analysis: Analysis, metrics: list[str], words: Words) -> dict[str, Any]:
    """Return `left run,right run` -> the contrast, or why the two are not compared.

    Runs are numbers here. A contrast is [factor, left value, right value, differences], with a
    difference per metric; a pair of which nothing is said is no contrast of this report.
    """
    at = {run.name: number for number, run in enumerate(analysis.runs)}
    found: dict[tuple[str, str], Any] = {}
    for first, others, reason in analysis.incomparable:
        text = words.on_page(f"incomparable_{reason}")
        found |= {(one, other): text for one in first for other in others}
    found |= dict.fromkeys(analysis.repeats, words.on_page("same_settings"))
    for pair in analysis.confounded:
        *names, last = (plain(change.factor) for change in pair.changes)
        factors = words.join("and", (words.join("list", names), last))
        found[pair.left, pair.right] = words.on_page("differs", factors=factors)
    for contrast in analysis.contrasts:
        found[contrast.left, contrast.right] = contrast_row(contrast, analysis, metrics, words)
    return {f"{at[left]},{at[right]}": row for (left, right), row in found.items()}


def contrast_row(
    contrast: Contrast, analysis: Analysis, metrics: list[str], words: Words
) -> list[Any]:
    """Return what changed, and by metric [verdict, mean, low, high], without ends it has not."""

    def written(row: Difference | None) -> list[str] | None:
        if row is None:
            return None
        write = signed_quantity if row.metric in analysis.unbounded else signed
        ends = [] if row.low is None or row.high is None else [write(row.low), write(row.high)]
        return [row.verdict, write(row.mean), *ends]

    change, by_metric = contrast.change, {row.metric: row for row in contrast.differences}
    values = (words.value(change.left), words.value(change.right))
    return [
        *map(plain, (change.factor, *values)),
        [written(by_metric.get(metric)) for metric in metrics],
    ]
