"""The embedded judge: no language model, but shared pieces of text. A baseline."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from harness.judge.checks import CheckKind
from harness.judge.contract import Job, JobAnswer, Judge, JudgeAccuracy
from harness.llm import Calls
from harness.metrics import is_refusal
from harness.records import Status
from harness.text import CITATION, HAN_KANA, fold, sentences, shortest_number

STEM = 5
"""Characters kept of a Latin word: "increases" and "increased" are one piece."""

_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_TOKEN = re.compile(rf"[{HAN_KANA}]+|\d+(?:\.\d+)?|[^\W\d_{HAN_KANA}]+")
_FUNCTION_WORDS = frozenset(
    """a about after again all also an and any are as at be been before being between both but by
    can could did do does during each for from further had has have he her him his how however if
    in into is it its just may might more moreover most must my no not now of on once only or other
    our out over own same shall she should so some such than that the their them then there these
    they this those through to too under up very was we were what when where which while who whom
    whose will with would you your""".split()  # noqa: SIM905  a word list reads better as one
)


@lru_cache(maxsize=1024)
def pieces(text: str) -> tuple[str, ...]:
    """Return the pieces of a text in order: CJK bigrams, word stems, numbers by value.

    Width and case are evened out; function words and citation marks carry nothing. Remembered,
    because many claims are compared with one text.

    >>> pieces("塔高27.0公尺，The Towers cost 1,200 [3]")
    ('塔高', '27', '公尺', 'tower', 'cost', '1200')
    """
    found: list[str] = []
    plain = fold(CITATION.sub("", text))
    for token in _TOKEN.findall(_THOUSANDS.sub("", plain)):
        if token[0].isdecimal():
            found.append(shortest_number(token))
        elif re.match(f"[{HAN_KANA}]", token):
            found += [token[i : i + 2] for i in range(len(token) - 1)] or [token]
        elif token not in _FUNCTION_WORDS:
            found.append(token[:STEM])
    return tuple(found)


def numbers(found: Sequence[str]) -> frozenset[str]:
    """Return the pieces that are numbers."""
    return frozenset(piece for piece in found if piece[0].isdecimal())


def coverage(wanted: Sequence[str], present: Sequence[str], stretch: int | None = None) -> float:
    """Return the largest share of `wanted` that one stretch of `present` holds, 0 to 1.

    Args:
        wanted: Pieces of the claim; each counts once.
        present: Pieces of the premise, in order.
        stretch: Length of the stretch in pieces; None takes all of `present`.

    >>> coverage(["a", "b"], ["a", "x", "x", "b"], stretch=2)
    0.5
    """
    distinct = set(wanted)
    if not distinct:
        return 0.0
    length = len(present) if stretch is None else stretch
    hits = [(place, piece) for place, piece in enumerate(present) if piece in distinct]
    inside: Counter[str] = Counter()
    best = first = 0
    for place, piece in hits:
        inside[piece] += 1
        while hits[first][0] <= place - length:
            left = hits[first][1]
            inside[left] -= 1
            if not inside[left]:
                del inside[left]
            first += 1
        best = max(best, len(inside))
    return best / len(distinct)


RULES = 2
"""Incremented whenever a change of the rules may change a label."""

STRETCH = 3
"""Length of the stretch of the premise that is searched, as a multiple of the claim's pieces:
longer ones match by chance, shorter ones miss paraphrases."""

SHORTEST = 30
"""Pieces of the shortest stretch, two or three sentences."""

ACCURACIES: tuple[JudgeAccuracy, ...] = (
    JudgeAccuracy("entailment", "ExpertQA, experts", "en", 310, 0.516, 0.461, 0.571, 0.719, 0.586),
    JudgeAccuracy("entailment", "SciFact, experts", "en", 77, 0.623, 0.512, 0.723, 0.519, 0.704),
    JudgeAccuracy(
        "entailment", "HalluQA, GPT-4 (weak)", "zh_hans", 81, 0.617, 0.508, 0.716, 0.531, 0.666
    ),
    JudgeAccuracy(
        "usefulness", "DRCD, annotators", "zh_hant", 396, 0.896, 0.863, 0.923, 0.500, 0.973
    ),
    JudgeAccuracy("usefulness", "JSQuAD, annotators", "ja", 408, 0.900, 0.867, 0.925, 0.500, 0.957),
    JudgeAccuracy(
        "usefulness", "NoMIRACL, annotators", "en", 28, 0.536, 0.358, 0.705, 0.536, 0.564
    ),
    JudgeAccuracy(
        "usefulness", "NoMIRACL, annotators", "ja", 27, 0.481, 0.307, 0.660, 0.556, 0.542
    ),
    JudgeAccuracy(
        "usefulness", "NoMIRACL, annotators", "zh", 27, 0.370, 0.215, 0.558, 0.519, 0.484
    ),
)
"""By tests/benchmarks/overlap_judge.py on 2026-11-30, on the halves that the thresholds were not
chosen on. The questions of DRCD and JSQuAD were written from their paragraphs and share words
with them; NoMIRACL's were not, and there the judge is at chance."""


@dataclass
class OverlapJudge(Judge):
    """Calls a claim entailed when the premise shares enough of its words and all its numbers.

    It does not detect contradictions, and cannot generate reverse questions.
    """

    entailed_from: float = 0.55
    """Share of a claim's pieces that one stretch of the premise must hold, 0 to 1."""
    useful_from: float = 0.4
    """Share of the question's and the reference's pieces that a passage must hold, 0 to 1."""
    name: str = field(default="overlap", metadata={"factor": False})
    """The text of the judge column."""

    @property
    def label(self) -> str:
        return self.name

    @property
    def accuracies(self) -> tuple[JudgeAccuracy, ...]:
        return ACCURACIES if replace(self, name="overlap") == OverlapJudge() else ()

    def identity(self) -> dict[str, object]:
        return {
            "judge": "overlap",
            "rules": RULES,
            "entailed_from": self.entailed_from,
            "useful_from": self.useful_from,
        }

    def answer(
        self, jobs: Sequence[Job], calls: Calls, tick: Callable[[], None]
    ) -> list[JobAnswer]:
        found = []
        for job in jobs:
            found.append(self._answer_to(job))
            tick()
        return found

    def _answer_to(self, job: Job) -> JobAnswer:
        if job.kind is CheckKind.CLAIMS:
            return JobAnswer(texts=claims(job.text))
        if job.kind is CheckKind.ENTAILMENT:
            found = [claim_in(job.text, claim) for claim in job.items]
            least = self.entailed_from
        elif job.kind is CheckKind.USEFULNESS:
            found = [answer_in(passage, job.question, job.reference) for passage in job.items]
            least = self.useful_from
        else:
            return JobAnswer(error=Status.NOT_SUPPORTED_BY_JUDGE)
        return JobAnswer(
            labels=tuple(int(shared.share >= least and not shared.missing) for shared in found),
            reasons=tuple(str(shared) for shared in found),
        )


@dataclass(frozen=True, slots=True)
class Overlap:
    """How much of a claim a premise holds."""

    share: float
    """Share of the pieces in the best stretch of the premise, 0 to 1."""
    missing: frozenset[str]
    """Required numbers that the premise lacks."""

    def __str__(self) -> str:
        without = f", without {', '.join(sorted(self.missing))}" if self.missing else ""
        return f"{self.share:.0%} shared{without}"


def claims(text: str) -> tuple[str, ...]:
    """Return the sentences except refusals; none where the whole text is a refusal."""
    if is_refusal(text):
        return ()
    return tuple(sentence for sentence in sentences(text) if not is_refusal(sentence))


def claim_in(premise: str, claim: str) -> Overlap:
    """Return how much of a claim the premise holds; it must hold all of its numbers."""
    wanted, present = pieces(claim), pieces(premise)
    return Overlap(_share(wanted, present), numbers(wanted) - numbers(present))


def answer_in(passage: str, question: str, reference: str) -> Overlap:
    """Return how much of question and reference together the passage holds.

    One of the reference's numbers is enough: a passage may hold a part of the answer.
    """
    answer, present = pieces(reference), pieces(passage)
    figures = numbers(answer)
    found = figures & numbers(present)
    return Overlap(_share([*pieces(question), *answer], present), frozenset() if found else figures)


def _share(wanted: Sequence[str], present: Sequence[str]) -> float:
    return coverage(wanted, present, max(SHORTEST, STRETCH * len(set(wanted))))
