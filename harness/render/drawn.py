"""The plots of a report as PDF, for a paper. matplotlib is loaded here and nowhere else."""

import io
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from harness.analysis.results import Analysis, Contrast, Curve, Difference
from harness.analysis.study_table import RIGHT
from harness.render.contrasts import header
from harness.render.kinds import Kinds, kinds_of, title
from harness.render.plain import one_line
from harness.render.wording import Words, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FONTS = ("DejaVu Sans", "Noto Sans CJK TC", "Noto Sans CJK JP", "Noto Sans TC", "Noto Sans JP")
"""Those of them that are there, the later ones for the letters that the first one lacks."""

GREY, INK = "0.6", "#1b4f9c"
A_CONTRAST = 0.42
"""Inches of height."""

MOST = 60
"""Contrasts in one plot."""


def plots(analysis: Analysis, language: str = "en") -> dict[str, bytes]:
    """Return file name -> PDF: the contrasts as a forest plot, and each sweep.

    Raises ImportError without matplotlib, KeyError for an unknown language.
    """
    import matplotlib

    said = words(language)
    # texts as texts, and a letter that no font has as a box
    settings: Any = {"pdf.fonttype": 42, "font.family": fonts()}
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        return {f"{name}.pdf": pdf(figure) for name, figure in drawings(analysis, said)}


def drawings(analysis: Analysis, words: Words) -> Iterator[tuple[str, "Figure"]]:
    """Yield each plot under its name."""
    pairs = [(one, found) for one in analysis.contrasts if (found := one.difference(RIGHT))]
    if pairs:
        yield "contrasts", forest(pairs[:MOST], words)
    kinds = kinds_of(analysis)
    for at, curve in enumerate(analysis.curves, 1):
        yield f"sweep-{at}", sweep(curve, kinds, words)


def forest(pairs: list[tuple[Contrast, Difference]], words: Words) -> "Figure":
    """Return the differences in right answers with their intervals, the first one above."""
    figure, axes = sheet(7.0, 1.2 + A_CONTRAST * len(pairs))
    for at, (contrast, difference) in enumerate(pairs):
        drawn = contrast.attribution.value != "no_effect_possible"
        place, colour = -at, INK if drawn else GREY
        if difference.low is not None and difference.high is not None:
            axes.plot([difference.low, difference.high], [place, place], color=colour)
        if difference.mean is not None:
            fill = colour if drawn else "white"
            axes.plot([difference.mean], [place], "o", color=colour, markerfacecolor=fill)
        axes.text(1.03, place, f"n={difference.questions}", va="center", fontsize=8)
    axes.axvline(0, color="0.4", linewidth=0.8)
    axes.set_xlim(-1, 1)
    axes.set_ylim(0.4 - len(pairs), 0.6)
    axes.set_yticks([-at for at in range(len(pairs))], [named(one, words) for one, _ in pairs])
    axes.set_xlabel(f"{words.metric(RIGHT)}: {words.get('columns', 'change')}")
    return figure


def named(contrast: Contrast, words: Words) -> str:
    """Return a contrast's name on two lines, none of its signs an instruction to draw."""
    return one_line(header(contrast, words)).replace("$", r"\$").replace("  (", "\n(")


def sweep(curve: Curve, kinds: Kinds, words: Words) -> "Figure":
    """Return the scores over the values of a factor; those not trusted are grey and dashed."""
    figure, axes = sheet(6.0, 3.6)
    for metric in curve.points[0].means:
        if metric in kinds.unbounded or metric in kinds.costs or metric in kinds.unscored:
            continue
        found = [(p.value, y) for p in curve.points if (y := p.means[metric]) is not None]
        doubted = metric in kinds.doubted
        style: dict[str, Any] = {"color": GREY, "linestyle": "--"} if doubted else {}
        label = title(metric, kinds, words)
        axes.plot([x for x, _ in found], [y for _, y in found], marker="o", label=label, **style)
    axes.set_ylim(-0.03, 1.03)
    axes.set_xticks([point.value for point in curve.points])
    axes.set_xlabel(one_line(curve.factor).replace("$", r"\$"))
    axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def sheet(width: float, height: float) -> tuple["Figure", "Axes"]:
    """Return an empty plot of so many inches, without a frame on the right and above."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)
    return figure, axes


def fonts() -> list[str]:
    """Return the fonts that are there, in the order in which a letter is looked for."""
    from matplotlib.font_manager import get_font_names

    there = set(get_font_names())
    return [name for name in FONTS if name in there]


def pdf(figure: "Figure") -> bytes:
    """Return a plot as PDF, the same bytes for the same plot."""
    out = io.BytesIO()
    figure.savefig(out, format="pdf", metadata={"CreationDate": None})
    return out.getvalue()
