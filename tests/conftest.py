"""A small study on disk, and the commands as a user gives them."""

import importlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import settings

from harness.llm import E5, Calls, Role
from harness.llm.embedders import Vector

# A command in a process of its own would otherwise compile the whole house before it starts.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# The same examples every time, however long one takes on a busy machine.
settings.register_profile("suite", deadline=None, derandomize=True)
settings.load_profile("suite")

ROOT = Path(__file__).parent.parent
LIGHTHOUSE = """# 青嶼燈塔

青嶼燈塔於1931年啟用。塔高27公尺，射程18浬。

霧日最多為四月，共十二例。發生率最高為1.05。
"""
QUESTIONS = [
    {"id": "q1", "question": "塔高多少公尺？", "reference": "27公尺。", "answers": [["27"]]},
    {"id": "q2", "question": "燈塔哪一年啟用？", "reference": "1931年。", "answers": [["1931"]]},
    {"id": "q3", "question": "何月霧日最多？", "reference": "四月。", "answers": [["四月"]]},
]


@dataclass
class Study:
    """A folder with a corpus and a test set, and a root for its runs."""

    folder: Path
    corpus: Path
    testset: Path

    @property
    def words(self) -> list[str]:
        """The settings that make a command work on this study."""
        return [
            "study=demo_baseline",
            f"root={self.folder / 'runs'}",
            f"study.corpus=[{self.corpus}]",
            f"study.testset={self.testset}",
            "study.name=small",
            "variant.index.chunk_size=40",
        ]

    def run(self, name: str) -> Path:
        """Return the folder of one of its runs."""
        return self.folder / "runs" / "small" / name


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """A lighthouse in one Markdown file, with three questions."""
    corpus = tmp_path / "lighthouse.md"
    corpus.write_text(LIGHTHOUSE, encoding="utf-8")
    testset = tmp_path / "questions.jsonl"
    lines = [json.dumps(question, ensure_ascii=False) for question in QUESTIONS]
    testset.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Study(tmp_path, corpus, testset)


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


Command = Callable[..., Done]


def module(name: str) -> ModuleType:
    """Return the module that `python -m harness.<name>` runs."""
    room = importlib.import_module(f"harness.{name}")
    return (
        importlib.import_module(f"harness.{name}.__main__") if hasattr(room, "__path__") else room
    )


E5_VECTORS = E5.vectors
KNOWN: dict[tuple[Role, str], Vector] = {}


def known_vectors(
    self: E5, batches: Sequence[Sequence[str]], role: Role, calls: Calls
) -> Iterator[list[Vector]]:
    """Yield the vectors of E5; each text is embedded once in this process, whatever the store.

    A text has the same vector in every run (`tests/llm/test_embedders.py`); one takes 0.4 seconds.
    """
    for batch in batches:
        if new := [text for text in dict.fromkeys(batch) if (role, text) not in KNOWN]:
            [found] = E5_VECTORS(self, [new], role, calls)
            KNOWN.update(zip([(role, text) for text in new], found, strict=True))
        yield [KNOWN[role, text] for text in batch]


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Give a command as a user would, in this process: `command("collect", "variant=text_k4")`."""
    monkeypatch.setattr(E5, "vectors", known_vectors)

    def run(name: str, *words: str) -> Done:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [f"harness.{name}", *words])
        capsys.readouterr()
        code = 0
        try:
            module(name).main()
        except SystemExit as end:
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
            code = end.code if isinstance(end.code, int) else 1
        said = capsys.readouterr()
        return Done(code, said.out, said.err)

    return run


@pytest.fixture
def conf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of `conf/` that the commands of this test read, to add files to."""
    from harness.config import paths

    copy = tmp_path / "conf"
    shutil.copytree(paths.CONF, copy)
    monkeypatch.setattr(paths, "CONF", copy)
    return copy


@pytest.fixture
def shell(tmp_path: Path) -> Command:
    """Give a command in a process of its own, from another folder."""

    def run(name: str, *words: str) -> Done:
        done = subprocess.run(
            [sys.executable, "-W", "error::ResourceWarning", "-m", f"harness.{name}", *words],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return run
