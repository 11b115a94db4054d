"""Every question: its answers side by side, the passages behind them, and all scores."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.analysis.results import Analysis
from harness.records import CLAIMS, CLAIMS_OF, Checks, Passage, Response, Verdict, rows_by_response
from harness.render.blocks import Cell, Column, Table, Tone
from harness.render.html.marking import Piece, shared_wording, text_changes
from harness.render.html.page_details import Details
from harness.render.notation import mean, quantity
from harness.render.sections.right_wrong import marks
from harness.render.sections.several_judges import label_key
from harness.render.vocabulary import Words

MOST_BYTES = 4_000_000
"""Bytes that the texts of passages may take; beyond, each is cut."""

MOST_ANSWERS = 1_600
"""Answers that the page holds; of more, those to the first informative questions."""

SHORTEST = 160
"""Characters that a cut passage keeps at least."""

AGAINST_ALL = ("response_in_context", "reference_in_context")
AGAINST_EACH = ("response_in_passages", "reference_in_passages")

OF_CLAIMS = {
    "response": ("response_in_context", "response_in_reference"),
    "reference": ("reference_in_context", "reference_in_response"),
}
"""Whose claims -> the checks of them against one text; those against passages are shown there."""

BUILT_IN = {*CLAIMS.values(), *CLAIMS_OF, "passage_useful", "reverse_question"}
"""Checks with a place of their own; all others are custom checks."""


@dataclass(frozen=True, slots=True)
class RunAnswer:
    """One run's answer to one question, in one repeat."""

    name: str
    """The run's name, with the repeat where there are several."""
    run: int
    """Its number in the report's order."""
    response: Response
    mark: Cell
    verdicts: Checks


@dataclass(frozen=True, slots=True)
class RunLabel:
    """One label, or why there is none, and the runs it was given to."""

    check: str
    label: str
    """A key of the words' `labels`, or of their `statuses`."""
    reason: str
    runs: tuple[str, ...]


View = Mapping[str, Any]
"""What `question.html.jinja` shows of something: name in the template -> value."""


def details_shown(analysis: Analysis, details: Details) -> Details:
    """Return the details with the answers and scores of no more questions than fit on the page."""
    every, grid = sum(map(len, details.responses.values())), analysis.outcomes
    if every <= MOST_ANSWERS:
        return details
    first = list(dict.fromkeys((*grid.informative, *grid.questions)))
    kept = set(first[: max(1, MOST_ANSWERS * len(first) // every)])
    return replace(
        details,
        responses={
            run: tuple(row for row in rows if row.question_id in kept)
            for run, rows in details.responses.items()
        },
        scores={
            run: tuple(row for row in rows if row.question_id in kept)
            for run, rows in details.scores.items()
        },
    )


def question_views(analysis: Analysis, details: Details, words: Words) -> Iterator[View]:
    """Yield the questions that have answers, in natural order."""
    questions = {question.id: question for question in details.questions}
    signs = marks(analysis.outcomes)
    answers = answers_by_question(analysis, details, signs)
    longest = longest_passage(details)
    figures = {picture.figure: picture for picture in details.pictures}
    scores = score_tables(analysis, details, words)
    for at, name in enumerate(analysis.outcomes.questions, 1):
        given = answers.get(name, [])
        if not given:
            continue
        place = f"question-{at}"
        question = questions.get(name)
        evidence = [place.figure for place in question.evidence] if question else []
        yield {
            "id": name,
            "place": place,
            "at": at - 1,
            "marks": [signs[row.run, name] for row in analysis.outcomes.rows],
            "question": question,
            "evidence": [figures[figure] for figure in evidence if figure in figures],
            "texts": answer_texts(given),
            "reference": claims(given, "reference"),
            "reference_failures": failures(given, "reference"),
            "passages": passage_lists(given, place, longest),
            "scores": scores.get(name),
        }


def answers_by_question(
    analysis: Analysis, details: Details, signs: Mapping[tuple[str, str], Cell]
) -> Mapping[str, list[RunAnswer]]:
    """Return question id -> what each run answered, in the order of the runs."""
    found: dict[str, list[RunAnswer]] = defaultdict(list)
    for at, run in enumerate(analysis.runs):
        verdicts = rows_by_response(details.verdicts.get(run.name, ()))
        responses = details.responses.get(run.name, ())
        several = any(response.repeat for response in responses)
        for response in responses:
            question = response.question_id
            name = f"{run.name} ({response.repeat + 1})" if several else run.name
            sign = signs.get((run.name, question), Cell(""))
            checks = verdicts.get((question, response.repeat), {})
            found[question].append(RunAnswer(name, at, response, sign, checks))
    return found


def longest_passage(details: Details) -> int | None:
    """Return how many characters each passage may keep; None where all of them fit."""
    texts = {
        (response.question_id, passage.id, passage.text)
        for rows in details.responses.values()
        for response in rows
        for passage in response.passages
    }
    total = sum(len(text.encode("utf-8", "replace")) for _, _, text in texts)
    if total <= MOST_BYTES:
        return None
    characters = sum(len(text) for _, _, text in texts)
    return max(SHORTEST, int(characters / len(texts) * MOST_BYTES / total))


def score_tables(analysis: Analysis, details: Details, words: Words) -> Mapping[str, Table]:
    """Return question id -> one row per metric, one cell per run; repeats are side by side."""
    texts: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for run, scores in details.scores.items():
        for row in scores:
            write = quantity if row.metric in analysis.unbounded else mean
            text = (
                words.line("na", reason=words.get("statuses", row.status))
                if row.value is None
                else write(row.value)
            )
            texts[row.question_id, row.metric, run].append(text)
    runs = [run.name for run in analysis.runs]
    columns = (*words.columns(("metric",)), *(Column(run, number=True) for run in runs))
    tables = {}
    for question in analysis.questions:
        rows = []
        for metric in [metric.metric for metric in analysis.means]:
            cells = [" ".join(texts.get((question, metric, run), [])) for run in runs]
            tone = Tone.MUTED if metric in analysis.doubted else Tone.PLAIN
            if any(cells):
                rows.append(tuple(Cell(text, tone) for text in (words.metric(metric), *cells)))
        if rows:
            tables[question] = Table(columns, tuple(rows))
    return tables


def answer_texts(answers: Sequence[RunAnswer]) -> list[View]:
    """Return the wordings in the order of the runs; all are compared with the first.

    `pieces` are the differences from it, None where marks would not help; `text` is None where
    the system failed, and `cut` says that the generator reached its token limit.
    """
    alike: dict[tuple[str | None, str | None], list[RunAnswer]] = defaultdict(list)
    for one in answers:
        alike[one.response.response, one.response.error].append(one)
    base = next((text for text, _ in alike if text), None)
    return [
        {
            "runs": [(one.name, one.mark) for one in same],
            "at": list(dict.fromkeys(one.run for one in same)),
            "text": text,
            "error": error,
            "cut": any(one.response.cut for one in same),
            "pieces": text_changes(base, text) if base and text not in (None, base) else None,
            "first": text == base,
            "claims": claims(same, "response"),
            "reverse": reverse_questions(same),
            "custom": labels(same, (), lambda row: row.check not in BUILT_IN),
            "failures": failures(same, "response"),
        }
        for (text, error), same in alike.items()
    ]


def labels(
    answers: Iterable[RunAnswer], checks: Iterable[str], chosen: Callable[[Verdict], bool]
) -> dict[str, list[RunLabel]]:
    """Return text -> its labels, each with the runs that have it.

    A claim that no check has labelled has an empty list.

    Args:
        answers: Whose verdicts are read.
        checks: In this order; every check of an answer where none is named.
        chosen: Which verdicts count.
    """
    found: dict[str, dict[tuple[str, str, str], list[str]]] = {}
    for one in answers:
        for check in checks or one.verdicts:
            for row in filter(chosen, one.verdicts.get(check, ())):
                of_text = found.setdefault(row.text or check, {})
                if check not in CLAIMS.values() or row.item < 0:
                    key = (check, label_of(row), row.reason or "")
                    of_text.setdefault(key, []).append(one.name)
    return {
        text: [RunLabel(*key, tuple(dict.fromkeys(runs))) for key, runs in of_text.items()]
        for text, of_text in found.items()
    }


def claims(answers: Sequence[RunAnswer], whose: str) -> dict[str, list[RunLabel]]:
    """Return the claims of the answers, or of the reference, each text once."""
    return labels(answers, (CLAIMS[whose], *OF_CLAIMS[whose]), lambda row: row.item >= 0)


def failures(answers: Sequence[RunAnswer], whose: str) -> list[RunLabel]:
    """Return the checks that failed as a whole: those of the reference's claims, or the others."""

    def failed(row: Verdict) -> bool:
        of_reference = CLAIMS_OF.get(row.check, row.check) == CLAIMS["reference"]
        return row.item < 0 and bool(row.error) and of_reference == (whose == "reference")

    return [failure for same in labels(answers, (), failed).values() for failure in same]


def reverse_questions(answers: Sequence[RunAnswer]) -> list[Verdict]:
    """Return the questions made up from a wording: the same for all runs that gave it."""
    found: dict[str, Verdict] = {}
    for one in answers:
        for row in one.verdicts.get("reverse_question", ()):
            if row.item >= 0 and row.text:
                found.setdefault(row.text, row)
    return list(found.values())


def label_of(row: Verdict) -> str:
    """Return the key of a label's word; a missing label has its status."""
    return row.error or "unknown" if row.label is None else label_key(row.check, row.label)


def passage_lists(answers: Sequence[RunAnswer], place: str, longest: int | None) -> list[View]:
    """Return the lists of passages; a run whose passages begin another's list shares that one.

    Each text is printed once in a question; texts are cut to `longest` characters where the page
    would grow too large.
    """
    lists: dict[tuple[Passage, ...], list[RunAnswer]] = defaultdict(list)
    for one in answers:
        if one.response.passages:
            lists[one.response.passages].append(one)
    longer = sorted(lists, key=len, reverse=True)
    whole: dict[tuple[Passage, ...], list[RunAnswer]] = {}
    for found, same in lists.items():
        key = next(known for known in longer if known[: len(found)] == found)
        whole.setdefault(key, []).extend(same)
    places: dict[tuple[str, str], str] = {}
    views: list[View] = []
    for passages, same in whole.items():
        rows = []
        for at, passage in enumerate(passages):
            new = (passage.id, passage.text) not in places
            to = places.setdefault((passage.id, passage.text), f"{place}-p{len(places) + 1}")
            rows.append(
                {"passage": passage, "place": to, **ranked(passage, at, same, new, longest)}
            )
        runs = [(one.name, len(one.response.passages)) for one in same]
        views.append({"runs": runs, "passages": rows})
    return views


def ranked(
    passage: Passage, at: int, answers: Sequence[RunAnswer], new: bool, longest: int | None
) -> View:
    """Return the labels that a passage has in the runs that retrieved it, and its text.

    Of the claims those that the passage does not mention are left out; the text has no pieces
    where the page shows it above.
    """
    readers = [one for one in answers if at < len(one.response.passages)]
    useful = labels(readers, ("passage_useful",), lambda row: row.item == at)
    found = labels(readers, AGAINST_EACH, lambda row: row.against == at and row.label in (1, -1))
    by_claim = [(claim, label) for claim, same in found.items() for label in same]
    return {
        "useful": [label for same in useful.values() for label in same],
        "claims": by_claim,
        "readers": len(readers),
        "pieces": marked(passage.text, by_claim, readers, longest) if new else (),
    }


def marked(
    text: str,
    claims: Sequence[tuple[str, RunLabel]],
    answers: Iterable[RunAnswer],
    longest: int | None,
) -> tuple[Piece, ...]:
    """Return the text with the wording of claims marked.

    Where no check looked at single passages, the claims are those that all passages together
    entail or contradict: their wording is marked more faintly, as it shows no verdict on this
    passage.
    """
    marks = [(claim, label.label) for claim, label in claims]
    if not any(check in one.verdicts for one in answers for check in AGAINST_EACH):
        marks = [
            (row.text or "", f"{label_of(row)}-by-all")
            for one in answers
            for check in reversed(AGAINST_ALL)
            for row in one.verdicts.get(check, ())
            if row.item >= 0 and row.label in (1, -1)
        ]
    shown = text if longest is None or len(text) <= longest else text[:longest] + " …"
    return shared_wording(shown, dict.fromkeys(marks))
