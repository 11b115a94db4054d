"""Pictures as captioners take them: RGB on white, upright, limited in size, as PNG."""

import hashlib
import io
import struct
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.errors import InputError

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_PIXELS = 50_000_000
"""A larger image is not decoded: a file of 200 bytes can declare billions of pixels."""
UNREADABLE = (OSError, ValueError, SyntaxError, EOFError, KeyError, TypeError, struct.error)
"""Exceptions that Pillow raises on damaged files."""
LONGEST_SIDE = 2000
"""Pixels; a larger picture is scaled down, since captioners do that anyway."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture, encoded once."""

    png: bytes
    sha256: str
    """Of size and RGB pixels: it does not depend on the PNG encoder."""


def encode(image: "Image") -> Picture | None:
    """Return the image as a PNG, or None if it is blank: all of one colour."""
    rgb = _fitted(_on_white(image))
    if len(rgb.getcolors(2) or (0, 0)) == 1:
        return None
    size = f"{rgb.width}x{rgb.height}:".encode("ascii")
    buffer = io.BytesIO()
    rgb.save(buffer, format="PNG")
    return Picture(buffer.getvalue(), hashlib.sha256(size + rgb.tobytes()).hexdigest())


def decode(data: bytes, name: str) -> "Image":
    """Decode the first frame of an image file, turned upright by its EXIF orientation.

    Raises:
        InputError: it is not an image, is damaged, or declares more than `MOST_PIXELS`.
    """
    from PIL import Image, ImageOps

    too_large = f"{name}: picture of more than {MOST_PIXELS:,} pixels; scale it down first"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            image = Image.open(io.BytesIO(data))
            if image.width * image.height > MOST_PIXELS:
                raise InputError(too_large)
            image.load()
        except Image.DecompressionBombError as error:
            raise InputError(too_large) from error
        except UNREADABLE as error:
            raise InputError(f"{name}: not a picture that can be read") from error
        try:
            return ImageOps.exif_transpose(image)
        except UNREADABLE:
            return image


def _on_white(image: "Image") -> "Image":
    """Return the image in RGB: transparency on white, deep greys scaled to 8 bits."""
    from PIL import Image

    if image.mode in {"I", "F"} or image.mode.startswith("I;16"):
        return _eight_bit(image).convert("RGB")
    if image.has_transparency_data:
        layers = image.convert("RGBA")
        white = Image.new("RGBA", layers.size, (255, 255, 255, 255))
        return Image.alpha_composite(white, layers).convert("RGB")
    return image.convert("RGB")


def _eight_bit(image: "Image") -> "Image":
    """Return greys of more than 8 bits scaled so that the lightest is white."""
    import numpy as np
    from PIL import Image

    greys = np.nan_to_num(np.asarray(image, dtype=np.float64))
    lightest = max(float(greys.max(initial=0.0)), 1.0)
    return Image.fromarray((greys.clip(0.0) / lightest * 255.0).round().astype(np.uint8))


def _fitted(image: "Image") -> "Image":
    longest = max(image.size)
    if longest <= LONGEST_SIDE:
        return image
    width, height = (max(round(side * LONGEST_SIDE / longest), 1) for side in image.size)
    return image.resize((width, height))
