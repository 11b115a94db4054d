"""A judge's model in a process of its own, for the benchmark: honest, slow or faulty on demand.

python -m tests.benchmarks.judge_stub --latency 0.2 --faults     prints its base URL and serves
"""

import argparse
import random
import sys
from collections.abc import Callable

from tests.stub_endpoint import Received, Reply, StubEndpoint
from tests.written import asked_of, honest


def in_good_faith(received: Received) -> str:
    """Return the honest reply."""
    return honest(asked_of(received.messages))


def faulty(seed: int) -> Callable[[Received], Reply]:
    """Return a script that fails: 429 or 500 at 10 %, broken JSON at 5 %, never at all at 2 %."""
    chance = random.Random(seed)

    def reply(received: Received) -> Reply:
        drawn = chance.random()
        said = in_good_faith(received)
        if drawn < 0.05:
            return Reply(status=429, headers={"Retry-After": "0.1"})
        if drawn < 0.10:
            return Reply(status=500)
        if drawn < 0.15:
            return Reply(said[: len(said) // 2])
        return Reply(said, hang=drawn < 0.17)

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
