"""The only access to models: chat and embeddings in, completions and vectors out."""

from harness.llm.call_store import Budget, Calls, Price, Usual, Vector
from harness.llm.chat import Chat, Generator, Outcome, RemoteChat
from harness.llm.embedders import E5, Embedder, OpenAIEmbedder, Role, embeddable, vector_key
from harness.llm.llamacpp_chat import LlamaCppChat
from harness.llm.messages import Completion, Message, Request, call_key, estimate_tokens
from harness.llm.ollama_chat import OllamaChat
from harness.llm.openai_chat import AzureChat, OpenAIChat, Structured
from harness.llm.recorded import (
    RecordedChat,
    RecordedEmbedder,
    Recording,
    RecordingHead,
    read_recording,
    write_recording,
)
from harness.llm.remote import Remote, check_address, refuse_secrets

CHATS: dict[str, type[Chat]] = {
    "openai": OpenAIChat,
    "azure": AzureChat,
    "ollama": OllamaChat,
    "llamacpp": LlamaCppChat,
}
EMBEDDERS: dict[str, type[Embedder]] = {"e5": E5, "openai": OpenAIEmbedder}
