"""Judges: they answer small discrete questions about a response, and never score it."""

from harness.judge.chat_judge import ChatJudge
from harness.judge.checks import (
    CHECKS,
    DECLINES,
    Case,
    CustomCheck,
    checks_for,
    custom_layers,
    read_check,
)
from harness.judge.contract import Judge, JudgeAccuracy, PlannedCall
from harness.judge.overlap_judge import OverlapJudge
from harness.judge.prompt import language

JUDGES: dict[str, type[Judge]] = {"overlap": OverlapJudge, "chat": ChatJudge}
