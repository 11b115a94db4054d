"""Atomic writes: a reader, another process or a crash never meets half a file."""

import os
import threading
from pathlib import Path


def write_whole(path: Path, content: bytes, durable: bool = False) -> None:
    """Write a file so that it holds the old content or the new, never a part of either.

    Args:
        path: The file; its folder is made where it is missing.
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
    finally:
        beside.unlink(missing_ok=True)
    if durable:
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
