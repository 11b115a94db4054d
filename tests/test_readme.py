"""What the README names is there, and its two commands are the ones that are run."""

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx2
import pandas as pd
import pytest

from harness.__main__ import COMMANDS
from harness.metrics import METRICS, PRESETS
from harness.systems import SYSTEMS
from tests.conftest import Command, Study

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL)
LINES = [line.strip() for block in BLOCKS for line in block.splitlines() if line.strip()]


def test_ci_runs_the_readmes_line() -> None:
    """`.ci/run` gives the test command word for word."""
    (line,) = [line for line in LINES if "pytest" in line]

    assert line in (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()


def test_one_line_installs_and_runs_the_demo() -> None:
    """The first command makes the environment, installs and runs the study."""
    (line,) = [line for line in LINES if line.endswith("harness.study study=demo")]

    assert line.startswith("python3 -m venv .venv && .venv/bin/pip install")


@pytest.mark.parametrize("name", sorted(set(re.findall(r"harness\.(\w+)", "\n".join(LINES)))))
def test_every_command_exists(name: str) -> None:
    """What can be pasted can be run, and `python -m harness` lists it."""
    assert find_spec(f"harness.{name}") is not None
    assert name in COMMANDS


@pytest.mark.parametrize(
    ("group", "choice"),
    sorted(
        set(
            re.findall(
                r"\b(study|variant|prompt|chat|embedder|captioner|judge|index)=(\w+)", README
            )
        )
        - {("study", "mine"), ("variant", "glob")}
    ),
)
def test_every_choice_exists(group: str, choice: str) -> None:
    """Studies, variants and models named in the text lie in `conf/`."""
    assert (ROOT / f"conf/{group}/{choice}.yaml").is_file()


def test_every_path_exists() -> None:
    """Folders and files of the project that are named are there."""
    named = set(re.findall(r"`((?:harness|conf|tests|testsets|\.ci)/[\w./]*)`", README))

    missing = [path for path in named if "mine" not in path and not (ROOT / path).exists()]

    assert not missing
    assert len(named) > 5


def test_metrics_named_exist() -> None:
    """`metrics=[...]` in an example can be asked for."""
    for names in re.findall(r"metrics=\[([\w,@]+)\]", README):
        assert set(names.split(",")) <= {*METRICS, *PRESETS}


def test_the_readmes_variant_is_the_projects() -> None:
    """The example of a variant is the file it names."""
    (block,) = re.findall(
        r"such as `(conf/variant/\w+\.yaml)`:\n\n```yaml\n(.*?)```", README, re.DOTALL
    )

    assert (ROOT / block[0]).read_text(encoding="utf-8") == block[1]


def entry(code: str) -> dict[str, Any]:
    """Run an example of the README, and return the line that it adds to a table."""
    names: dict[str, Any] = {"__name__": __name__}
    exec(code, names)
    (line,) = re.findall(r"^# in [A-Z]+: (.*)$", code, re.MULTILINE)
    return dict(eval(f"{{{line}}}", names))  # noqa: S307


@pytest.mark.slow
def test_the_readmes_plug_ins_work(
    command: Command, study: Study, conf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two modes of the system are contrasted, beside RAG over the same files."""
    bot, metric = map(entry, re.findall(r"```python\n(.*?)```", README, re.DOTALL))
    monkeypatch.setitem(SYSTEMS, *bot.popitem())
    (name,) = metric
    monkeypatch.setitem(METRICS, name, metric[name])
    (variant,) = re.findall(r"```yaml\n([^`]*support_bot[^`]*)```", README)
    (conf / "variant/bot.yaml").write_text(variant, encoding="utf-8")
    source = {"file": "lighthouse", "page": None, "text": "27"}
    said = {"answer": "27, page 1", "sources": [source, source]}
    asked = set()

    def post(url: str, **given: Any) -> httpx2.Response:
        asked.add((url, given["json"]["mode"]))
        return httpx2.Response(200, json=said, request=httpx2.Request("POST", url))

    monkeypatch.setattr(httpx2, "post", post)
    words = [word for word in study.words if not word.startswith("variant.")]
    chosen = "study.variants=[bot,'bot variant.mode=brief',text_k4]"
    done = command("study", *words, chosen, f"metrics=[{name}]")

    assert done.returncode == 0, done.stderr
    assert asked == {("http://127.0.0.1:8080/ask", mode) for mode in ("full", "brief")}
    found = pd.read_csv(study.folder / "runs/small/report/contrasts.csv")
    assert set(found["factor"]) == {"mode"}
    assert name in set(found["metric"])
    means = pd.read_csv(study.folder / "runs/small/report/means.csv")
    assert len(set(means.loc[means["metric"] == name, "run"])) == 3


def test_lines_are_short() -> None:
    """Text is wrapped at 110 characters; commands and tables are not."""
    text = re.sub(r"```.*?```", "", README, flags=re.DOTALL)
    long = [
        line for line in text.splitlines() if len(line) > 110 and not line.lstrip().startswith("|")
    ]

    assert not long


def test_licences_are_named() -> None:
    """The licence is there, and so is where each shipped document comes from."""
    assert "MIT License" in (ROOT / "LICENSE").read_text(encoding="utf-8")
    for folder in (ROOT / "testsets").iterdir():
        assert "Licence" in (folder / "SOURCE.md").read_text(encoding="utf-8")


CONTRIBUTING = (ROOT / ".github/CONTRIBUTING.md").read_text(encoding="utf-8")


def test_contributing_names_places_that_exist() -> None:
    """Files of the page "where is ..." exist, and so do the functions and tables named in them."""
    rows = [row.split("|") for row in CONTRIBUTING.splitlines() if row.startswith("| Where ")]
    assert len(rows) >= 20

    for row in rows:
        place = row[2]
        files = [ROOT / path for path in re.findall(r"`((?:harness|conf)/[\w./]+)`", place)]
        assert files
        assert all(file.exists() for file in files), place
        texts = [file.read_text(encoding="utf-8") for file in files if file.is_file()]
        for name in re.findall(r"`(\w+(?:\.\w+)?)`", place):
            if name.endswith(".py") or name == "openai":
                continue
            found = name.rpartition(".")[2]
            assert any(found in text for text in texts) or found in METRICS, name
