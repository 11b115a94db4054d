"""The ablation for a paper: two booktabs tables and a methods paragraph, for \\input."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from harness.analysis.results import Analysis, Difference, MeanCell, MetricMeans
from harness.analysis.study_table import RIGHT
from harness.records import Layer
from harness.render.facts import StudyFacts
from harness.render.interactions import change
from harness.render.kinds import Kinds, kinds_of
from harness.render.plain import one_line
from harness.render.quantities import count, interval, mean, probability, quantity, signed
from harness.render.wording import Words, words

LISTED = 40

SIGNS = {
    "\\": r"\textbackslash{}",
    "[": "{[}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "→": r"$\rightarrow$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "±": r"$\pm$",
    **{sign: "\\" + sign for sign in "#$%&_"},
}

DOUBTED = r"$^{\dagger}$"
"""Stands at a metric that cannot tell right answers from wrong ones here."""


def latex(
    analysis: Analysis,
    facts: StudyFacts,
    versions: Mapping[str, str],
    language: str = "en",
) -> str:
    """Return the tables and the paragraph; KeyError for a language that `LANGUAGES` lacks.

    The text needs the packages booktabs and graphicx, and a font with its letters where it is no
    English.

    Args:
        analysis: What the report says.
        facts: What it says of its study.
        versions: Package -> version, for the methods.
        language: Of the words.
    """
    said = words(language, LISTED)
    return "\n\n".join(
        [
            "% \\usepackage{booktabs,graphicx}\n"
            "% Chinese or Japanese: xelatex and \\usepackage{xeCJK}",
            ablation(analysis, facts, said),
            contrasts(analysis, facts, said),
            methods(analysis, facts, versions, said),
        ]
    ) + "\n"  # fmt: skip


def escaped(text: str) -> str:
    """Return a text that LaTeX sets as it is.

    >>> print(escaped("ctx_k9 & 50% -> {x} a" + chr(92)))
    ctx\\_k9 \\& 50\\% $\\rightarrow$ \\{x\\} a\\textbackslash{}
    """
    drawn = one_line(text).replace("->", "→")
    return re.sub(r"[\\\[{}~^→<>|±#$%&_]", lambda sign: SIGNS[sign.group()], drawn)


def ablation(analysis: Analysis, facts: StudyFacts, words: Words) -> str:
    """Return a row a run: each score with its 95 % interval and the questions it rests on."""
    kinds = kinds_of(analysis)
    metrics = [
        row
        for row in analysis.means
        if row.layer is not Layer.COST and row.metric not in kinds.unscored
    ]
    heads = [words.get("columns", "run"), words.metric(RIGHT), *map(titled(kinds, words), metrics)]
    lines = []
    for at, run in enumerate(analysis.runs):
        outcome = analysis.outcomes.rows[at]
        cells = [metric.cells[at] for metric in metrics]
        lines.append(row([escaped(run.name), mean(outcome.share), *map(value, metrics, cells)]))
        under = [f"$n={outcome.known}$", *map(below, metrics, cells)]
        lines.append(row(["", *(rf"{{\scriptsize {text}}}" for text in under)]) + r"[2pt]")
    told = words.fill(words.texts["latex"]["ablation"], {}, numbers(analysis))
    return table(heads, lines, note(told, kinds, words), f"tab:{label(facts)}-ablation")


def titled(kinds: Kinds, words: Words) -> Callable[[MetricMeans], str]:
    """Return what writes a metric's heading, with a mark where it is not trusted."""

    def title(metric: MetricMeans) -> str:
        return words.metric(metric.metric) + ("†" if metric.metric in kinds.doubted else "")

    return title


def value(metric: MetricMeans, cell: MeanCell) -> str:
    """Return a mean."""
    return (mean if metric.bounded else quantity)(cell.mean)


def below(metric: MetricMeans, cell: MeanCell) -> str:
    """Return what stands under a mean: its interval, and how many questions it rests on."""
    scored = f"$n={cell.scored}$"
    if cell.low is None:
        return scored
    return f"{interval(cell.low, cell.high, mean if metric.bounded else quantity)} {scored}"


def contrasts(analysis: Analysis, facts: StudyFacts, words: Words) -> str:
    """Return a row a contrast: the difference in right answers, its interval, n and p."""
    keys = ("factor", "runs", "change", "interval", "questions", "won_tied_lost", "p", "adjusted")
    lines = []
    for contrast in analysis.contrasts:
        right = contrast.difference(RIGHT)
        if right is not None:
            runs = f"{contrast.left} -> {contrast.right}"
            texts = (change(contrast.change, words), runs, *measured(right))
            lines.append(row([escaped(text) for text in texts]))
    told = words.fill(words.texts["latex"]["contrasts"], {}, numbers(analysis))
    heads = [words.get("columns", key) for key in keys]
    return table(heads, lines, escaped(told), f"tab:{label(facts)}-contrasts", texts=2)


def measured(right: Difference) -> tuple[str, ...]:
    """Return the numbers of one difference in right answers."""
    p = right.p if right.mcnemar is None else right.mcnemar.p
    return (
        signed(right.mean),
        interval(right.low, right.high),
        count(right.questions),
        f"{right.wins}/{right.ties}/{right.losses}",
        probability(p),
        probability(right.p_adjusted),
    )


def table(
    heads: Sequence[str], lines: Sequence[str], caption: str, label: str, texts: int = 1
) -> str:
    """Return a booktabs table; its first columns are texts, the others numbers."""
    columns = "l" * texts + "r" * (len(heads) - texts)
    titles = [escaped(head).replace("†", DOUBTED) for head in heads]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering\small",
            rf"\caption{{{caption}}}",
            rf"\label{{{label}}}",
            # As wide as the text at most.
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            row(titles),
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}}",
            r"\end{table}",
        ]
    )


def row(cells: Sequence[str]) -> str:
    """Return one line of a table."""
    return " & ".join(cells) + r" \\"


def note(told: str, kinds: Kinds, words: Words) -> str:
    """Return a caption, with what the mark means where it is used."""
    doubted = " " + DOUBTED + escaped(words.texts["latex"]["doubted"]) if kinds.doubted else ""
    return escaped(told) + doubted


def label(facts: StudyFacts) -> str:
    """Return the study's name as LaTeX takes it for a label."""
    return re.sub(r"[^A-Za-z0-9-]+", "-", facts.study).strip("-") or "study"


def numbers(analysis: Analysis) -> dict[str, float | int | None]:
    """Return what the captions and the methods count."""
    return {
        "runs": len(analysis.runs),
        "questions": len(analysis.questions),
        "contrasts": len(analysis.contrasts),
        "tests": analysis.family.tests,
        "alpha": analysis.family.alpha,
    }


def methods(
    analysis: Analysis, facts: StudyFacts, versions: Mapping[str, str], words: Words
) -> str:
    """Return how the numbers came about: the study, the statistics, definitions, versions."""
    texts: Mapping[str, str] = words.texts["latex"]
    names = {
        "testset": facts.testset,
        "judge": facts.judge or "",
        "generators": list(dict.fromkeys(facts.generators.values())),
        "versions": [f"{name} {version}" for name, version in versions.items()],
        "definitions": list(definitions(analysis, words)),
    }
    judged = "judge_none" if facts.judge is None else "judge"
    judged = judged if facts.judge_is_model else "judge_no_model"
    parts = {
        "study": True,
        "answered": bool(facts.generators),
        judged: True,
        "statistics": bool(analysis.contrasts),
        "trust": bool(analysis.trust),
        "definitions": bool(analysis.means),
        "versions": bool(versions),
    }
    told = (
        words.fill(texts[part], names, numbers(analysis))
        for part, needed in parts.items()
        if needed
    )
    return rf"\paragraph{{{escaped(texts['methods'])}}} " + escaped(words.parts(told))


def definitions(analysis: Analysis, words: Words) -> Iterator[str]:
    """Yield what each metric measures."""
    meanings = words.texts["meanings"]
    for metric in analysis.means:
        base = metric.metric.partition("@")[0]
        meaning = meanings.get(metric.metric, meanings.get(base))
        if meaning:
            yield f"{words.metric(metric.metric)} ({meaning})"
