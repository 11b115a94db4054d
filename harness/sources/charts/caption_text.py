"""The caption of a chart, in the languages of the studies. Pure."""

from dataclasses import dataclass

from harness.sources.charts.chart import Axis, Chart

MOST_LABELS = 14
"""Labels of one axis; of more, only the first and the last are given."""


@dataclass(frozen=True, slots=True)
class Wording:
    """The words and punctuation that a caption adds, in one language."""

    figure: str
    vertical: str
    horizontal: str
    others: str
    values: str
    no_values: str
    colon: str
    comma: str
    semicolon: str
    stop: str


ENGLISH = Wording(
    figure="Text in the figure (OCR)",
    vertical="Vertical axis",
    horizontal="Horizontal axis",
    others="Other text",
    values="Values",
    no_values="No values are printed at the marks; values not readable.",
    colon=": ",
    comma=", ",
    semicolon="; ",
    stop=". ",
)
JAPANESE = Wording(
    figure="図中の文字（OCR）",
    vertical="縦軸",
    horizontal="横軸",
    others="その他の文字",
    values="数値",
    no_values="図に数値の表示がないため、数値は読み取れません。",
    colon="：",
    comma="、",
    semicolon="；",
    stop="。",
)
TRADITIONAL = Wording(
    figure="圖中文字（OCR）",
    vertical="縱軸",
    horizontal="橫軸",
    others="其他文字",
    values="數值",
    no_values="圖上未標示數值，數值無法讀出。",
    colon="：",
    comma="、",
    semicolon="；",
    stop="。",
)
SIMPLIFIED = Wording(
    figure="图中文字（OCR）",
    vertical="纵轴",
    horizontal="横轴",
    others="其他文字",
    values="数值",
    no_values="图上未标注数值，数值无法读出。",
    colon="：",
    comma="、",
    semicolon="；",
    stop="。",
)
WORDINGS = {"en": ENGLISH, "ja": JAPANESE, "zh_hant": TRADITIONAL, "zh_hans": SIMPLIFIED}


def caption_of(chart: Chart, say: Wording) -> str:
    """Return a chart as a sentence or two; empty if the chart has no words.

    >>> chart = Chart(("Cases",), (Axis("Percent", ("0", "5")),), None, (), ("North",))
    >>> print(caption_of(chart, ENGLISH))
    Text in the figure (OCR): Cases. Vertical axis: Percent (0, 5). Other text: North. \
No values are printed at the marks; values not readable.
    """
    parts = [say.semicolon.join(chart.titles)] if chart.titles else []
    parts += [say.vertical + say.colon + _axis(axis, say) for axis in chart.vertical]
    if chart.horizontal is not None:
        labels = () if chart.values else chart.horizontal.labels
        axis = _axis(Axis(chart.horizontal.title, labels), say)
        parts += [say.horizontal + say.colon + axis] if axis else []
    if chart.others:
        name = say.others + say.colon if parts else ""
        parts.append(name + say.comma.join(chart.others))
    if chart.values:
        pairs = [label + say.colon + say.comma.join(texts) for label, texts in chart.values]
        parts.append(say.values + say.colon + say.semicolon.join(pairs))
    if not parts:
        return ""
    body = "".join(part.rstrip(".。") + say.stop for part in parts)
    ending = "" if chart.values else say.no_values
    return (say.figure + say.colon + body + ending).rstrip()


def _axis(axis: Axis, say: Wording) -> str:
    labels = axis.labels
    if not labels:
        return axis.title
    scale = say.comma.join(labels) if len(labels) <= MOST_LABELS else f"{labels[0]} – {labels[-1]}"
    return f"{axis.title} ({scale})" if axis.title else scale
