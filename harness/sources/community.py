"""Other kinds of files, through langchain-community's loaders: the one module that knows it."""

import warnings
from pathlib import Path
from typing import Any

from harness.errors import ConfigError, InputError
from harness.sources.documents import Sheet

WEB_PAGE: dict[str, Any] = {
    "open_encoding": "utf-8-sig",
    "bs_kwargs": {"features": "html.parser"},
    "get_text_separator": "\n",
}
LOADERS: dict[str, tuple[str, dict[str, Any]]] = {
    ".csv": ("CSVLoader", {"encoding": "utf-8-sig"}),
    ".html": ("BSHTMLLoader", WEB_PAGE),
    ".htm": ("BSHTMLLoader", WEB_PAGE),
    ".docx": ("Docx2txtLoader", {}),
}
"""Suffix -> the loader's class and settings. A table comes as one page a row, each value behind
the name of its column; the other kinds come as one page."""


def read_other(path: Path, data: bytes) -> tuple[Sheet, ...]:
    """Return the text of a table, a saved web page or a Word file.

    Raises:
        ConfigError: the package that reads this kind is not installed.
        InputError: the file cannot be read.
    """
    name, settings = LOADERS[path.suffix.lower()]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=DeprecationWarning)  # it is being sunset
        from langchain_community import document_loaders
    try:
        documents = getattr(document_loaders, name)(str(path), **settings).load()
    except ImportError as error:
        raise ConfigError(
            f"{path}: {path.suffix} needs a package: pip install -e '.[documents]' ({error})"
        ) from None
    except Exception as error:  # noqa: BLE001 - whatever a damaged file makes a parser raise
        raise InputError(f"{path}: cannot be read ({type(error).__name__}: {error})") from None
    return tuple(Sheet(document.page_content) for document in documents)
