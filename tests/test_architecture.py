"""Imports point one way, by room; names occur once; each library has the rooms that wrap it."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent / "harness"
FLOORS = (
    {"records", "text"},
    {"metrics", "analysis"},
    {"errors", "files", "render"},
    {"llm"},
    {"sources", "judge", "store", "questions"},
    {"systems", "trackers"},
    {"config"},
    {"studies"},
    {"collect", "evaluate", "report", "study", "grade", "calls", "doctor", "power", "exchange"},
)
"""A room imports itself and strictly lower floors; `study`, which runs the stages, also those."""

STAGES = {"collect", "evaluate", "report"}
PURE = {"records", "text", "metrics", "analysis", "render"}
IO = {"chromadb", "hydra", "langchain", "langchain_community", "langchain_chroma", "omegaconf",
      "openai", "pathlib", "sqlite3", "httpx2", "subprocess", "os"}  # fmt: skip
ONLY_IN = {
    "openai": {"llm"},
    "httpx2": {"llm"},
    "chromadb": {"systems", "sources"},
    "langchain": {"systems", "sources", "llm"},
    "langchain_chroma": {"systems", "sources"},
    "langchain_community": {"systems", "sources"},
    "langchain_core": {"systems", "sources", "llm"},
    "langchain_text_splitters": {"systems", "sources"},
    "pyarrow": {"store", "exchange"},
    "hydra": {"config"},
    "omegaconf": {"config", "systems", "judge", "sources", "llm"},
}
MODULES = {
    path: ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted(ROOT.rglob("*.py"))
    if path.parent != ROOT or not path.name.startswith("__")
}


def room(path: Path) -> str:
    """Return the folder at the top of `harness/`, or the file, that a module belongs to."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(tree: ast.Module) -> Iterator[str]:
    """Yield the dotted name of everything that a module imports, also inside its functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def floor(name: str) -> int:
    """Return the number of a room's floor; a room that has none is an error."""
    return next(number for number, names in enumerate(FLOORS) if name in names)


def test_imports_point_down() -> None:
    """A room imports itself and strictly lower floors; only `study` imports other stages."""
    wrong = [
        (str(path.relative_to(ROOT)), name)
        for path, tree in MODULES.items()
        for name in imports(tree)
        if name.startswith("harness.")
        and (target := name.split(".")[1]) != (here := room(path))
        and not floor(target) < floor(here)
        and not (here == "study" and target in STAGES)
    ]
    assert not wrong


def test_no_import_cycles() -> None:
    """No module needs itself by way of others, imports inside functions included."""
    graph = {dotted(path): set[str]() for path in MODULES}
    for path, tree in MODULES.items():
        graph[dotted(path)] = {name for name in imports(tree) if name in graph} - {dotted(path)}
    while leaves := {name for name, needs in graph.items() if not needs}:
        graph = {name: needs - leaves for name, needs in graph.items() if name not in leaves}
    assert not graph


def test_names_occur_once() -> None:
    """No two files and no two classes of `harness/` share a name."""
    files = Counter(path.name for path in MODULES if not path.name.startswith("__"))
    classes = Counter(
        node.name
        for tree in MODULES.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    )
    assert not [name for name, count in (files + classes).items() if count > 1]


def test_pure_rooms_do_no_io() -> None:
    """Metrics, analysis and rendering can be tested with arrays and strings alone."""
    for path, tree in MODULES.items():
        if room(path) in PURE:
            assert not {name.split(".")[0] for name in imports(tree)} & IO, path


def test_no_score_is_filled_in() -> None:
    """Where scores are computed, stored and shown, no call puts a number in place of NA."""
    for path, tree in MODULES.items():
        names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        if room(path) in {"metrics", "evaluate", "store", "studies", "render", "report"}:
            assert not names & {"fillna", "nan_to_num"}, path


def test_each_library_has_its_rooms() -> None:
    """A library of the outside world is imported by the rooms that wrap it, and by no others."""
    for path, tree in MODULES.items():
        for name in {name.split(".")[0] for name in imports(tree)} & set(ONLY_IN):
            assert room(path) in ONLY_IN[name], (path, name)


def test_the_top_is_short() -> None:
    """The top of `harness/` holds the rooms and what every room uses, and nothing else."""
    assert len([path for path in ROOT.iterdir() if not path.name.startswith("__")]) <= 24


def dotted(path: Path) -> str:
    """Return a module's name as imports spell it."""
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
