"""Every question: its answers side by side, the passages behind them, and all scores."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness.analysis.results import Analysis
from harness.records import Passage, Question, Response, Verdict
from harness.render.blocks import Cell, Column, Table, Tone
from harness.render.html.marking import Piece, differences, shared
from harness.render.html.page_details import Details, ShownFigure
from harness.render.notation import mean, quantity
from harness.render.sections.metric_trust import metric_groups
from harness.render.sections.right_wrong import mark
from harness.render.vocabulary import Words

MOST_BYTES = 4_000_000
"""Bytes that the texts of passages may take; beyond, each is cut."""

SHORTEST = 160
"""Characters that a cut passage keeps at least."""

AGAINST_ALL = ("response_in_context", "reference_in_context")
AGAINST_EACH = ("response_in_passages", "reference_in_passages")

OF_CLAIMS = {
    "response": ("response_in_context", "response_in_reference"),
    "reference": ("reference_in_context", "reference_in_response"),
}
"""Whose claims -> the checks of them against one text; those against passages are shown there."""

OF_REFERENCE = {"claims_reference", "reference_in_passages", *OF_CLAIMS["reference"]}

BUILT_IN = {
    *("claims_response", "claims_reference", "passage_useful", "reverse_question"),
    *AGAINST_EACH,
    *(check for checks in OF_CLAIMS.values() for check in checks),
}
"""Checks with a place of their own; all others are custom checks."""


@dataclass(frozen=True, slots=True)
class RunAnswer:
    """One run's answer to one question, in one repeat."""

    name: str
    """The run's name, with the repeat where there are several."""
    response: Response
    mark: Cell
    verdicts: Mapping[str, tuple[Verdict, ...]]
    """Check -> its rows."""


@dataclass(frozen=True, slots=True)
class RunLabel:
    """One label, and the runs it was given to."""

    check: str
    label: str
    """A key of the words' `labels`."""
    reason: str
    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A claim, or what a custom check looked at, with its labels."""

    text: str
    labels: tuple[RunLabel, ...]


@dataclass(frozen=True, slots=True)
class CheckFailure:
    """A check without any label, and why."""

    check: str
    status: str
    reason: str
    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReverseQuestion:
    """A question that the judge made up from the answer."""

    text: str
    similarity: float | None
    evades: bool


@dataclass(frozen=True, slots=True)
class AnswerText:
    """One wording of an answer, and the runs that gave it."""

    runs: tuple[tuple[str, Cell], ...]
    """(name, mark)"""
    text: str | None
    """None where the system failed."""
    error: str | None
    cut: bool
    """The generator reached its token limit."""
    pieces: tuple[Piece, ...] | None
    """Its differences from the first wording; None where marks would not help."""
    first: bool
    claims: tuple[LabelledText, ...]
    reverse: tuple[ReverseQuestion, ...]
    custom: tuple[LabelledText, ...]
    """The results of custom checks."""
    failures: tuple[CheckFailure, ...]


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """One passage at its rank."""

    rank: int
    passage: Passage
    useful: tuple[RunLabel, ...]
    claims: tuple[tuple[str, RunLabel], ...]
    """Claims that it entails or contradicts; those it does not mention are left out."""
    readers: int
    """How many of the runs got as far as this rank."""
    pieces: tuple[Piece, ...]
    """Its text; empty where the page shows it above."""
    place: str
    """The id of its text on the page."""


@dataclass(frozen=True, slots=True)
class PassageList:
    """The passages of some runs: all of them, or the first of them."""

    runs: tuple[tuple[str, int], ...]
    """(name, how many passages it got)"""
    passages: tuple[RankedPassage, ...]


@dataclass(frozen=True, slots=True)
class QuestionView:
    """All that the page shows of one question."""

    id: str
    place: str
    """Its id on the page."""
    marks: tuple[Cell, ...]
    """In the order of the runs."""
    question: Question | None
    evidence: tuple[ShownFigure, ...]
    """Figures that the answer rests on."""
    texts: tuple[AnswerText, ...]
    reference: tuple[LabelledText, ...]
    """The claims of the reference."""
    reference_failures: tuple[CheckFailure, ...]
    passages: tuple[PassageList, ...]
    scores: Table | None


def question_views(analysis: Analysis, details: Details, words: Words) -> Iterator[QuestionView]:
    """Yield the questions that have answers, in natural order."""
    questions = {question.id: question for question in details.questions}
    answers = answers_by_question(analysis, details)
    longest = longest_passage(details)
    figures = {picture.figure: picture for picture in details.pictures}
    scores = score_tables(analysis, details, words)
    for at, name in enumerate(analysis.outcomes.questions):
        given = answers.get(name, [])
        if not given:
            continue
        place = f"question-{at + 1}"
        question = questions.get(name)
        evidence = [place.figure for place in question.evidence] if question else []
        yield QuestionView(
            id=name,
            place=place,
            marks=tuple(mark(row.cells[at], row.origins[at]) for row in analysis.outcomes.rows),
            question=question,
            evidence=tuple(figures[figure] for figure in evidence if figure in figures),
            texts=answer_texts(given),
            reference=tuple(claims(given, "reference")),
            reference_failures=tuple(failures(given, "reference")),
            passages=passage_lists(given, place, longest),
            scores=scores.get(name),
        )


def answers_by_question(analysis: Analysis, details: Details) -> Mapping[str, list[RunAnswer]]:
    """Return question id -> what each run answered, in the order of the runs."""
    marks = {
        (row.run, question): mark(row.cells[at], row.origins[at])
        for row in analysis.outcomes.rows
        for at, question in enumerate(analysis.outcomes.questions)
    }
    found: dict[str, list[RunAnswer]] = defaultdict(list)
    for run in analysis.runs:
        verdicts: dict[tuple[str, int], dict[str, list[Verdict]]] = defaultdict(dict)
        for row in details.verdicts.get(run.name, ()):
            verdicts[row.question_id, row.repeat].setdefault(row.check, []).append(row)
        responses = details.responses.get(run.name, ())
        several = any(response.repeat for response in responses)
        for response in responses:
            question = response.question_id
            checks = verdicts[question, response.repeat]
            name = f"{run.name} ({response.repeat + 1})" if several else run.name
            sign = marks.get((run.name, question), Cell(""))
            rows = {check: tuple(same) for check, same in checks.items()}
            found[question].append(RunAnswer(name, response, sign, rows))
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
    """Return question id -> a row a metric, a cell a run; repeats stand side by side."""
    groups = metric_groups(analysis)
    texts: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for run, scores in details.scores.items():
        for row in scores:
            write = quantity if row.metric in groups.unbounded else mean
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
            tone = Tone.MUTED if metric in groups.doubted else Tone.PLAIN
            if any(cells):
                rows.append(tuple(Cell(text, tone) for text in (words.metric(metric), *cells)))
        if rows:
            tables[question] = Table(columns, tuple(rows))
    return tables


def answer_texts(answers: Sequence[RunAnswer]) -> tuple[AnswerText, ...]:
    """Return the wordings in the order of the runs; all are compared with the first."""
    alike: dict[tuple[str | None, str | None], list[RunAnswer]] = defaultdict(list)
    for one in answers:
        alike[one.response.response, one.response.error].append(one)
    base = next((text for text, _ in alike if text), None)
    return tuple(
        AnswerText(
            runs=tuple((one.name, one.mark) for one in same),
            text=text,
            error=error,
            cut=any(one.response.cut for one in same),
            pieces=differences(base, text) if base and text is not None and text != base else None,
            first=text == base,
            claims=tuple(claims(same, "response")),
            reverse=tuple(reverse_questions(same)),
            custom=tuple(custom_checks(same)),
            failures=tuple(failures(same, "response")),
        )
        for (text, error), same in alike.items()
    )


Labels = dict[tuple[str, str, str], list[str]]
"""(check, label, reason) -> the runs that have it."""


def claims(answers: Sequence[RunAnswer], whose: str) -> Iterator[LabelledText]:
    """Yield the claims of the answers, or of the reference, each text once."""
    labels: dict[str, Labels] = defaultdict(dict)
    for one in answers:
        for check in (f"claims_{whose}", *OF_CLAIMS[whose]):
            for row in one.verdicts.get(check, ()):
                if row.item < 0:
                    continue
                found = labels[row.text or ""]
                if check in OF_CLAIMS[whose]:
                    found.setdefault((check, label_of(row), row.reason or ""), []).append(one.name)
    yield from labelled(labels)


def custom_checks(answers: Sequence[RunAnswer]) -> Iterator[LabelledText]:
    """Yield the results of checks that are not built in."""
    labels: dict[str, Labels] = defaultdict(dict)
    for one in answers:
        for check, rows in one.verdicts.items():
            if check not in BUILT_IN:
                for row in rows:
                    found = labels[row.text or check]
                    found.setdefault((check, label_of(row), row.reason or ""), []).append(one.name)
    yield from labelled(labels)


def labelled(labels: Mapping[str, Labels]) -> Iterator[LabelledText]:
    """Yield the texts with their labels, the runs of a label side by side."""
    for text, found in labels.items():
        yield LabelledText(text, tuple(run_labels(found)))


def run_labels(labels: Labels) -> Iterator[RunLabel]:
    """Yield each label with the runs that have it, each run once."""
    for (check, name, reason), runs in labels.items():
        yield RunLabel(check, name, reason, tuple(dict.fromkeys(runs)))


def label_of(row: Verdict) -> str:
    """Return the key of a label's word; a missing label has its status."""
    if row.label is None:
        return row.error or "unknown"
    if row.check == "passage_useful":
        return "useful" if row.label else "not_useful"
    if row.check in BUILT_IN:
        return {1: "entailed", 0: "unknown", -1: "contradicted"}.get(row.label, str(row.label))
    return "yes" if row.label == 1 else "no" if row.label == 0 else str(row.label)


def reverse_questions(answers: Sequence[RunAnswer]) -> Iterator[ReverseQuestion]:
    """Yield the questions made up from a wording: the same for all runs that gave it."""
    seen = set()
    for one in answers:
        for row in one.verdicts.get("reverse_question", ()):
            if row.item >= 0 and row.text and row.text not in seen:
                seen.add(row.text)
                yield ReverseQuestion(row.text, row.similarity, row.label == 1)


def failures(answers: Sequence[RunAnswer], whose: str) -> Iterator[CheckFailure]:
    """Yield the checks that failed as a whole: those of the reference's claims, or the others."""
    runs: Labels = defaultdict(list)
    for one in answers:
        for check, rows in one.verdicts.items():
            about = "reference" if check in OF_REFERENCE else "response"
            for row in rows:
                if row.item < 0 and row.error and about == whose:
                    runs[check, row.error, row.reason or ""].append(one.name)
    for (check, status, reason), names in runs.items():
        yield CheckFailure(check, status, reason, tuple(dict.fromkeys(names)))


@dataclass(slots=True)
class PrintedPassages:
    """The ids of one question's passages on the page, each text printed once."""

    question: str
    places: dict[tuple[str, str], str] = field(default_factory=dict)

    def place(self, passage: Passage) -> tuple[str, bool]:
        """Return the id of the passage's text, and whether it is to be printed now."""
        key = (passage.id, passage.text)
        new = key not in self.places
        place = self.places.setdefault(key, f"{self.question}-p{len(self.places) + 1}")
        return place, new


def passage_lists(
    answers: Sequence[RunAnswer], place: str, longest: int | None
) -> tuple[PassageList, ...]:
    """Return the lists of passages; a run whose passages begin another's list shares that one.

    Texts are cut to `longest` characters where the page would grow too large.
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
    printed = PrintedPassages(place)
    return tuple(
        PassageList(
            runs=tuple((one.name, len(one.response.passages)) for one in same),
            passages=tuple(
                ranked(passage, at, same, printed, longest) for at, passage in enumerate(passages)
            ),
        )
        for passages, same in whole.items()
    )


def ranked(
    passage: Passage,
    at: int,
    answers: Sequence[RunAnswer],
    printed: PrintedPassages,
    longest: int | None,
) -> RankedPassage:
    """Return one passage with the labels that the runs which got it have for it."""
    readers = [one for one in answers if at < len(one.response.passages)]
    found = tuple(passage_claims(readers, at))
    place, new = printed.place(passage)
    return RankedPassage(
        rank=at + 1,
        passage=passage,
        useful=tuple(usefulness(readers, at)),
        claims=found,
        readers=len(readers),
        pieces=marked(passage.text, found, readers, longest) if new else (),
        place=place,
    )


def usefulness(answers: Sequence[RunAnswer], at: int) -> Iterator[RunLabel]:
    """Yield whether the passage helps, once where all runs have the same label."""
    labels: Labels = defaultdict(list)
    for one in answers:
        for row in one.verdicts.get("passage_useful", ()):
            if row.item == at:
                labels["passage_useful", label_of(row), row.reason or ""].append(one.name)
    yield from run_labels(labels)


def passage_claims(answers: Sequence[RunAnswer], at: int) -> Iterator[tuple[str, RunLabel]]:
    """Yield the claims that the passage entails or contradicts."""
    claims: dict[str, Labels] = defaultdict(lambda: defaultdict(list))
    for one in answers:
        for check in AGAINST_EACH:
            for row in one.verdicts.get(check, ()):
                if row.against == at and row.label in (1, -1):
                    key = (check, label_of(row), row.reason or "")
                    claims[row.text or ""][key].append(one.name)
    for claim, labels in claims.items():
        for label in run_labels(labels):
            yield claim, label


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
    return shared(shown, dict.fromkeys(marks))
