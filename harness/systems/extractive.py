"""A generator without a language model: it quotes the sentence that fits the question best."""

from dataclasses import dataclass, replace

import numpy as np

from harness.errors import in_language
from harness.llm import Calls, Embedder, Role
from harness.records import Answer, Query
from harness.systems.passage_readers import PassageReader
from harness.text import letters, ngrams, quotable_sentences

REFUSALS = {
    "en": "The documents do not say.",
    "ja": "資料には記載がありません。",
    "zh_hant": "資料中沒有提到。",
    "zh_hans": "资料中没有提到。",
}


@dataclass
class Extractive(PassageReader):
    """The stated baseline: it quotes a sentence, chosen half by meaning, half by shared characters.

    It ignores every prompt, and neither compares nor adds up what the passages state.
    """

    threshold: float = 0.6
    """Below this score, 0 to 1, it refuses. Of 60 NoMIRACL questions in three languages, 5 % of
    those that could be answered scored below 0.63; but the score hardly separates the two (AUC
    0.62, measured 2026-11-30), so it answers most questions that cannot be answered."""
    language: str = "en"
    """Of the refusal; a language without a refusal of its own gets the English one."""

    @property
    def label(self) -> str:
        return "extractive"

    @property
    def notes(self) -> tuple[str, ...]:
        return ("ignores_prompt",)

    def identity(self) -> dict[str, object]:
        return {"reader": "extractive-1", "threshold": self.threshold, "language": self.language}

    def generate(self, query: Query, found: Answer, embedder: Embedder, calls: Calls) -> Answer:
        """Return the passages with their best sentence; the refusal where none is good enough."""
        refusal = in_language(REFUSALS, self.language, "refusal of the extractive reader")
        every = (sentence for p in found.passages for sentence in quotable_sentences(p.text))
        sentences = list(dict.fromkeys(every))
        if not sentences:
            return replace(found, text=refusal)
        meaning = embedder.embed(sentences, Role.PASSAGE, calls) @ embedder.embed(
            [query.text], Role.QUERY, calls
        ).reshape(-1)
        shared = np.array([question_coverage(query.text, sentence) for sentence in sentences])
        scores = np.round(0.5 * meaning + 0.5 * shared, 6)
        best = int(scores.argmax())
        return replace(found, text=sentences[best] if scores[best] >= self.threshold else refusal)


def question_coverage(question: str, sentence: str) -> float:
    """Return the share of the question's character bigrams that the sentence contains, 0 to 1.

    They are pairs of neighbouring letters and digits, whatever their width and case.
    """
    asked, present = (ngrams(letters(text), 2) for text in (question, sentence))
    return len(asked & present) / len(asked) if asked else 0.0
