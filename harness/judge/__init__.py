"""Judges: they answer small discrete questions about a response, and never score it."""

from harness.judge.bill import Planned
from harness.judge.cases import Case
from harness.judge.chat import ChatJudge
from harness.judge.checks import CHECKS, Check, checks_for
from harness.judge.contract import Judge, Measured, OnDone
from harness.judge.overlap import OverlapJudge
from harness.judge.own import OwnCheck, own_layers, read_check

JUDGES: dict[str, type[Judge]] = {"overlap": OverlapJudge, "chat": ChatJudge}

__all__ = [
    "CHECKS",
    "JUDGES",
    "Case",
    "ChatJudge",
    "Check",
    "Judge",
    "Measured",
    "OnDone",
    "OverlapJudge",
    "OwnCheck",
    "Planned",
    "checks_for",
    "own_layers",
    "read_check",
]
