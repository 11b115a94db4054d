"""Systems under test. A system is a dataclass with a method `answer`, named in `SYSTEMS`."""

from harness.llm import CHATS, EMBEDDERS, Embedder, Generator, RecordedChat, RecordedEmbedder
from harness.systems.extractive import Extractive
from harness.systems.passage_readers import PassageReader, PromptTemplate, check_slots
from harness.systems.rag import Rag
from harness.systems.system import Answerer, Bench, Found, IndexRecord, Provenance, System

SYSTEMS: dict[str, type[System]] = {"rag": Rag}

GENERATORS: dict[str, type[Generator]] = {
    "extractive": Extractive,
    "recorded": RecordedChat,
    **CHATS,
}
"""What can be configured under `variant.chat`: a chat model, its recorded replies, or a program."""

SEARCH_EMBEDDERS: dict[str, type[Embedder]] = {"recorded": RecordedEmbedder, **EMBEDDERS}
"""What can be configured under `embedder`: an embedding model, or its recorded vectors."""
