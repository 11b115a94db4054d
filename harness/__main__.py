"""`python -m harness`: the list of commands, one per line."""

import difflib
import sys

COMMANDS = {
    "study": "collect, evaluate and report every variant that a study lists",
    "collect": "run one variant, or a sweep, on the study's test set",
    "evaluate": "have a judge label the answers, and compute the scores",
    "report": "compare the variants, one variable at a time",
    "doctor": "is the judge fit for use? test it with known answers",
    "calls": "the cache of model calls: its size, pruning, recording",
    "power": "what a study can show, before anything is collected",
    "grade": "grade answers on a local page; merge and compare graders",
}


def main() -> None:
    """Print the commands and how to get help; raise for a command given as a second word."""
    if sys.argv[1:] and sys.argv[1] not in ("-h", "--help"):
        near = difflib.get_close_matches(sys.argv[1], COMMANDS, 1, 0.0)[0]
        raise SystemExit(f"write the command with a dot: python -m harness.{near}")
    print("Which one change made the RAG system better?\n")
    for name, meaning in COMMANDS.items():
        print(f"  python -m harness.{name:<10} {meaning}")
    print(
        "\nEach takes key=value settings and --help. To begin: python -m harness.study study=demo"
    )


if __name__ == "__main__":
    main()
