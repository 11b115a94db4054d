"""What the page shows beside the analysis: every answer, its sources, how the runs were made."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness.analysis.changes import switched_off
from harness.records import Question, Response, Score, Verdict
from harness.render.blocks import (
    Block,
    Cell,
    Column,
    Command,
    Fold,
    Heading,
    Paragraph,
    Section,
    Table,
    Tone,
    text_table,
)
from harness.render.notation import count, quantity
from harness.render.vocabulary import Words

COUNTS = ("questions", "failed", "asked", "sent", "remembered")
"""Numbers of a record that are whole."""


@dataclass(frozen=True, slots=True)
class ShownFigure:
    """A figure of the corpus with its captions."""

    figure: str
    """Its id; the passage made of its caption has the same."""
    document: str
    page: int
    """Counted from 1, as a reader counts."""
    source: str
    """A data URI: the page makes no request."""
    width: int
    height: int
    """Pixels of `source`."""
    captions: tuple[tuple[str, str], ...] = ()
    """(captioner, text); the text is empty where the captioner returned nothing."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """How one run was made, as far as it is recorded."""

    run: str
    settings: Mapping[str, object] = field(default_factory=dict)
    """Every setting of the variant: the choices of whole groups, then the leaves."""
    inactive: frozenset[str] = frozenset()
    """Settings that another one switches off."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """Models, prompts, index, commit, machine, times: a key of the words' `record` -> text."""
    packages: Mapping[str, str] = field(default_factory=dict)
    corpus: Mapping[str, str] = field(default_factory=dict)
    """File -> SHA-256."""
    numbers: Mapping[str, float | None] = field(default_factory=dict)
    """Questions, failures, calls sent and cached, seconds, tokens; None where not recorded."""
    command: str = ""
    """The line that makes this run again."""


@dataclass(frozen=True, slots=True)
class Details:
    """All that the page shows of single questions, and of how the runs were made."""

    questions: tuple[Question, ...] = ()
    responses: Mapping[str, tuple[Response, ...]] = field(default_factory=dict)
    """Run -> its answers."""
    verdicts: Mapping[str, tuple[Verdict, ...]] = field(default_factory=dict)
    """Run -> the labels of one judge."""
    scores: Mapping[str, tuple[Score, ...]] = field(default_factory=dict)
    pictures: tuple[ShownFigure, ...] = ()
    records: tuple[RunRecord, ...] = ()
    judge: Mapping[str, str] = field(default_factory=dict)
    """What shaped the judge's labels: key -> text."""
    commands: tuple[str, ...] = ()
    """The lines that make this study, and this page, again."""


def how_made(details: Details, words: Words) -> Section:
    """Return how the runs were made, so that another person can repeat them."""
    records = details.records
    blocks: list[Block] = list(recorded(details, words)) if records else []
    if details.commands:
        blocks.append(Heading(words.on_page("again")))
        blocks += map(Command, details.commands)
        blocks.append(Heading(words.on_page("again_run"), fold=Fold.CLOSED))
        blocks += [Command(one.command) for one in records if one.command]
    return Section("made", words.on_page("made"), tuple(blocks))


def recorded(details: Details, words: Words) -> Iterator[Block]:
    """Yield the settings, what the runs spent, and the models, code and files behind them."""
    records = details.records
    names = dict.fromkeys(name for one in records for name in one.settings)
    differing = [name for name in names if differs(name, records)]
    same = [name for name in names if name not in differing]
    yield Heading(words.on_page("differing"))
    if differing:
        settings = {name: [setting(name, one, words) for one in records] for name in differing}
        yield by_run(records, words, settings.items())
    else:
        yield Paragraph(words.on_page("differing_none"))
    if same:
        yield Heading(words.on_page("same", settings=len(same)), fold=Fold.CLOSED)
        columns = (Column(words.on_page("setting")), Column(words.line("every_run")))
        yield Table(columns, tuple((Cell(n), setting(n, records[0], words)) for n in same))
    yield Heading(words.on_page("spent"))
    spent = {}
    for name in dict.fromkeys(name for one in records for name in one.numbers):
        write = count if name in COUNTS else quantity
        spent[words.get("record", name)] = [Cell(write(one.numbers.get(name))) for one in records]
    yield by_run(records, words, spent.items())
    yield Heading(words.on_page("behind"))
    yield by_value(records, [one.facts for one in records], words, "record")
    corpus = {file: digest for one in records for file, digest in one.corpus.items()}
    for key, entries in (("corpus", corpus), ("judge", details.judge)):
        if entries:
            yield Heading(words.on_page(key))
            columns = (Column(words.on_page("setting")), Column(words.on_page("value")))
            yield text_table(columns, list(entries.items()))
    yield Heading(words.on_page("packages"), fold=Fold.CLOSED)
    yield by_value(records, [dict(sorted(one.packages.items())) for one in records], words, "")


def differs(name: str, records: Sequence[RunRecord]) -> bool:
    """Say whether the runs in which a setting acts have it at different values."""
    active = [
        repr(one.settings.get(name)) for one in records if not switched_off(name, one.inactive)
    ]
    return len(set(active)) > 1 or 0 < len(active) < len(records)


def setting(name: str, record: RunRecord, words: Words) -> Cell:
    """Return a setting's value in one run, and whether it is switched off there."""
    text = words.value(record.settings[name]) if name in record.settings else ""
    if not switched_off(name, record.inactive):
        return Cell(text)
    return Cell(f"{text} ({words.get('html', 'inactive')})", Tone.MUTED)


def by_run(
    records: Sequence[RunRecord], words: Words, rows: Iterable[tuple[str, list[Cell]]]
) -> Table:
    """Return a table with one column per run."""
    columns = (Column(words.on_page("setting")), *(Column(one.run) for one in records))
    return Table(columns, tuple((Cell(name), *cells) for name, cells in rows))


def by_value(
    records: Sequence[RunRecord], facts: Sequence[Mapping[str, str]], words: Words, table: str
) -> Table:
    """Return a table with one row per value, and the runs that have it."""
    rows = []
    for name in dict.fromkeys(name for one in facts for name in one):
        runs: dict[str, list[str]] = {}
        for record, found in zip(records, facts, strict=True):
            runs.setdefault(found.get(name, ""), []).append(record.run)
        title = words.get(table, name) if table else name
        for value, having in runs.items():
            every = len(having) == len(records)
            who = words.line("every_run") if every else words.join("list", having)
            if value:
                rows.append((title, value, who))
    titles = (words.on_page("setting"), words.on_page("value"))
    return text_table((*map(Column, titles), *words.columns(("runs",))), rows)
