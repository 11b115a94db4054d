"""What answers questions. A system is a dataclass; one line in `SYSTEMS` names it."""

from harness.llm import CHATS, EMBEDDERS, Chat, Embedder, RecordedChat, RecordedEmbedder
from harness.systems.extractive import Extractive
from harness.systems.prompts import Prompt
from harness.systems.rag import Rag
from harness.systems.system import Answerer, Bench, Found, System

SYSTEMS: dict[str, type[System]] = {"rag": Rag}

GENERATORS: dict[str, type[Chat]] = {
    "extractive": Extractive,
    "recorded": RecordedChat,
    **CHATS,
}
"""What may stand under `chat`: a language model, its recorded replies, or a reader without one."""

SEARCH_EMBEDDERS: dict[str, type[Embedder]] = {"recorded": RecordedEmbedder, **EMBEDDERS}
"""What may stand under `embedder`: an embedding model, or its recorded vectors."""

__all__ = [
    "GENERATORS",
    "SEARCH_EMBEDDERS",
    "SYSTEMS",
    "Answerer",
    "Bench",
    "Extractive",
    "Found",
    "Prompt",
    "Rag",
    "System",
]
