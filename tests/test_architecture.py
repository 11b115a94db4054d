"""Imports point one way: each room knows its own kind and what lies below it."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "harness"
FLOORS = [
    {"records", "quotes"},
    {"metrics", "analysis", "render"},
    {"errors", "processor"},
    {"llm"},
    {
        "sources",
        "judge",
        "trackers",
        "store",
        "questions",
        "provenance",
        "progress",
        "account",
        "tally",
    },
    {"systems"},
    {"config", "command"},
    {
        "collect",
        "evaluate",
        "report",
        "study",
        "collection",
        "plan",
        "evaluation",
        "wanted",
        "reporting",
        "billing",
        "calls",
        "recording",
        "doctor",
        "power",
        "asking",
        "handover",
        "declarations",
        "reported",
        "run_facts",
        "grade",
        "grading",
        "page",
        "made",
    },
]
PURE = FLOORS[0] | FLOORS[1]
MAY_ALSO = {
    ("render", "analysis"),
    ("command", "config"),
    *(("collect", "collection"), ("evaluate", "evaluation"), ("report", "reporting")),
    *(("evaluate", "billing"), *((work, "wanted") for work in ("billing", "evaluation", "study"))),
    *(("collection", part) for part in ("asking", "declarations", "handover", "plan")),
    *(("plan", part) for part in ("declarations", "handover")),
    *(("reporting", part) for part in ("reported", "declarations", "page")),
    ("grade", "grading"),
    ("calls", "recording"),
    ("page", "made"),
    *(("reported", "grading"), ("reporting", "grading"), ("reported", "run_facts")),
    *(("study", work) for work in ("collection", "evaluation", "reporting")),
}
"""Rooms of one floor that know each other: a stage and its work, a page and what it shows."""

IO = {"chromadb", "hydra", "langchain", "langchain_community", "langchain_chroma", "omegaconf",
      "openai", "pathlib", "sqlite3", "httpx", "httpx2", "subprocess", "os"}  # fmt: skip
ONLY_IN = {
    "openai": {"llm"},
    "httpx2": {"llm"},
    "chromadb": {"systems", "sources"},
    "langchain": {"systems", "sources"},
    "langchain_chroma": {"systems", "sources"},
    "langchain_community": {"systems", "sources"},
    "langchain_core": {"systems", "sources"},
    "langchain_text_splitters": {"systems", "sources"},
    "pyarrow": {"store"},
    "hydra": {"config"},
    "omegaconf": {"config", "systems", "judge", "sources", "llm"},
}


def modules() -> list[Path]:
    entries = (ROOT / "__init__.py", ROOT / "__main__.py")
    return [path for path in sorted(ROOT.rglob("*.py")) if path not in entries]


def room(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


def loaded(path: Path) -> set[str]:
    """Names imported while the module itself is loaded, not later in a function."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return {node.module or "" for node in body if isinstance(node, ast.ImportFrom)}


def floor(name: str) -> int:
    return next(i for i, names in enumerate(FLOORS) if name in names)


each_module = pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))


@each_module
def test_imports_point_down(path: Path) -> None:
    """A module imports its own room and lower floors, never a room beside or above it."""
    for name in imports(path):
        if name.startswith("harness."):
            here, target = room(path), name.split(".")[1]
            allowed = (here, target) in MAY_ALSO
            assert target == here or allowed or floor(target) < floor(here), name


@each_module
def test_pure_rooms_do_no_io(path: Path) -> None:
    """Metrics, analysis and rendering can be tested with arrays and strings alone."""
    if room(path) in PURE:
        assert not {name.split(".")[0] for name in imports(path)} & IO


@each_module
def test_each_library_has_its_rooms(path: Path) -> None:
    """A library of the outside world is known in the rooms that wrap it, and nowhere else."""
    for name in {name.split(".")[0] for name in imports(path)} & set(ONLY_IN):
        assert room(path) in ONLY_IN[name], name


def test_no_import_cycles() -> None:
    """The modules can be put in an order in which each is loaded after all that it needs."""
    graph = {
        dotted(path): {n for n in loaded(path) if n.startswith("harness.")} for path in modules()
    }
    done: set[str] = set()
    while left := {name for name in graph if name not in done}:
        free = {name for name in left if not (graph[name] & left) - {name}}
        assert free, sorted(left)
        done |= free


def dotted(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
