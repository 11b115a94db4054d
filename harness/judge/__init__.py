"""Judges: they answer small discrete questions about a response, and never score it."""

from harness.judge.call_estimate import Planned
from harness.judge.cases import Case
from harness.judge.chat_judge import ChatJudge
from harness.judge.checks import CHECKS, Check, checks_for
from harness.judge.contract import Judge, Measured, OnDone
from harness.judge.custom_checks import CustomCheck, custom_layers, read_check
from harness.judge.overlap_judge import OverlapJudge

JUDGES: dict[str, type[Judge]] = {"overlap": OverlapJudge, "chat": ChatJudge}

__all__ = [
    "CHECKS",
    "JUDGES",
    "Case",
    "ChatJudge",
    "Check",
    "CustomCheck",
    "Judge",
    "Measured",
    "OnDone",
    "OverlapJudge",
    "Planned",
    "checks_for",
    "custom_layers",
    "read_check",
]
