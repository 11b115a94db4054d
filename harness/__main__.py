"""`python -m harness`: every command in a line."""

import difflib
import sys

COMMANDS = {
    "study": "collect, evaluate and report every variant that a study lists",
    "collect": "run one variant, or a sweep, on the study's test set",
    "evaluate": "have a judge label the answers, and work out the scores",
    "report": "set the variants side by side, one variable at a time",
    "doctor": "is the judge fit for use? ask it what is known",
    "calls": "what is remembered of model calls, and how to forget it",
    "power": "what a study could show, before anything is collected",
    "grade": "say which answers are right, on a page of your own; merge and compare graders",
}


def main() -> None:
    """Print the commands and how to learn more of each; a command given here is a slip."""
    if sys.argv[1:] and sys.argv[1] not in ("-h", "--help"):
        near = difflib.get_close_matches(sys.argv[1], COMMANDS, 1, 0.0)[0]
        raise SystemExit(f"give the command as one word, such as python -m harness.{near}")
    print("Which one change made the RAG system better?\n")
    for name, meaning in COMMANDS.items():
        print(f"  python -m harness.{name:<10} {meaning}")
    print(
        "\nEach takes key=value settings and --help. To begin: python -m harness.study study=demo"
    )


if __name__ == "__main__":
    main()
