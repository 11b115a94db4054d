"""Atomic writes: a reader, another process or a crash never meets half a file."""

import os
import threading
from pathlib import Path


def write_whole(path: Path, content: bytes, durable: bool = False) -> None:
    """Write a file atomically: it has the old content or the new, never a part of either.

    Args:
        path: The file; its folder is created if it is missing.
        content: All of it.
        durable: Whether the new content must also survive a crash of the machine, once this
            returns.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}")
    try:
        with beside.open("wb") as stream:
            stream.write(content)
            if durable:
                stream.flush()
                os.fsync(stream.fileno())
        beside.replace(path)
    except OSError as error:
        error.filename = str(path)  # a full disk names no file
        raise
    finally:
        beside.unlink(missing_ok=True)
    if durable:
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


PROJECT = Path(__file__).resolve().parents[1]
"""The folder that holds the shipped `conf/` and `testsets/`, wherever a command is started."""


def input_path(path: str) -> Path:
    """Return where a file or folder that is to be read lies.

    A relative path is looked up in the working folder, then among what is shipped with the
    project. One that is in neither is returned as a path of the working folder.
    """
    wanted = Path(path).expanduser()
    shipped = PROJECT / wanted
    return shipped if not wanted.exists() and shipped.exists() else wanted
