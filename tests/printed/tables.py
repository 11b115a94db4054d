"""Each table of report.md, cell by cell: what numbers must stand there."""

from collections.abc import Callable, Iterator

import pandas as pd

from tests.printed import statistics as s
from tests.printed.expected import SATURATED, Difference, Expected
from tests.printed.facts import BY_TITLE, METRICS, RIGHT, UNTESTED, as_array
from tests.printed.printed import WORDS, Number, Table, agrees, check, read, tokens

MARKS = {1.0: "✓", 0.0: "✗"}
CONSTRUCTED = ("no effect possible", "identical by construction", "not compared")


def check_doubt(title: str, found: Expected) -> None:
    """Raise where a metric is marked as doubted and is not, or the other way round."""
    assert title.startswith("~") == (BY_TITLE[title.removeprefix("~")] in found.doubted), title


def right_and_wrong(table: Table, heading: str, found: Expected) -> None:
    """The grid: each sign or share, and each run's total of known."""
    right, failures = found.facts.right, found.facts.failures
    if table.columns[0] == "question":
        table = transposed(table)
    for run, total, *cells in table.rows:
        known = right.loc[run].dropna()
        check(total, [float(known.sum()), len(known)], run)
        for question, cell in zip(table.columns[2:], cells, strict=True):
            value = right.loc[run, question]
            failed = (
                failures.loc[run, question] and found.facts.origin.loc[run, question] == "error"
            )
            sign = "!" if failed else "⋅" if pd.isna(value) else MARKS.get(value)
            assert cell == sign if sign else agrees(cell, value), (run, question, cell)


def transposed(table: Table) -> Table:
    """Turn a grid with a row a question, its totals last, into one with a row a run."""
    *rows, totals = table.rows
    names = ("run", "right", *(row[0] for row in rows))
    return Table(
        names,
        tuple(
            (run, totals[at], *(row[at] for row in rows))
            for at, run in enumerate(table.columns[1:], 1)
        ),
    )


def means(table: Table, heading: str, found: Expected) -> None:
    """Passages returned; mean, interval, n of n; and why there is none."""
    for run, *cells in table.rows:
        for title, cell in zip(table.columns[1:], cells, strict=True):
            if title == "returned":
                returned, corpus, share = found.returned(run)
                check(cell, [returned, corpus], (run, title))
                assert cell.startswith("*") == (share >= SATURATED), cell
                continue
            check_doubt(title, found)
            metric = BY_TITLE[title.removeprefix("~")]
            mean, interval, n, of = found.mean_of(metric, run)
            if mean is None:
                check(cell, [None, *reasons(found, metric, run)], (run, title))
            else:
                ends = interval if interval[0] is not None else ()
                check(cell, [mean, *ends, n, of], (run, title))


def reasons(found: Expected, metric: str, run: str) -> list[int]:
    """Return the counts that stand behind reasons: none where there is but one reason."""
    counts = sorted(found.facts.missing(metric, run).values(), reverse=True)
    return counts if len(counts) > 1 else []


def missing_scores(table: Table, heading: str, found: Expected) -> None:
    """Scored of asked, reasons, mean, its bounds, and the mean over common questions."""
    for title, run, scored, why, mean, bounds, common in table.rows:
        metric = BY_TITLE[title]
        value, _, n, of = found.mean_of(metric, run)
        check(scored, [n, of], (title, run))
        check(why, reasons(found, metric, run), (title, run))
        names = [WORDS["statuses"][status] for status in found.facts.missing(metric, run)]
        assert all(name in why for name in names), (why, names)
        check(mean, [value], (title, run))
        check(bounds, found.bounds_of(metric, run), (title, run))
        over = found.facts.values(metric).loc[run, found.common(metric)]
        check(common, [s.mean(as_array(over))], (title, run))
    gaps = {
        (METRICS[m].title, run)
        for m in found.facts.metrics
        for run in found.facts.runs
        if METRICS[m].layer != "cost"
        and found.facts.values(m).notna().any(axis=None)
        and found.mean_of(m, run)[2] < found.mean_of(m, run)[3]
    }
    assert {row[:2] for row in table.rows} == gaps


def corrected(table: Table, heading: str, found: Expected) -> None:
    """The mean, and the share right that it and the grades imply, with its interval."""
    for title, run, mean, share, interval in table.rows:
        metric = BY_TITLE[title]
        told = found.corrected(metric, run)
        assert told is not None, (title, run)
        check(mean, [found.mean_of(metric, run)[0]], (title, run))
        check(share, told[:1], (title, run))
        check(interval, told[1:], (title, run))


def trust(table: Table, heading: str, found: Expected) -> None:
    """Means of right and wrong answers, gap, counts, AUC with interval, within and between runs."""
    assert [BY_TITLE[row[0]] for row in table.rows] == list(found.trust)
    for title, *cells, verdict in table.rows:
        told = found.trust[BY_TITLE[title]]
        interval = told.interval if told.interval[0] is not None else (None,)
        expected: list[list[Number]] = [
            [s.mean(told.good)],
            [s.mean(told.bad)],
            [told.gap],
            [len(told.good), len(told.bad)],
            [told.auc],
            [*interval],
            [told.within],
            [told.between],
        ]
        for cell, numbers in zip(cells, expected, strict=True):
            check(cell, numbers, title)
        assert verdict.startswith(told.verdict), (title, verdict, told.verdict)


def contrast(table: Table, heading: str, found: Expected) -> None:
    """Every number of a contrast, one measure a row."""
    said = read(heading, "line contrast")
    assert said is not None, heading
    left, right = said.texts["left"], said.texts["right"]
    assert [BY_TITLE[row[0].removeprefix("~")] for row in table.rows] == found.facts.measures
    for title, *cells in table.rows:
        if title != METRICS[RIGHT].title:
            check_doubt(title, found)
        row = found.difference(left, right, BY_TITLE[title.removeprefix("~")])
        named = dict(zip(table.columns[1:], cells, strict=True))
        named["reading"] = named["reading"].replace("every NA", "").replace("the NA", "")
        for column, numbers in of_difference(row).items():
            check(named[column], numbers, (heading, title, column))
        assert named["reading"].startswith(row.verdict), (heading, title, named["reading"])
        signs = [f"+{q}" for q in row.questions(1)] + [f"-{q}" for q in row.questions(-1)]
        assert named["questions changed"].split() == signs, (heading, title)


def of_difference(row: Difference) -> dict[str, list[Number]]:
    """Return column -> the numbers that stand in it."""
    won, ties, lost = (len(row.questions(sign)) for sign in (1, 0, -1))
    floor = row.floor
    if row.measure not in UNTESTED and row.whole and won + lost + ties and is_binary(row):
        floor = 2.0 ** (1 - won - lost) if won + lost else 1.0
    return {
        "change": [row.change],
        "W/T/L": [won, ties, lost],
        "n": [len(row.paired)],
        "dropped left/right/both": [*row.dropped],
        "95 % interval": [*row.interval] if row.interval[0] is not None else [None],
        "p": [row.p],
        "least p": [floor],
        "adj. p": [row.adjusted],
        "reading": reading(row),
        "detectable": [row.detectable],
        "questions needed": [row.needed],
    }


def is_binary(row: Difference) -> bool:
    return row.measure in (RIGHT, "answer_match")


def reading(row: Difference) -> list[Number]:
    """Return the numbers of what may be said: the bounds that the NA scores leave."""
    if row.change is None or row.verdict in CONSTRUCTED or row.bounds[0] == row.bounds[1]:
        return []
    return [*row.bounds]


def sweep(table: Table, heading: str, found: Expected) -> None:
    """The means of a sweep over the questions that each of its runs has scored."""
    factor, _, *titles = table.columns
    runs = [row[1] for row in table.rows]
    values = [found.facts.said[run]["factors"]["leaves"][factor] for run in runs]
    assert values == sorted(values), "a sweep stands in number order"
    for row, value in zip(table.rows, values, strict=True):
        check(row[0], [value], heading)
    for at, title in enumerate(titles):
        told, n = found.sweep(runs, BY_TITLE[title.removeprefix("~")])
        for row, mean in zip(table.rows, told, strict=True):
            check(row[2 + at], [mean, n], (heading, title, row[1]))


def splits(table: Table, heading: str, found: Expected) -> None:
    """A difference as the sum of what retrieval and generation made of it."""
    for left, right, title, *cells in table.rows:
        crossed = crossed_runs(found, left, right)
        told = found.split((left, *crossed, right), BY_TITLE[title.removeprefix("~")])
        for cell, number in zip(cells, told, strict=True):
            check(cell, [number], (left, right, title))


def crossed_runs(found: Expected, left: str, right: str) -> tuple[str, str]:
    """Return left's generator on right's passages, and right's on left's."""

    def crossing(generator: str, passages: str) -> str:
        [run] = [
            run
            for run in found.facts.runs
            if run not in (left, right)
            and parts(found.facts.differing(run, passages)) == {"generation"}
            and parts(found.facts.differing(run, generator)) == {"retrieval"}
        ]
        return run

    return crossing(left, right), crossing(right, left)


def parts(factors: dict[str, object]) -> set[str]:
    groups = ("prompt", "chat")
    return {"generation" if f.partition(".")[0] in groups else "retrieval" for f in factors}


def interactions(table: Table, heading: str, found: Expected) -> None:
    """The difference of differences of each complete square, measure by measure."""
    for first, second, title, change, n, interval, p in table.rows:
        corners = corners_of(found, first, second)
        measure = BY_TITLE[title.removeprefix("~")]
        effect = found.square(corners, measure)
        array = as_array(effect)
        ends = found.square_interval(measure, effect)
        check(change, [s.mean(array)], (first, second, title))
        check(n, [len(array)], (first, second, title))
        check(interval, ends if ends[0] is not None else [None], (first, second, title))
        check(p, [s.sign_flip_p(array)], (first, second, title))


def corners_of(found: Expected, first: str, second: str) -> list[str]:
    """Return the runs at (left, left), (right, left), (left, right), (right, right)."""
    factors = [text.split(" ", 1)[0] for text in (first, second)]
    values = [text.split(" ", 1)[1].split(" -> ") for text in (first, second)]

    def setting(run: str, factor: str) -> str:
        settings = found.facts.settings(run)
        return str({**settings["choices"], **settings["leaves"]}[factor])

    def fits(run: str, wanted: tuple[str, str]) -> bool:
        return all(setting(run, f) == v for f, v in zip(factors, wanted, strict=True))

    for base in found.facts.runs:
        corners = [base]
        for wanted in ((1, 0), (0, 1), (1, 1)):
            ends = (values[0][wanted[0]], values[1][wanted[1]])
            apart = {f for f, at in zip(factors, wanted, strict=True) if at}
            near = [
                run
                for run in found.facts.runs
                if fits(run, ends) and set(found.facts.differing(base, run)) == apart
            ]
            corners += near[:1]
        if fits(base, (values[0][0], values[1][0])) and len(corners) == 4:
            return corners
    raise AssertionError(f"no square of {first} and {second}")


def ranks(table: Table, heading: str, found: Expected) -> None:
    """The rank of each question's first useful passage, and hit@k."""
    for run, by_question, hits in table.rows:
        first = found.facts.first_useful[run]
        listed = ", ".join(f"{q} {'none' if rank is None else rank}" for q, rank in first.items())
        assert by_question == listed, run
        told = found.hits(run)
        check(hits, [n for k, hit in enumerate(told, 1) for n in (k, hit)], run)


def pairs(table: Table, heading: str, found: Expected) -> None:
    """Pairs that differ in several factors: the values of the factors are all the numbers."""
    for left, right, factors, _ in table.rows:
        said = {part.split(" ", 1)[0]: part.split(" ", 1)[1] for part in factors.split(", ")}
        told = {
            name: " -> ".join(map(str, values))
            for name, values in found.facts.differing(left, right).items()
        }
        assert said == told, (left, right)


def suspects(table: Table, heading: str, found: Expected) -> None:
    """Claims to look at: whatever number stands in one is the judge's own text."""
    texts = set(found.facts.table("verdicts")["text"])
    assert {row[3] for row in table.rows} <= texts


def definitions(table: Table, heading: str, found: Expected) -> None:
    """What each metric means: words, of which `1 / rank` and the like are no results."""
    assert [row[1] for row in table.rows] == found.facts.metrics


TABLES: dict[str, Callable[[Table, str, Expected], None]] = {
    "Right and wrong": right_and_wrong,
    "Mean scores": means,
    "Missing scores": missing_scores,
    "Share right implied by scores and grades": corrected,
    "Costs": means,
    "Which metrics can be believed": trust,
    "One variable at a time": contrast,
    "Sweeps": sweep,
    "Pairs that differ in more than one factor": pairs,
    "Retrieval or generation": splits,
    "Does one effect depend on another": interactions,
    "Rank of the first useful passage": ranks,
    "Verdicts to look at": suspects,
    "How to read this": definitions,
}
"""The heading right above a table, else its section -> what checks it."""


def check_table(section: str, heading: str, table: Table, found: Expected) -> Iterator[str]:
    """Check one table, and yield how many numbers it has."""
    name = heading if heading in TABLES else section
    TABLES[name](table, heading, found)
    for row in table.rows:
        for cell in row:
            yield from tokens(cell)
