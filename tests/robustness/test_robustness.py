"""The quick form of the bench: a few modes of each kind, one kill, a few flipped bits.

The whole of it is `python -m tests.robustness`.
"""

import os

import pytest

from tests.robustness import faults, interruptions
from tests.robustness.bench import run_mode
from tests.robustness.damage import flips

QUICK = (
    *("429_with_retry_after", "503", "body_cut", "html_page", "redirect", "twice"),
    *("again_after_10_ms", "prompt_read_in_part", "finish_length", "content_null_with_tool_calls"),
    *("fenced", "cut_in_the_middle", "two_objects", "next_turn_written"),
    *("label_with_a_mark", "label_denied", "missing_item", "duplicate_ids", "items_in_other_order"),
    *("format_line_echoed", "worked_example_echoed", "refused", "for_example"),
    *("correction_after_the_list", "correction_in_prose", "other_reply_each_time"),
    *("thought_brackets", "thought_harmony_and_no_answer", "thought_seed_never_ends"),
)


@pytest.mark.slow
@pytest.mark.parametrize("mode", QUICK)
def test_faults_cost_no_more_than_they_must(mode: str) -> None:
    """No label is wrong, those missing could not be had, and all come once the judge is well."""
    outcome = run_mode(mode, most=2)
    assert outcome.faulty or mode == "other_reply_each_time"
    assert outcome.passed, outcome


def test_every_kind_is_tried() -> None:
    """The quick form holds a mode of each kind, and the table at least forty modes."""
    assert {faults.MODES[mode].kind for mode in QUICK} == {
        fault.kind for fault in faults.MODES.values()
    }
    assert len(faults.MODES) >= 40


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is POSIX")
@pytest.mark.slow
def test_killed_once() -> None:
    """After a kill of each command, the same command ends with the tables of an undisturbed run."""
    found = interruptions.kills(times=1, questions=4)
    assert found["same_tables"]
    assert not found["problems"]
    assert found["repeated_requests"] <= found["repeated_at_most"]


@pytest.mark.skipif(os.name != "posix", reason="limits of a process are POSIX")
@pytest.mark.slow
def test_disk_full() -> None:
    """Where files cannot grow, a command ends with one line; with room again it loses nothing."""
    found = interruptions.disk_full(sizes=(20_000,))
    assert found["failed"]
    assert found["same_tables"]
    assert not found["problems"]


@pytest.mark.skipif(os.name != "posix", reason="users and modes are POSIX")
@pytest.mark.slow
def test_read_only() -> None:
    """Where nothing can be written, a command ends with one line; later it does its work."""
    found = interruptions.read_only()
    assert found["same_tables"]
    assert not found["problems"]


@pytest.mark.slow
def test_flipped_bits() -> None:
    """A flipped bit is named in one line, or changes no number."""
    assert not flips(number=12, seed=11)["problems"]
