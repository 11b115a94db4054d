"""A judge's model in a process of its own, for the benchmark: honest, slow or faulty on demand.

python -m tests.benchmarks.judge_stub --latency 0.2 --faults     prints its base URL and serves
"""

import argparse
import json
import random
import sys
from collections.abc import Callable

from tests.robustness.faults import MODES
from tests.stub_endpoint import Received, Reply, StubEndpoint
from tests.written import asked_of, honest


def in_good_faith(received: Received) -> str:
    """Return the honest reply."""
    return honest(asked_of(received.messages))


FAULTS = {"429_with_retry_after": 0.05, "500": 0.05, "cut_in_the_middle": 0.05, "hang": 0.02}
"""Fault mode -> its share of the replies."""


def faulty(seed: int) -> Callable[[Received], str | Reply]:
    """Return a script that fails as `FAULTS` says."""
    chance = random.Random(seed)

    def reply(received: Received) -> str | Reply:
        said = in_good_faith(received)
        drawn = chance.random()
        for mode, share in FAULTS.items():
            if drawn < share:
                return MODES[mode].speak(json.loads(said), received) or said
            drawn -= share
        return said

    return reply


def main() -> None:
    """Serve until the standard input closes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--slots", type=int)
    parser.add_argument("--faults", action="store_true")
    chosen = parser.parse_args()
    script = faulty(1) if chosen.faults else in_good_faith
    with StubEndpoint(script, latency=chosen.latency, slots=chosen.slots) as stub:
        print(stub.base_url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
