"""What analysis is given: runs, questions, scores and outcomes, joined by key."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from harness.records import Floats, Layer, Question, Response, Verdict

RIGHT = "right"
"""The name under which right/wrong stands wherever metrics are listed."""

ANSWER_MATCH = "answer_match"
"""The metric that says right or wrong where no person has."""

PASSAGES_FROM = "passages_from"
"""The leaf that names the run whose passages a run was given."""

UNTESTED = frozenset({"retrieval_seconds", "generation_seconds", "seconds", "passages_returned"})
"""Metrics whose differences are shown and never tested, so that no family counts them.

All questions of a run share one machine at one moment: however many they are, a difference in
seconds may be that of the moment. How many passages come back changes by construction with what
asks for them."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """One run: what was configured, and what it can be compared with."""

    name: str
    variant: str
    """The variant's name, as `variant=` takes it."""

    choices: Mapping[str, str] = field(default_factory=dict)
    """Whole groups and what was chosen: {"prompt": "strict", "chat": "ollama", ...}."""

    leaves: Mapping[str, object] = field(default_factory=dict)
    """Flat settings below the variant: {"top_k": 9, "index.contents": "ctx",
    "prompt.text": "...", "version": None, ...}. A leaf that starts with a group's name and a
    dot belongs to that group."""

    inactive: frozenset[str] = frozenset()
    """Groups or leaves that another setting switches off: no factors."""

    corpus: str = ""
    """Fingerprint of the corpus; runs over another corpus are never compared."""

    testset: str = ""
    """Fingerprint of the test set; runs over another test set are never compared."""

    asked: frozenset[str] | None = None
    """Ids of the questions that were asked; None where all were."""

    refused: frozenset[str] = frozenset()
    """Ids of the questions that were answered by a refusal, in some repeat."""

    partial: bool = False
    part: tuple[int, int] | None = None
    """Of a partial run: questions that were asked, and those of the test set."""

    notes: tuple[str, ...] = ()
    """What a reader must know, such as "ignores_prompts"."""

    overrides: tuple[str, ...] = ()
    """The words that made this run beside `variant=...`, as they were typed."""

    scored_by: Mapping[str, str] = field(default_factory=dict)
    """Metric -> fingerprint of the judge and prompts behind it; a metric whose fingerprint
    differs between two runs is not compared."""

    generator: str | None = None
    """The model that answers, where one does: to see whether a judge is of its family."""

    judge: str | None = None
    """The model that judged, where one did."""

    @property
    def passages_from(self) -> str | None:
        """The run whose passages this one was given; None where it retrieved its own."""
        name = self.leaves.get(PASSAGES_FROM)
        return None if name is None else str(name)


@dataclass(frozen=True, slots=True)
class MetricFacts:
    """What is known of a metric before any score is looked at."""

    name: str
    layer: Layer
    higher_is_better: bool | None = True
    """None where neither is: the share of refusals, say."""
    bounded: bool = True
    """Scores lie in [0, 1]; seconds and tokens do not."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoreCube:
    """Scores of runs x questions x metrics, the mean over repeats taken already."""

    runs: tuple[str, ...]
    questions: tuple[str, ...]
    metrics: tuple[MetricFacts, ...]

    values: Floats
    """(runs, questions, metrics), nan where NA."""

    units: Floats
    """(runs, questions, metrics): the smallest denominator among the repeats; nan where unknown."""

    statuses: NDArray[np.object_]
    """(runs, questions, metrics): `ok` where there is a value, else why there is none;
    the empty text where there was no row."""

    binary: tuple[bool, ...]
    """(metrics,): whether each single score was 0 or 1, before repeats were averaged."""


@dataclass(frozen=True, slots=True, eq=False)
class RightWrong:
    """Which answers were right, and who says so."""

    values: Floats
    """(runs, questions): 1 right, 0 wrong, the mean over repeats; nan where nobody can say.
    A question that the system failed on counts as wrong."""

    origins: NDArray[np.object_]
    """(runs, questions): `grade`, `answer_match`, `error`, or the empty text where there is none.
    Where repeats differ: `grade` before `answer_match` before `error`."""

    errors: NDArray[np.int64]
    """(runs, questions): repeats on which the system under test failed."""


@dataclass(frozen=True, slots=True, eq=False)
class StudyTable:
    """All that a report rests on. `harness.analysis.study_table` builds it."""

    runs: tuple[RunFacts, ...]
    """In the study's order."""

    questions: tuple[Question, ...]
    scores: ScoreCube
    """Over the same runs and questions, in the same order."""

    right: RightWrong
    responses: Mapping[tuple[str, str], tuple[Response, ...]]
    """(run, question id) -> its repeats in order; absent where it was not asked."""

    verdicts: Mapping[str, tuple[Verdict, ...]] = field(default_factory=dict)
    """Run -> one judge's verdicts; may be empty, what needs them is then not said."""
