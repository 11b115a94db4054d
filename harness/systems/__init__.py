"""What answers questions. A system is a dataclass; one line in `SYSTEMS` names it."""

from harness.llm import CHATS, Chat
from harness.systems.extractive import Extractive
from harness.systems.prompts import Prompt
from harness.systems.rag import Rag
from harness.systems.system import Answerer, Bench, Found, System

SYSTEMS: dict[str, type[System]] = {"rag": Rag}

GENERATORS: dict[str, type[Chat]] = {"extractive": Extractive, **CHATS}
"""What may stand under `chat`: a language model, or the reader that needs none."""

__all__ = [
    "GENERATORS",
    "SYSTEMS",
    "Answerer",
    "Bench",
    "Extractive",
    "Found",
    "Prompt",
    "Rag",
    "System",
]
