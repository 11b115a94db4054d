"""Captions: what a captioner said about a figure, remembered by picture and captioner."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.errors import ConfigError
from harness.files import write_whole
from harness.llm.calls import Calls
from harness.llm.keys import call_key
from harness.sources.documents import Figure
from harness.sources.pdf.boxes import Box

AT_ONCE = 8
"""Figures that a captioner is given together: what is done is kept when a run is killed."""
KEPT = ("text", "readable", "confidence", "source")


@dataclass(frozen=True, slots=True)
class Caption:
    """What was said about a figure: one row of the captions of a run."""

    figure: str
    """The figure's id."""
    document: str
    page: int
    box: Box | None
    image_sha256: str
    """The picture lies in the cache as `figures/<image_sha256>.png`."""
    captioner: str
    text: str
    """Empty where nothing could be said; `error` may tell why."""
    readable: bool
    """Whether values could be read."""
    confidence: float | None
    """Mean confidence in [0, 1] of what was read; None where the captioner tells none."""
    source: str
    """ocr | vision | ..."""
    error: str | None = None


@dataclass
class Captioner:
    """Describes figures. A subclass gives `label`, `identity` and `caption`."""

    @property
    def label(self) -> str:
        """A short name for tables."""
        raise NotImplementedError

    def identity(self) -> dict[str, object]:
        """Return everything that shapes a caption, as JSON values."""
        raise NotImplementedError

    def caption(self, figures: Sequence[Figure], calls: Calls) -> tuple[Caption, ...]:
        """Caption the figures, in their order; a failure is a caption with an error.

        Raises:
            ConfigError: the captioner cannot work at all as it is set up.
        """
        raise NotImplementedError

    def say(
        self,
        figure: Figure,
        text: str,
        source: str,
        readable: bool = True,
        confidence: float | None = None,
        error: str | None = None,
    ) -> Caption:
        """Return a caption of the figure by this captioner."""
        return Caption(
            figure=figure.id,
            document=figure.document,
            page=figure.page,
            box=figure.box,
            image_sha256=figure.sha256,
            captioner=self.label,
            text=text,
            readable=readable and bool(text),
            confidence=confidence,
            source=source,
            error=error,
        )


@dataclass
class NoCaptioner(Captioner):
    """Says nothing: for an index of text only."""

    @property
    def label(self) -> str:
        return "none"

    def identity(self) -> dict[str, object]:
        return {"captioner": "none"}

    def caption(self, figures: Sequence[Figure], calls: Calls) -> tuple[Caption, ...]:
        raise ConfigError("captioner=none captions nothing; choose captioner=ocr or vision")


def captions_of(
    figures: Sequence[Figure],
    captioner: Captioner,
    calls: Calls,
    cache: Path,
) -> tuple[Caption, ...]:
    """Return the figures' captions, in their order, and keep pictures and captions in the cache.

    A picture that this captioner has seen before, in whatever document, is not shown to it
    again. What failed is not kept.

    Args:
        figures: What to caption.
        captioner: Who says it.
        calls: The store of the model calls that a captioner makes.
        cache: The folder that holds `captions/` and `figures/`.
    """
    identity = captioner.identity()
    mark = call_key(identity)[:16]
    said: dict[str, Caption] = {}
    waiting: dict[str, Figure] = {}
    for figure in figures:
        picture = cache / "figures" / f"{figure.sha256}.png"
        if not picture.exists():
            write_whole(picture, figure.png)
        kept = _remembered(cache / "captions" / f"{figure.sha256}-{mark}.json")
        if kept is not None:
            said[figure.sha256] = captioner.say(figure, **kept)
        else:
            waiting.setdefault(figure.sha256, figure)
    for done in range(0, len(waiting), AT_ONCE):
        some = list(waiting.values())[done : done + AT_ONCE]
        for caption in captioner.caption(some, calls):
            said[caption.image_sha256] = caption
            if caption.error is None:
                content = {"captioner": identity} | {name: getattr(caption, name) for name in KEPT}
                text = json.dumps(content, ensure_ascii=False, indent=1)
                file = cache / "captions" / f"{caption.image_sha256}-{mark}.json"
                write_whole(file, text.encode("utf-8"))
    return tuple(
        replace(said[f.sha256], figure=f.id, document=f.document, page=f.page, box=f.box)
        for f in figures
    )


def _remembered(path: Path) -> dict[str, Any] | None:
    """Return what is kept under a path; a file that cannot be read counts as none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return {name: content[name] for name in KEPT}
    except (OSError, ValueError, KeyError, TypeError):
        return None
