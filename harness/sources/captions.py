"""Captions: what a captioner says about a figure, cached by picture and captioner."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.errors import ConfigError
from harness.files import write_whole
from harness.llm import Calls, call_key
from harness.sources.documents import Box, Figure

BATCH = 8
"""Figures given to a captioner at once: a batch that is done is kept when a run is killed."""
CACHED_FIELDS = ("text", "readable", "confidence", "source")


@dataclass(frozen=True, slots=True)
class Caption:
    """What a captioner said about a figure: one row of the captions of a run."""

    figure: str
    """The figure's id."""
    document: str
    page: int
    box: Box | None
    image_sha256: str
    """The picture is cached as `figures/<image_sha256>.png`."""
    captioner: str
    text: str
    """Empty if nothing could be said; `error` may give the reason."""
    readable: bool
    """Whether values could be read."""
    confidence: float | None
    """Mean confidence in [0, 1] of what was read; None if the captioner does not report one."""
    source: str
    """ocr | vision | ..."""
    error: str | None = None


@dataclass
class Captioner:
    """Describes figures. A subclass defines `label`, `identity` and `caption`."""

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
            ConfigError: the captioner cannot work at all with its settings.
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
    """Captions nothing: for an index of text only."""

    @property
    def label(self) -> str:
        return "none"

    def identity(self) -> dict[str, object]:
        return {"captioner": "none"}

    def caption(self, figures: Sequence[Figure], calls: Calls) -> tuple[Caption, ...]:
        raise ConfigError(
            "captioner=none writes no captions; choose captioner=ocr or captioner=vision"
        )


def captions_of(
    figures: Sequence[Figure],
    captioner: Captioner,
    calls: Calls,
    cache: Path,
) -> tuple[Caption, ...]:
    """Return the figures' captions, in their order; pictures and captions are cached.

    A picture that this captioner has captioned before, in any document, is not given to it again.
    Failures are not cached.

    Args:
        figures: What to caption.
        captioner: What captions them.
        calls: The store of the model calls that a captioner makes.
        cache: The folder that contains `captions/` and `figures/`.
    """
    identity = captioner.identity()
    mark = call_key(identity)[:16]
    captions: dict[str, Caption] = {}
    waiting: dict[str, Figure] = {}
    for figure in figures:
        picture = cache / "figures" / f"{figure.sha256}.png"
        if not picture.exists() or picture.read_bytes() != figure.png:
            write_whole(picture, figure.png)
        cached = _cached(cache / "captions" / f"{figure.sha256}-{mark}.json")
        if cached is not None:
            captions[figure.sha256] = captioner.say(figure, **cached)
        else:
            waiting.setdefault(figure.sha256, figure)
    for done in range(0, len(waiting), BATCH):
        batch = list(waiting.values())[done : done + BATCH]
        for caption in captioner.caption(batch, calls):
            captions[caption.image_sha256] = caption
            if caption.error is None:
                fields = {name: getattr(caption, name) for name in CACHED_FIELDS}
                content = {"captioner": identity, "sha256": call_key(fields)} | fields
                text = json.dumps(content, ensure_ascii=False, indent=1)
                file = cache / "captions" / f"{caption.image_sha256}-{mark}.json"
                write_whole(file, text.encode("utf-8"))
    return tuple(
        replace(captions[f.sha256], figure=f.id, document=f.document, page=f.page, box=f.box)
        for f in figures
    )


def _cached(path: Path) -> dict[str, Any] | None:
    """Return the cached fields of a caption, or None if the file is missing or damaged."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        fields = {name: content[name] for name in CACHED_FIELDS}
        sound = content.get("sha256", call_key(fields)) == call_key(fields)  # older ones have none
        return fields if sound else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
