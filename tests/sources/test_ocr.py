import importlib.util

import pytest
from PIL import Image

from harness.errors import ConfigError
from harness.llm import Calls
from harness.sources.ocr import OcrCaptioner
from tests.sources.figures import bar_chart, figure

pytestmark = pytest.mark.slow

needs_ocr = pytest.mark.skipif(
    importlib.util.find_spec("rapidocr") is None, reason="rapidocr is not installed: [ocr]"
)


@needs_ocr
def test_printed_values_are_read() -> None:
    """A real reading of a drawn chart: each label with the value printed over its bar."""
    chart = bar_chart(["North", "South", "West"], ["18.7", "4.2", "30.5"])

    (caption,) = OcrCaptioner(language="en").caption([figure("d#1.f1", chart)], Calls(None))

    assert "Cases per region" in caption.text
    assert caption.text.endswith("Values: North: 18.7; South: 4.2; West: 30.5.")
    assert caption.readable
    assert caption.source == "ocr"
    assert caption.confidence is not None
    assert 0.8 <= caption.confidence <= 1.0


@needs_ocr
def test_picture_without_words_has_no_caption() -> None:
    """A picture without printed words has an empty caption."""
    (caption,) = OcrCaptioner().caption([figure("d#1.f1", Image.linear_gradient("L"))], Calls(None))

    assert (caption.text, caption.readable, caption.confidence) == ("", False, None)
    assert caption.error is None


@needs_ocr
def test_identity_names_engine_models_and_settings() -> None:
    """Another release, other weights, another language or threshold give another identity."""
    identity = OcrCaptioner().identity()

    assert str(identity["engine"]).startswith("rapidocr 3.")
    models = identity["models"]
    assert isinstance(models, dict)
    assert {len(digest) for digest in models.values()} == {64}
    assert OcrCaptioner(language="ja").identity() != identity
    assert OcrCaptioner(min_confidence=0.5).identity() != identity


@needs_ocr
def test_a_language_without_words_is_captioned_in_english(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A study in Korean gets English captions, and one warning that lists the known languages."""
    chart = bar_chart(("North", "South"), ("12.5", "7.0"))
    english, korean = (
        OcrCaptioner(language=language).caption([figure("d#1.f1", chart)], Calls(None))
        for language in ("en", "ko")
    )
    OcrCaptioner(language="ko").caption([], Calls(None))

    assert korean == english
    (line,) = caplog.messages
    assert "'ko' (known: en, ja, zh_hans, zh_hant): using English" in line


def test_missing_package_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra, the error says in one line what to install."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)

    with pytest.raises(ConfigError, match=r"pip install -e '\.\[ocr\]'"):
        OcrCaptioner().identity()
