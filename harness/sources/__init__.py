"""What is put into an index: documents, their figures, captions, and the passages built of them."""

from harness.sources.captions import Caption, Captioner, NoCaptioner
from harness.sources.corpus import corpus_hashes, named_files, read_corpus
from harness.sources.documents import Document, Figure
from harness.sources.ocr import OcrCaptioner
from harness.sources.passages import CONTENTS, Index, Passages, build_passages
from harness.sources.vision import VisionCaptioner

CAPTIONERS: dict[str, type[Captioner]] = {
    "none": NoCaptioner,
    "ocr": OcrCaptioner,
    "vision": VisionCaptioner,
}
