import os
import unicodedata
import zipfile
from pathlib import Path

import pytest

from harness.errors import InputError
from harness.sources import Document, corpus_hashes, read_corpus
from tests.sources.pdfs import bars, image, noise, text, write_pdf

ROOT = Path(__file__).parents[2]


def read_one(path: Path) -> Document:
    (document,) = read_corpus([str(path)])
    return document


def refusal(*paths: Path) -> str:
    with pytest.raises(InputError) as error:
        read_corpus([str(path) for path in paths])
    message = str(error.value)
    assert "\n" not in message
    return message


def outcome(path: Path) -> str:
    try:
        return "read" if read_one(path).pages else "nothing"
    except InputError as error:
        return str(error)


def test_folder_is_read_in_the_order_of_names(tmp_path: Path) -> None:
    """Files of all kinds, in sub-folders too, are read as documents sorted by name."""
    (tmp_path / "deep").mkdir()
    write_pdf(tmp_path / "b.pdf", [text(72, 700, "pdf")])
    (tmp_path / "deep" / "a.md").write_text("markdown")
    (tmp_path / "c.TXT").write_text("plain")
    (tmp_path / ".hidden.docx").write_text("not read")

    documents = read_corpus([str(tmp_path)])

    assert [d.name for d in documents] == ["a", "b", "c"]
    assert [d.pages[0].text for d in documents] == ["markdown", "pdf", "plain"]


def test_pages_count_from_one_for_every_kind(tmp_path: Path) -> None:
    """The first page is 1, in a PDF and in a text file, where a form feed ends a page."""
    write_pdf(tmp_path / "a.pdf", [text(72, 700, "one"), text(72, 700, "two")])
    (tmp_path / "b.txt").write_text("one\ftwo")

    for document in read_corpus([str(tmp_path)]):
        assert [(p.number, p.text) for p in document.pages] == [(1, "one"), (2, "two")]


def test_every_page_has_a_number(tmp_path: Path) -> None:
    """A file in a format without pages is one page, number 1, so that passages have a page."""
    (tmp_path / "a.md").write_text("# Title\n\nText")

    assert [page.number for page in read_one(tmp_path / "a.md").pages] == [1]


def test_name_is_readable_and_safe_for_ids(tmp_path: Path) -> None:
    """A name keeps its script, is in NFC whatever the file system returns, and has no #."""
    file = tmp_path / (unicodedata.normalize("NFD", "ガイド") + " #2 (草稿).txt")
    file.write_text("x")

    assert read_one(file).name == "ガイド_2_草稿"


def test_same_file_given_twice_is_one_document(tmp_path: Path) -> None:
    """A file given together with its folder is read once."""
    file = tmp_path / "a.txt"
    file.write_text("x")

    assert len(read_corpus([str(tmp_path), str(file)])) == 1


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    """A missing path, an unknown kind, an empty folder and no path are errors in one line."""
    word = tmp_path / "report.odt"
    word.write_text("x")
    (tmp_path / "empty").mkdir()

    assert refusal(tmp_path / "gone.pdf") == f"{tmp_path}/gone.pdf: no such file or folder"
    assert "report.odt" in refusal(word)
    assert "known: .pdf, .txt, .md" in refusal(word)
    assert "the corpus is empty" in refusal(tmp_path / "empty")
    assert "the corpus is empty" in refusal()


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    """Passages of both would have the same ids; names that differ only in case are equal."""
    (tmp_path / "Report.txt").write_text("x")
    (tmp_path / "report.md").write_text("y")

    message = refusal(tmp_path)

    assert "Report.txt" in message
    assert "report.md" in message
    assert "rename one" in message


def test_encrypted_pdf(tmp_path: Path) -> None:
    """A PDF with a password is refused with the remedy; one with an empty password opens."""
    page = [text(72, 700, "secret 1.05")]
    locked = write_pdf(tmp_path / "locked.pdf", page, password="swordfish")
    owned = write_pdf(tmp_path / "owned.pdf", page, password="")

    assert "locked.pdf: the PDF is encrypted; save a copy without a password" in refusal(locked)
    assert read_one(owned).pages[0].text == "secret 1.05"


def test_pdf_without_text_names_the_remedy(tmp_path: Path) -> None:
    """A scan would give an empty index, so it is an error with the remedy."""
    scan = image((0, 0, 595, 842), noise(60, 80), (60, 80))

    message = refusal(write_pdf(tmp_path / "scan.pdf", [scan]))

    assert "scan.pdf: the PDF has no text" in message
    assert "ocrmypdf scan.pdf" in message


@pytest.mark.parametrize("data", [b"", b"%PDF-1.4\n", b"../elsewhere.pdf", b"%PDF-1.4\n%%EOF" * 9])
def test_damaged_pdf(tmp_path: Path, data: bytes) -> None:
    """A file that is not a PDF, or a damaged one, is an error in one line that names it."""
    (tmp_path / "bad.pdf").write_bytes(data)

    assert "bad.pdf: not a readable PDF" in refusal(tmp_path / "bad.pdf")


def test_pdf_cut_short(tmp_path: Path) -> None:
    """A PDF truncated anywhere is either read or refused in one line; none crashes."""
    whole = write_pdf(tmp_path / "whole.pdf", [text(72, 700, "abc") + bars(72, 300, (9, 90, 50))])
    data = whole.read_bytes()
    for end in range(0, len(data), max(len(data) // 40, 1)):
        cut = tmp_path / "cut.pdf"
        cut.write_bytes(data[:end])
        assert outcome(cut) == "read" or "cut.pdf: " in outcome(cut)


def test_missing_page_is_counted(tmp_path: Path) -> None:
    """A page that the file lists but does not contain is an empty page, and is counted."""
    file = write_pdf(tmp_path / "a.pdf", [text(72, 700, "one")])
    file.write_bytes(file.read_bytes().replace(b" 0 R]/Count 1", b" 0 R 77 0 R]/Count 2"))

    document = read_one(file)

    assert [page.text for page in document.pages] == ["one", ""]
    assert document.counts["pages_unreadable"] == 1


def test_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error for a file without permission has the system's reason."""

    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    (tmp_path / "a.txt").write_text("x")
    monkeypatch.setattr(Path, "read_bytes", refuse)

    assert "a.txt: cannot be read (Permission denied)" in refusal(tmp_path / "a.txt")


def test_text_files_need_utf8(tmp_path: Path) -> None:
    """A file in a national encoding is refused; a byte-order mark and UTF-16 are read."""
    (tmp_path / "big5.txt").write_bytes("麻疹".encode("big5"))
    (tmp_path / "marked.txt").write_bytes("麻疹".encode("utf-8-sig"))
    (tmp_path / "wide.txt").write_bytes("麻疹".encode("utf-16"))

    assert "big5.txt: not UTF-8 text (byte 1); save it as UTF-8" in refusal(tmp_path / "big5.txt")
    assert read_one(tmp_path / "marked.txt").pages[0].text == "麻疹"
    assert read_one(tmp_path / "wide.txt").pages[0].text == "麻疹"


def test_empty_text_file(tmp_path: Path) -> None:
    """A document without a word is refused, not skipped."""
    (tmp_path / "blank.txt").write_text(" \n\f\n")

    assert "blank.txt: the document has no text" in refusal(tmp_path / "blank.txt")


def test_demo_figures() -> None:
    """The demo's chapter has four bitmap charts, on pages 2, 5, 6 and 7, and nothing else."""
    document = read_one(ROOT / "testsets" / "plurality" / "documents")

    name = document.name
    assert [f.id for f in document.figures] == [f"{name}#{page}.f1" for page in (2, 5, 6, 7)]
    assert {f.kind for f in document.figures} == {"image"}
    assert len(document.pages) == 8


def test_census_figures() -> None:
    """The census pages have one vector bar chart; their ruled tables are not figures."""
    document = read_one(ROOT / "testsets" / "census" / "documents")

    assert [(f.id, f.kind) for f in document.figures] == [("en_census_disability#2.f1", "drawing")]


def test_demo_sentences_are_whole() -> None:
    """Lines of a paragraph are joined, so that a sentence across a line end can be found."""
    document = read_one(ROOT / "testsets" / "plurality" / "documents")

    assert "他們日益將技術視為一種整體的威脅，而不是曾經看見的機會" in document.pages[0].text
    assert "民主國家對技術的敵意\n這種敵意遠非單向的" in document.pages[0].text


def test_reading_twice_gives_equal_documents() -> None:
    """Text, figures, ids and hashes are a function of the bytes."""
    paths = [str(ROOT / "testsets" / "census" / "documents")]

    assert read_corpus(paths) == read_corpus(paths)


def test_figures_can_be_left_out(tmp_path: Path) -> None:
    """If figures are not read, the text is the same."""
    file = write_pdf(tmp_path / "a.pdf", [text(72, 700, "a") + bars(72, 300, (90, 40, 20))])

    (plain,) = read_corpus([str(file)], figures=False)

    assert plain.figures == ()
    assert [p.text for p in plain.pages] == [p.text for p in read_one(file).pages]


class TestLimits:
    """A file that is too large, as it is or decompressed, is one line before it is read."""

    def test_bytes(self, tmp_path: Path) -> None:
        """The limit is the study's, in millions of bytes."""
        (tmp_path / "a.txt").write_bytes(b"a" * 1_000_001)

        with pytest.raises(InputError, match=r"a\.txt: larger than 1 MB .*raise study\.largest_mb"):
            corpus_hashes([str(tmp_path)], largest_mb=1)
        assert corpus_hashes([str(tmp_path)], largest_mb=2).keys() == {"a.txt"}

    def test_a_word_file_that_decompresses_to_more(self, tmp_path: Path) -> None:
        """A kilobyte of zip can hold a gigabyte of XML."""
        with zipfile.ZipFile(tmp_path / "a.docx", "w", zipfile.ZIP_DEFLATED) as word:
            word.writestr("word/document.xml", b" " * 2_000_000)

        assert (tmp_path / "a.docx").stat().st_size < 10_000
        with pytest.raises(InputError, match=r"a\.docx: larger than 1 MB \(decompressed\)"):
            corpus_hashes([str(tmp_path)], largest_mb=1)

    def test_pages(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Pages are limited too: they need memory even where they are empty."""
        monkeypatch.setattr("harness.sources.documents.MOST_PAGES", 2)
        write_pdf(tmp_path / "a.pdf", [text(72, 700, "page")] * 3)
        (tmp_path / "b.txt").write_text("one\ftwo\f")

        for name in ("a.pdf", "b.txt"):
            assert refusal(tmp_path / name).endswith("3 pages; at most 2 are read, so split it")


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    """A corpus with one document, beside a folder with another."""
    for folder, name in (("corpus", "a.md"), ("corpus/deep", "b.md"), ("elsewhere", "c.md")):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / name).write_text(name)
    return tmp_path / "corpus"


def test_a_linked_folder_is_read(linked: Path) -> None:
    """A link to a folder of the corpus adds nothing, and one to another needs `follow_links`."""
    (linked / "again").symlink_to("deep", target_is_directory=True)
    assert [d.name for d in read_corpus([str(linked)])] == ["a", "b"]

    (linked / "more").symlink_to(linked.parent / "elsewhere", target_is_directory=True)
    message = refusal(linked)

    assert message.startswith(f"{linked / 'more'}: the link leads out of the corpus, to ")
    assert "study.follow_links=true" in message
    documents = read_corpus([str(linked)], follow_links=True)
    assert [d.name for d in documents] == ["a", "b", "c"]
    both = read_corpus([str(linked), str(linked.parent / "elsewhere")])
    assert [d.name for d in both] == ["a", "b", "c"]


def test_a_linked_file_is_one_document_under_its_own_name(linked: Path) -> None:
    """Inside the corpus a link is another name; outside it is refused like a folder's."""
    (linked / "0.md").symlink_to("deep/b.md")
    assert [d.name for d in read_corpus([str(linked)])] == ["a", "b"]

    (linked / "z.md").symlink_to(linked.parent / "elsewhere" / "c.md")
    assert "z.md: the link leads out of the corpus" in refusal(linked)
    documents = read_corpus([str(linked)], follow_links=True)
    assert [d.name for d in documents] == ["a", "b", "z"]


@pytest.mark.parametrize("target", ["nowhere.md", "gone", "x.md"])
def test_a_dangling_link_is_an_error(linked: Path, target: str) -> None:
    """To a missing file, a missing folder, and to itself."""
    (linked / "x.md").symlink_to(target)

    assert f"x.md: the target of the link does not exist ({target})" in refusal(linked)


def test_a_loop_of_links_ends(linked: Path) -> None:
    """Links to a folder above, and between two folders, are read once."""
    (linked / "deep" / "up").symlink_to(linked, target_is_directory=True)
    (linked / "deep" / "over").symlink_to(linked.parent, target_is_directory=True)
    (linked.parent / "elsewhere" / "back").symlink_to(linked / "deep", target_is_directory=True)

    documents = read_corpus([str(linked)], follow_links=True)

    assert [d.name for d in documents] == ["a", "b", "c"]


@pytest.mark.parametrize("name", [b"\x83\x8c.md", b"\x83\x8c"])
def test_a_name_that_is_not_utf_8_is_refused(linked: Path, name: bytes) -> None:
    """A file or folder with such a name is named before anything is read."""
    place = os.fsencode(linked) + b"/" + name
    if name.endswith(b".md"):
        Path(os.fsdecode(place)).write_text("x")
    else:
        os.mkdir(place)

    assert f"{linked}/\\x83\\x8c" in refusal(linked)
    assert "the name is not UTF-8; rename" in refusal(linked)
