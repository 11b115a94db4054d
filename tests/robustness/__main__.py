"""What goes wrong around a judge, a process, a disk or a file, and what becomes of the labels.

    python -m tests.robustness --json                     all; a quarter of an hour and more
    python -m tests.robustness --only kills two
    python -m tests.robustness --modes 429 format_line_echoed

Exit code 1 where a label is wrong, one is missing without need, or a command ends in a traceback.
Every draw is seeded; kills come at random moments of the clock too.
"""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from tests.robustness.bench import SHARE, run_mode
from tests.robustness.damage import flips
from tests.robustness.faults import MODES
from tests.robustness.interruptions import disk_full, full_tmpfs, kills, read_only, two

Section = dict[str, Any]

SECTIONS: dict[str, Callable[[], Section]] = {
    section.__name__: section for section in (kills, two, disk_full, full_tmpfs, read_only, flips)
}


def faults(names: list[str]) -> Section:
    """Return what each fault mode did."""
    outcomes = []
    for name in names:
        outcomes.append(run_mode(name))
        print(f"{name}: {'ok' if outcomes[-1].passed else asdict(outcomes[-1])}", file=sys.stderr)
    return {
        "share": SHARE,
        "modes": [asdict(each) | {"passed": each.passed} for each in outcomes],
        "labels": sum(each.labels for each in outcomes),
        "wrong": sum(each.wrong + each.healed_wrong for each in outcomes),
        "problems": [each.mode for each in outcomes if not each.passed],
    }


def passed(section: Section) -> bool:
    """Say whether a section found nothing wrong."""
    repeated = section.get("repeated_requests", 0) <= section.get("repeated_at_most", 0)
    return not section.get("problems") and section.get("same_tables", True) and repeated


def main() -> None:
    """Run the sections chosen and print what they found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print the results as one line of JSON")
    parser.add_argument("--only", nargs="*", choices=["faults", *SECTIONS])
    parser.add_argument("--modes", nargs="*", choices=list(MODES), help="of the faults")
    chosen = parser.parse_args()
    names = chosen.only or (["faults"] if chosen.modes else ["faults", *SECTIONS])
    found = {
        name: faults(chosen.modes or list(MODES)) if name == "faults" else SECTIONS[name]()
        for name in names
    }
    found["passed"] = {name: passed(section) for name, section in found.items()}
    print(json.dumps(found, ensure_ascii=False, indent=None if chosen.json else 1))
    raise SystemExit(not all(found["passed"].values()))


if __name__ == "__main__":
    main()
