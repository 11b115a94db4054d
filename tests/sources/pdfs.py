"""Small PDF files for tests, written by hand: text in any script, pictures, drawings, a password.

write_pdf(path, [text(72, 700, "麻疹 1.05") + bars(100, 300, (90, 40, 20))])
"""

import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PAGE = (595, 842)
GLYPHS = (*range(33, 127), *range(161, 255))
"""Codes at which Courier has a glyph; the file itself maps each code to a letter."""
PAD = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")


@dataclass(frozen=True)
class Drawn:
    """Something on a page; `+` puts two things on one page."""

    operators: bytes = b""
    texts: tuple[tuple[float, float, float, str], ...] = ()
    images: tuple[tuple[bytes, bytes], ...] = ()
    """Dictionary entries and data of each image or form, painted as /I0, /I1 ..."""

    def __add__(self, other: "Drawn") -> "Drawn":
        moved = other.operators
        for i in reversed(range(len(other.images))):
            moved = moved.replace(b"/I%d " % i, b"/I%d " % (i + len(self.images)))
        return Drawn(self.operators + moved, self.texts + other.texts, self.images + other.images)


def text(x: float, y: float, *lines: str, size: float = 10) -> Drawn:
    """Lines of text, each 1.4 letters below the other."""
    return Drawn(texts=tuple((x, y - 1.4 * size * i, size, line) for i, line in enumerate(lines)))


def bars(x: float, y: float, heights: Sequence[float]) -> Drawn:
    """A chart of upright bars on a base line."""
    rules = b"%f %f m %f %f l S\n" % (x, y, x + 40 * len(heights), y)
    boxes = b"".join(
        b"%f %f %f %f re f\n" % (x + 40 * i + 10, y, 20, height) for i, height in enumerate(heights)
    )
    return Drawn(b"0.2 0.4 0.8 rg 0 0 0 RG\n" + rules + boxes + b"0 g\n")


def table(x: float, y: float, rows: int, columns: int) -> Drawn:
    """A table of rules with a filled header row."""
    wide, high = 60 * columns, 15 * rows
    header = b"0.9 0.6 0.2 rg %f %f %f 15 re f 0 g\n" % (x, y + high - 15, wide)
    across = [
        b"%f %f m %f %f l S\n" % (x, y + 15 * i, x + wide, y + 15 * i) for i in range(rows + 1)
    ]
    up = [
        b"%f %f m %f %f l S\n" % (x + 60 * i, y, x + 60 * i, y + high) for i in range(columns + 1)
    ]
    return Drawn(header + b"".join(across + up))


def curve(x: float, y: float, points: int = 20) -> Drawn:
    """A zigzag line, 10 points a step."""
    steps = [b"%f %f l\n" % (x + 10 * i, y + 60 * (i % 2)) for i in range(1, points)]
    return Drawn(b"%f %f m\n" % (x, y) + b"".join(steps) + b"S\n")


def image(
    box: tuple[float, float, float, float],
    pixels: bytes,
    size: tuple[int, int],
    entries: bytes = b"/ColorSpace/DeviceRGB/BitsPerComponent 8",
) -> Drawn:
    """An image; box is left, bottom, width and height in points."""
    left, bottom, width, height = box
    head = b"/Subtype/Image/Width %d/Height %d/Filter/FlateDecode" % size + entries
    paint = b"q %f 0 0 %f %f %f cm /I0 Do Q\n" % (width, height, left, bottom)
    return Drawn(paint, images=((head, zlib.compress(pixels)),))


def form(x: float, y: float, scale: float, bounds: tuple[int, int], inner: Drawn) -> Drawn:
    """Operators in a form, which is scaled, moved and clipped to its bounds."""
    head = b"/Subtype/Form/BBox[0 0 %d %d]" % bounds
    paint = b"q %f 0 0 %f %f %f cm /I0 Do Q\n" % (scale, scale, x, y)
    return Drawn(paint, images=((head, inner.operators),))


def noise(width: int, height: int, channels: int = 3, seed: int = 0) -> bytes:
    """Pixels that compress badly and are not of one colour."""
    block = hashlib.sha256(bytes([seed])).digest()
    count = width * height * channels
    return (block * (count // 32 + 1))[:count]


def write_pdf(
    path: Path, pages: Sequence[Drawn], password: str | None = None, rotate: int = 0
) -> Path:
    """Write a PDF; with a password (the empty string is one) its streams are encrypted."""
    letters = sorted({char for page in pages for *_, line in page.texts for char in line} - {" "})
    codes = {" ": 32} | dict(zip(letters, GLYPHS, strict=False))
    assert len(letters) <= len(GLYPHS), "a page of fewer different letters is needed"
    objects: list[bytes] = [b"", b"", _font(), _stream(b"", _to_unicode(codes))]
    kids = []
    for page in pages:
        names = []
        for entries, data in page.images:
            objects.append(_stream(b"/Type/XObject" + entries, data))
            names.append(len(objects))
        shown = b"".join(
            b"BT /F %f Tf %f %f Td <%s> Tj ET\n"
            % (size, x, y, bytes(codes[char] for char in line).hex().encode())
            for x, y, size, line in page.texts
        )
        objects.append(_stream(b"", page.operators + shown))
        resources = b"".join(b"/I%d %d 0 R" % (i, name) for i, name in enumerate(names))
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 %d %d]/Rotate %d/Contents %d 0 R"
            b"/Resources<</Font<</F 3 0 R>>/XObject<<%s>>>>>>"
            % (*PAGE, rotate, len(objects), resources)
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[0] = b"<</Type/Catalog/Pages 2 0 R>>"
    objects[1] = b"<</Type/Pages/Kids[%s]/Count %d>>" % (b" ".join(kids), len(kids))
    path.write_bytes(_file(objects, password))
    return path


def _file(objects: Sequence[bytes], password: str | None) -> bytes:
    trailer = b"/Size %d/Root 1 0 R" % (len(objects) + 1)
    key = b""
    if password is not None:
        owner = _rc4(hashlib.md5(PAD).digest()[:5], _padded(password))
        name = b"0123456789abcdef"
        mask = b"\xfc\xff\xff\xff"
        key = hashlib.md5(_padded(password) + owner + mask + name).digest()[:5]
        trailer += b"/ID[<%s><%s>]/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<%s>/U<%s>>>" % (
            *(part.hex().encode() for part in (name, name, owner, _rc4(key, PAD))),
        )
    out = b"%PDF-1.4\n"
    offsets = []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, _encrypted(content, key, number))
    start = len(out)
    rows = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, rows)
    return out + b"trailer<<%s>>\nstartxref\n%d\n%%%%EOF" % (trailer, start)


def _stream(entries: bytes, data: bytes) -> bytes:
    return b"<<%s/Length %d>>stream\n%s\nendstream" % (entries, len(data), data)


def _encrypted(content: bytes, key: bytes, number: int) -> bytes:
    head, mark, rest = content.partition(b">>stream\n")
    if not key or not mark:
        return content
    own = hashlib.md5(key + number.to_bytes(3, "little") + b"\0\0").digest()[:10]
    return head + mark + _rc4(own, rest.removesuffix(b"\nendstream")) + b"\nendstream"


def _padded(password: str) -> bytes:
    return (password.encode("latin-1") + PAD)[:32]


def _rc4(key: bytes, data: bytes) -> bytes:
    box = list(range(256))
    j = 0
    for i in range(256):
        j = (j + box[i] + key[i % len(key)]) % 256
        box[i], box[j] = box[j], box[i]
    out = bytearray()
    i = j = 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + box[i]) % 256
        box[i], box[j] = box[j], box[i]
        out.append(byte ^ box[(box[i] + box[j]) % 256])
    return bytes(out)


def _font() -> bytes:
    widths = b" ".join([b"600"] * 255)
    return (
        b"<</Type/Font/Subtype/Type1/BaseFont/Courier/FirstChar 1/LastChar 255"
        b"/Widths[%s]/ToUnicode 4 0 R>>" % widths
    )


def _to_unicode(codes: dict[str, int]) -> bytes:
    rows = [
        b"<%02X> <%s>" % (code, char.encode("utf-16-be", "surrogatepass").hex().encode())
        for char, code in codes.items()
    ]
    blocks = [rows[i : i + 100] for i in range(0, len(rows), 100)]
    return (
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /T def\n"
        b"/CMapType 2 def 1 begincodespacerange <00> <FF> endcodespacerange\n"
        + b"".join(
            b"%d beginbfchar\n%s\nendbfchar\n" % (len(block), b"\n".join(block)) for block in blocks
        )
        + b"endcmap end end"
    )
