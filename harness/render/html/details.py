"""What the page shows beside the analysis: every answer, what it rests on, how it came about."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.records import Question, Response, Score, Verdict
from harness.render.blocks import Section


@dataclass(frozen=True, slots=True)
class Said:
    """A caption, and the runs whose index was told it."""

    captioner: str
    text: str
    """Empty where the captioner had nothing to say."""
    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure of the corpus beside what captioners said of it."""

    figure: str
    """Its id; the passage made of its caption has the same."""
    document: str
    page: int
    """Counted from 1, as a reader counts."""
    source: str
    """A data URI: the page asks nobody for anything."""
    width: int
    height: int
    """Pixels of `source`."""
    captions: tuple[Said, ...] = ()


@dataclass(frozen=True, slots=True)
class Made:
    """How one run came about, as far as it is recorded."""

    run: str
    settings: Mapping[str, object] = field(default_factory=dict)
    """Every setting of the variant: the choices of whole groups, then the leaves."""
    inactive: frozenset[str] = frozenset()
    """Settings that another one switches off."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """Models, prompts, index, commit, machine, times: a key of the words' `made` -> text."""
    packages: Mapping[str, str] = field(default_factory=dict)
    corpus: Mapping[str, str] = field(default_factory=dict)
    """File -> SHA-256."""
    numbers: Mapping[str, float | None] = field(default_factory=dict)
    """Questions, failures, calls asked and remembered, seconds, tokens; None is not told."""
    command: str = ""
    """What makes this run again."""


@dataclass(frozen=True, slots=True)
class Details:
    """All that the page shows of single questions, and of how the runs were made."""

    questions: tuple[Question, ...] = ()
    responses: Mapping[str, tuple[Response, ...]] = field(default_factory=dict)
    """Run -> its answers."""
    verdicts: Mapping[str, tuple[Verdict, ...]] = field(default_factory=dict)
    """Run -> what one judge said."""
    scores: Mapping[str, tuple[Score, ...]] = field(default_factory=dict)
    pictures: tuple[Picture, ...] = ()
    made: tuple[Made, ...] = ()
    judge: Mapping[str, str] = field(default_factory=dict)
    """What shaped the judge's labels: key -> text."""
    cautions: tuple[Section, ...] = ()
    """Sections that stand with the warnings: answers that rest on a wrong caption, say."""
    commands: tuple[str, ...] = ()
    """What makes this study, and this page, again."""
