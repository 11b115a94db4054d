"""What a report must say of its study that the scores do not tell."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often the judge agreed with labels that people gave.

    The fields are those of `harness.judge.JudgeAccuracy`: `Agreement(**asdict(measured))`.
    """

    check: str
    labels: str
    """Whose labels, and what they say."""
    language: str
    n: int
    accuracy: float
    low: float
    high: float
    """Ends of the 95 % interval of `accuracy`."""
    majority: float
    """The accuracy of always giving the more common label."""
    auc: float
    """0.5 is chance."""


@dataclass(frozen=True, slots=True)
class StudyFacts:
    """What the report stage knows of a study beside its analysis. Paths do not belong here."""

    study: str
    """Its name."""
    question: str = ""
    """What the study asks, in a sentence."""
    testset: str = ""
    """The test set's name."""
    judge: str | None = None
    """The label in the judge column; None where no score needed a judge."""
    judge_is_model: bool = True
    """False where the judge is no language model (`overlap`): the report then says so."""
    agreement: tuple[Agreement, ...] = ()
    """Where the judge's agreement with people was measured; the report says where it was not."""
    generators: Mapping[str, str] = field(default_factory=dict)
    """Run -> the label of what answers there: a model's name, or `extractive`."""
    graders: tuple[str, ...] = ()
    """Who graded the answers, or what: a name may be that of a program."""
    language: str = ""
    """The study's language as the judges call it: en, ja, zh_hant or zh_hans; the terminal shows
    the agreement that was measured in it. Empty where it is not known."""
    words: tuple[str, ...] = ()
    """The override words that name this study, put into commands to paste: ("study=census",)."""
