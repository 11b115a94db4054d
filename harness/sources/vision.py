"""Captions by a vision model behind an OpenAI-compatible endpoint."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

from harness.errors import ConfigError, EndpointError, in_language
from harness.llm import Calls, Chat, Message, OpenAIChat, Outcome, Request
from harness.llm.remote import PLACE
from harness.sources.captions import Caption, Captioner
from harness.sources.documents import Figure

PROMPTS = {
    "en": (
        "Describe this figure from a report so that a reader who cannot see it can answer "
        "questions about it. Give the title, what the axes show, the legend, and every value "
        "that is printed, each with its label. Then say in one or two sentences what stands "
        "out. Do not guess values that are not printed; say that they cannot be read. "
        "Answer in English, in plain text without headings."
    ),
    "ja": (
        "これは報告書の図です。図を見られない読者が質問に答えられるように説明してください。"
        "表題、軸が表すもの、凡例、印字されているすべての数値を項目名とともに挙げ、"
        "続けて目立つ点を一、二文で述べてください。"
        "印字されていない数値は推測せず、読み取れないと書いてください。"
        "見出しのない平文の日本語で答えてください。"
    ),
    "zh_hant": (
        "這是一份報告中的圖。請描述它，讓看不到圖的讀者也能回答相關問題。"
        "請寫出標題、座標軸的意義、圖例，以及圖上印出的每一個數值和它的項目名稱，"
        "再用一兩句話說明最明顯的特徵。沒有印出的數值不要猜測，請寫明無法讀出。"
        "請用繁體中文回答，不加小標題。"
    ),
    "zh_hans": (
        "这是一份报告中的图。请描述它，让看不到图的读者也能回答相关问题。"
        "请写出标题、坐标轴的含义、图例，以及图上印出的每一个数值和它的项目名称，"
        "再用一两句话说明最明显的特征。没有印出的数值不要猜测，请写明无法读出。"
        "请用简体中文回答，不加小标题。"
    ),
}


@dataclass
class VisionCaptioner(Captioner):
    """Sends each figure to a vision model; its reply is the caption."""

    base_url: str = field(default="https://api.openai.com/v1", metadata=PLACE)
    model: str = ""
    api_key_env: str | None = field(default=None, metadata=PLACE)
    """Name of the environment variable with the key; null for a local server."""
    language: str = "en"
    """en | ja | zh_hant | zh_hans: of the prompt. English for any other, with a warning."""
    prompt: str | None = None
    """Sent instead of the prompt of the language."""
    temperature: float | None = 0.0
    seed: int | None = 0
    max_tokens: int | None = 800
    """A caption that is truncated here is an error."""
    concurrency: int = field(default=2, metadata=PLACE)
    timeout: float = field(default=300.0, metadata=PLACE)
    """Seconds."""

    @property
    def label(self) -> str:
        return self.model

    def identity(self) -> dict[str, object]:
        return {
            "captioner": "vision",
            "chat": self.chat().identity(),
            "prompt": self.rendered_prompt,
        }

    @property
    def rendered_prompt(self) -> str:
        """The prompt that is sent with each figure."""
        return self.prompt or in_language(PROMPTS, self.language, "prompt for captions")

    def chat(self) -> Chat:
        """Return the model that captions."""
        if not self.model:
            raise ConfigError("captioner=vision needs a model: variant.captioner.model=...")
        shared = {each.name for each in fields(self)} & {each.name for each in fields(OpenAIChat)}
        return OpenAIChat(**{name: getattr(self, name) for name in shared})

    def caption(self, figures: Sequence[Figure], calls: Calls) -> tuple[Caption, ...]:
        prompt = self.rendered_prompt
        requests = [Request((Message("user", prompt, images=(f.png,)),)) for f in figures]
        outcomes = self.chat().complete_all(requests, calls)
        return tuple(map(self._caption, figures, outcomes))

    def _caption(self, figure: Figure, outcome: Outcome) -> Caption:
        if isinstance(outcome, EndpointError):
            return self.say(figure, "", "vision", error=str(outcome))
        text = outcome.text.strip()
        error = None if text else "the model returned an empty caption"
        if outcome.finish_reason == "length":
            text = ""
            error = f"truncated at {self.max_tokens} tokens; raise variant.captioner.max_tokens"
        return self.say(figure, text, "vision", error=error)
