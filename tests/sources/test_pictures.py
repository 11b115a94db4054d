import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from harness.errors import InputError
from harness.sources.documents import LONGEST_SIDE, decode, encode


def gradient(mode: str = "RGB", size: tuple[int, int] = (40, 20)) -> Image.Image:
    return Image.linear_gradient("L").resize(size).convert(mode)


def file_of(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, format=kind, **options)
    return buffer.getvalue()


def pixels(image: Image.Image) -> np.ndarray:
    picture = encode(image)
    assert picture is not None
    return np.asarray(Image.open(io.BytesIO(picture.png)))


@pytest.mark.parametrize(
    "mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "YCbCr", "I", "F", "I;16"]
)
def test_every_mode_becomes_rgb(mode: str) -> None:
    """Every mode of Pillow becomes 8-bit RGB of the same size."""
    image = gradient() if mode == "I;16" else gradient(mode)
    if mode == "I;16":
        image = Image.fromarray(np.linspace(0, 60000, 800).reshape(20, 40).astype(np.uint16))

    assert pixels(image).shape == (20, 40, 3)


def test_transparency_is_flattened_on_white() -> None:
    """Transparency becomes white."""
    image = Image.new("RGBA", (10, 10), (0, 0, 0, 0))
    image.putpixel((0, 0), (200, 0, 0, 255))

    flat = pixels(image)

    assert flat[5, 5].tolist() == [255, 255, 255]
    assert flat[0, 0].tolist() == [200, 0, 0]


def test_deep_greys_are_scaled_not_cut() -> None:
    """Of 16-bit greys 0, 1000 and 2000 the lightest becomes white, the middle one grey."""
    deep = Image.fromarray(np.array([[0, 1000, 2000]], dtype=np.uint16))

    assert pixels(deep)[0, :, 0].tolist() == [0, 128, 255]


def test_large_pictures_are_scaled_down() -> None:
    """The longest side is limited and the proportions are kept."""
    assert pixels(gradient(size=(4000, 1000))).shape == (500, LONGEST_SIDE, 3)


def test_blank_pictures_are_none() -> None:
    """A picture of one colour is dropped."""
    assert encode(Image.new("RGB", (100, 100), "white")) is None


def test_hash_is_of_the_pixels() -> None:
    """The same pixels from another file format are the same picture; other pixels are not."""
    png, bmp = (decode(file_of(gradient(), kind), "x") for kind in ("PNG", "BMP"))
    first, second, other = encode(png), encode(bmp), encode(gradient(size=(41, 20)))

    assert first is not None
    assert second is not None
    assert other is not None
    assert first.sha256 == second.sha256 != other.sha256


def test_exif_orientation_is_applied() -> None:
    """A photograph taken sideways is turned upright."""
    exif = Image.Exif()
    exif[0x0112] = 6

    assert decode(file_of(gradient(), "JPEG", exif=exif), "x").size == (20, 40)


@pytest.mark.parametrize("block", [b"II*\0\x08\0\0\0\x09\0", b"XX\0\0"])
def test_damaged_exif_is_ignored(block: bytes) -> None:
    """A picture whose EXIF block is truncated or invalid is not rotated."""
    data = file_of(gradient(), "JPEG", exif=b"Exif\0\0" + block)

    assert decode(data, "x").size == (40, 20)


def test_first_frame_is_taken() -> None:
    """Of an animation or a stack of pages the first is taken."""
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "blue")]
    data = file_of(frames[0], "TIFF", save_all=True, append_images=frames[1:])

    assert decode(data, "x").convert("RGB").getpixel((0, 0)) == (255, 0, 0)


def bomb(side: int) -> bytes:
    """A PNG of some hundred bytes that declares a picture of side x side pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    head = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 99)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


@pytest.mark.parametrize("side", [8_000, 11_000, 100_000])
def test_bombs_are_not_decoded(side: int) -> None:
    """Below and above the limits at which Pillow warns and refuses, it is an error in one line."""
    with pytest.raises(InputError, match=r"^big.png: picture of more than 50,000,000 pixels"):
        decode(bomb(side), "big.png")


@pytest.mark.parametrize("end", [0, 8, 40, 60, 75])
def test_broken_pictures_are_named(end: int) -> None:
    """A file that is not a picture, or is truncated, is an error in one line that names it."""
    with pytest.raises(InputError, match=r"^torn.png: not a readable picture"):
        decode(file_of(gradient())[:end], "torn.png")
