"""Studies as the page is given them: analysed for real, with answers, verdicts and records."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.analysis import Analysis, MetricFacts, RunFacts, analyse, study_table
from harness.records import Layer, Passage, Question, Response, Score, Verdict
from harness.render import StudyFacts
from harness.render.html import Details, RunRecord, ShownFigure, html_page

DOT = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
METRICS = (
    MetricFacts("context_precision", Layer.RETRIEVAL),
    MetricFacts("faithfulness", Layer.GENERATION),
    MetricFacts("seconds", Layer.COST, False, bounded=False),
)

Text = Callable[[str, str], str]
"""(run, question id) -> a text."""


@dataclass(frozen=True)
class Shown:
    """All that a page is made of."""

    analysis: Analysis
    facts: StudyFacts
    details: Details

    def page(self, language: str = "en") -> str:
        """Return the page."""
        return html_page(self.analysis, self.facts, self.details, language)


def said(question: str, claim: str = "the tower is 27 metres high") -> list[Verdict]:
    """Return what a judge said of one answer: two claims, three passages."""
    verdict = ("judge", question, 0)
    return [
        Verdict(*verdict, "claims_response", 0, text=claim),
        Verdict(*verdict, "response_in_context", 0, text=claim, label=1, reason="it says so"),
        Verdict(*verdict, "response_in_passages", 0, 0, claim, 1, reason="word for word"),
        Verdict(*verdict, "response_in_passages", 0, 1, claim, -1, reason="it says 72"),
        Verdict(*verdict, "response_in_passages", 0, 2, claim, 0),
        Verdict(*verdict, "claims_reference", -1, error="no_reference_claims"),
        Verdict(*verdict, "passage_useful", 0, label=1, reason="gives the height"),
        Verdict(*verdict, "passage_useful", 1, label=0),
        Verdict(*verdict, "reverse_question", 0, text="How high is it?", label=0, similarity=0.5),
    ]


def shown(
    names: Sequence[str] = ("k2", "k4"),
    ids: Sequence[str] = ("q1", "q2", "q3", "q4"),
    answer: Text = lambda run, question: f"The tower is 27 metres high, says {run}.",
    passage: Text = lambda run, question: f"In {question} the tower is 27 metres high.",
    passages: int = 3,
    wording: Callable[[str], str] = lambda question: f"How high is the tower of {question}?",
    label: str = "study",
) -> Shown:
    """Return a sweep over top_k; every other answer of the odd runs is right."""
    runs = [RunFacts(name, name, leaves={"top_k": 2 * at + 2}) for at, name in enumerate(names)]
    questions = [
        Question(id=q, question=wording(q), reference="27 metres.", source=source)
        for q, source in zip(ids, ("text", "image", "both", "none") * len(ids), strict=False)
    ]

    def response(run: str, question: str) -> Response:
        found = tuple(
            Passage(
                f"d#{at + 1}.{'f1' if at == 1 else '1'}",
                "d",
                at + 1,
                "caption" if at == 1 else "text",
                f"{passage(run, question)} ({at})",
                0.9 - at / 100,
            )
            for at in range(passages)
        )
        return Response(question, 0, wording(question), "27 metres.", "text",
                        answer(run, question), found, passages, 10)  # fmt: skip

    responses = {name: tuple(response(name, q) for q in ids) for name in names}
    scores = {
        name: tuple(
            Score(q, 0, metric.name, None if (n + k) % 7 == 6 else ((n + k) % 3) / 2, 2,
                  "no_claims" if (n + k) % 7 == 6 else "ok", "judge")
            for k, q in enumerate(ids)
            for metric in METRICS
        )
        for n, name in enumerate(names)
    }  # fmt: skip
    grades = {
        (name, q, 0): int((n + k) % 2) for n, name in enumerate(names) for k, q in enumerate(ids)
    }
    verdicts = {name: tuple(v for q in ids for v in said(q)) for name in names}
    analysis = analyse(study_table(runs, questions, METRICS, scores, responses, grades, verdicts))
    return Shown(
        analysis,
        StudyFacts(label, f"What did {label} do?", label, "judge"),
        Details(
            questions=tuple(questions),
            responses=responses,
            verdicts=verdicts,
            scores=scores,
            pictures=(ShownFigure("d#2.f1", "d", 2, DOT, 1, 1,
                                  (("ocr", label),)),),
            records=tuple(
                RunRecord(name, {"top_k": at, "prompt": label}, frozenset({"captioner"}),
                          {"generator": label}, {"numpy": "2.4"}, {"d.pdf": "00"},
                          {"asked": 1.0, "input_tokens": None}, f"python -m x {label}")
                for at, name in enumerate(names)
            ),
            judge={"model": label},
            commands=("python -m harness.study study=demo",),
        ),
    )  # fmt: skip
