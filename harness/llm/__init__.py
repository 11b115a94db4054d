"""The one seam to models: chat and embeddings in, completions and vectors out."""

from harness.llm.budget import Budget, Price
from harness.llm.calls import Calls, Usual
from harness.llm.chat import Chat, Completion, Message, OnDone, Outcome, Request
from harness.llm.embedder import E5, Embedder, Role
from harness.llm.keys import call_key
from harness.llm.llamacpp_chat import LlamaCppChat
from harness.llm.ollama_chat import OllamaChat
from harness.llm.openai_chat import OpenAIChat, Structured
from harness.llm.openai_embedder import OpenAIEmbedder
from harness.llm.recorded_chat import RecordedChat
from harness.llm.recorded_embedder import RecordedEmbedder
from harness.llm.remote import Remote
from harness.llm.tokens import estimate_tokens

CHATS: dict[str, type[Chat]] = {
    "openai": OpenAIChat,
    "ollama": OllamaChat,
    "llamacpp": LlamaCppChat,
}
EMBEDDERS: dict[str, type[Embedder]] = {"e5": E5, "openai": OpenAIEmbedder}

__all__ = [
    "CHATS",
    "E5",
    "EMBEDDERS",
    "Budget",
    "Calls",
    "Chat",
    "Completion",
    "Embedder",
    "LlamaCppChat",
    "Message",
    "OllamaChat",
    "OnDone",
    "OpenAIChat",
    "OpenAIEmbedder",
    "Outcome",
    "Price",
    "RecordedChat",
    "RecordedEmbedder",
    "Remote",
    "Request",
    "Role",
    "Structured",
    "Usual",
    "call_key",
    "estimate_tokens",
]
