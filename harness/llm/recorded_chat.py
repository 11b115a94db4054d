"""Replies that a model gave once, replayed from a recording."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import NotRecordedError
from harness.llm.calls import Calls
from harness.llm.chat import Chat, OnDone, Outcome, Request, remembered
from harness.llm.recordings import Recorded


@dataclass
class RecordedChat(Recorded, Chat):
    """A generator's recorded replies.

    Its calls have the keys of the model's own, so a reply is found only where prompt, weights,
    sampling and program are the very same. What was never asked is a failure and says so.
    """

    @property
    def label(self) -> str:
        """The model's name, and that it is recorded."""
        head = self.recording.head
        return f"{head.model} (recorded {head.recorded_on})"

    def identity(self) -> dict[str, object]:
        """Return the identity of the model that replied."""
        return dict(self.recording.head.chat)

    def complete_all(
        self, requests: Sequence[Request], calls: Calls, on_done: OnDone | None = None
    ) -> list[Outcome]:
        """Look the requests up; those that were never recorded come back as failures."""
        replies = self.recording.replies
        outcomes: list[Outcome] = []
        for index, request in enumerate(requests):
            key = self.key(request)
            if key in replies:
                calls.recall(1)
                outcomes.append(remembered(key, replies[key]))
            else:
                outcomes.append(NotRecordedError(self._unrecorded()))
            if on_done is not None:
                on_done(index, outcomes[-1])
        return outcomes

    def _unrecorded(self) -> str:
        return (
            f"{Path(self.file).name} holds no reply of {self.recording.head.model} to this prompt:"
            " a setting, a document, a question or a package differs from when it was recorded, or"
            " passages rank otherwise, which embedder=recorded prevents. Have a model answer live:"
            " chat=ollama variant.chat.model=..., chat=openai variant.chat.model=..., or"
            " chat=llamacpp variant.chat.model_path=<weights>.gguf"
        )
