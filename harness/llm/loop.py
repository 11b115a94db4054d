"""The one event loop that all calls of this process run on, in a thread of its own.

One for all, so that threads share connections, limits and calls in flight, and so that a
caller may be inside a loop of its own (a notebook, say).
"""

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")

_loops: dict[int, asyncio.AbstractEventLoop] = {}
_lock = threading.Lock()


def submit(coroutine: Coroutine[Any, Any, T]) -> "Future[T]":
    """Start a coroutine on the shared loop."""
    return asyncio.run_coroutine_threadsafe(coroutine, _shared())


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return the coroutine's result. Not to be called from the loop itself."""
    future = submit(coroutine)
    try:
        return future.result()
    finally:
        future.cancel()


def _shared() -> asyncio.AbstractEventLoop:
    with _lock:
        process = os.getpid()  # a fork has the dictionary, but not the thread
        if process not in _loops:
            _loops[process] = asyncio.new_event_loop()
            thread = threading.Thread(target=_loops[process].run_forever, name="llm", daemon=True)
            thread.start()
        return _loops[process]
