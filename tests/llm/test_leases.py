"""Calls on their way are one holder's, for as long as it lives and says so."""

import os
import subprocess
import sys
import time

import pytest

from harness.llm import Calls
from harness.llm.leases import LEASE_SECONDS, is_gone, new_owner


def test_call_is_one_holders(calls: Calls) -> None:
    """A call on its way is held by one; released, the next may have it."""
    me, you = calls.new_leases(), calls.new_leases()
    assert me.take(["k"]) == {"k"}
    assert me.take(["k", "other"]) == {"k", "other"}
    assert you.take(["k", "free"]) == {"free"}

    you.release(["k"])
    assert you.take(["k"]) == set()

    me.release(["k"])
    assert you.take(["k", "other"]) == {"k"}

    me.release_all()
    assert you.take(["other"]) == {"other"}


def test_answer_ends_the_lease(calls: Calls) -> None:
    """What was answered is on its way no more."""
    calls.new_leases().take(["k"])
    calls.put("k", "chat stub", {"text": "a"})

    assert calls.new_leases().take(["k"]) == {"k"}


def test_lease_that_is_not_renewed_lapses(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    """A holder that is silent for long, on another machine say, blocks nobody for ever."""
    silent, alive, you = calls.new_leases(), calls.new_leases(), calls.new_leases()
    silent.take(["silent"])
    alive.take(["alive"])
    later = time.time() + LEASE_SECONDS + 1
    monkeypatch.setattr(time, "time", lambda: later)
    alive.renew()

    assert you.take(["silent", "alive"]) == {"silent"}


@pytest.mark.skipif(os.name != "posix", reason="other systems do not tell")
def test_lease_ends_with_its_process(calls: Calls) -> None:
    """A killed process blocks nobody: its leases are void at once."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    machine, _, name = new_owner().split("/")
    dead, alive = calls.new_leases(), calls.new_leases()
    dead.owner = f"{machine}/{process.pid}/{name}"
    dead.take(["a", "b"])
    alive.take(["c"])

    assert is_gone(dead.owner)
    assert calls.new_leases().take(["a", "b", "c"]) == {"a", "b"}


def test_process_of_another_machine_is_not_taken_for_dead() -> None:
    """What runs elsewhere cannot be seen, so its lease has to lapse."""
    assert not is_gone("elsewhere/1/x")
