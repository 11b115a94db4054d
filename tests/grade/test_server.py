"""The page over a real socket: requests that are answered, and requests that are refused."""

import http.client
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest

from harness.grade.desk import AnswerDesk, CaptionDesk, Queue
from harness.grade.evidence_pages import EvidencePages
from harness.grade.server import listening, page_on, site
from harness.grade.session import answers_of, captions_of
from harness.questions import CaptionGrade, Gradebook
from harness.records import Grade
from harness.sources import named_files
from tests.grade.small import Small

JSON = {"Content-Type": "application/json"}


@dataclass
class Site:
    """A page that is being served."""

    link: str
    small: Small
    host: str = field(init=False)
    token: str = field(init=False)

    def __post_init__(self) -> None:
        parts = urlsplit(self.link)
        self.host, self.token = parts.netloc, parts.path.strip("/")

    def ask(
        self, path: str, body: object = None, **headers: str
    ) -> tuple[int, bytes, http.client.HTTPMessage]:
        """Send a request exactly as it is written, and return status, body and headers."""
        connection = http.client.HTTPConnection(self.host, timeout=10)
        sent = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        method = "GET" if body is None else "POST"
        connection.putrequest(method, path, skip_host="Host" in headers)
        given = {} if sent is None else {**JSON, "Content-Length": str(len(sent))}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        for name, value in given.items():
            connection.putheader(name, value)
        connection.endheaders(sent)
        reply = connection.getresponse()
        found = reply.status, reply.read(), reply.headers
        connection.close()
        return found

    def now(self, kind: str = "answers") -> Any:
        status, body, _ = self.ask(f"/{self.token}/{kind}/now")
        assert status == 200
        return json.loads(body)

    def act(self, what: str, body: object, kind: str = "answers") -> tuple[int, Any]:
        status, reply, _ = self.ask(f"/{self.token}/{kind}/{what}", body)
        return status, json.loads(reply) if status == 200 else None

    @property
    def grades(self) -> list[Grade]:
        return Gradebook(self.small.testset / "grades.jsonl", Grade).read()


@pytest.fixture
def served(small: Small) -> Iterator[Site]:
    """The small study's page, on a free port."""
    answers, captions = answers_of(small.runs), captions_of(small.runs)
    pages = EvidencePages(named_files([str(small.folder / "documents")]))
    book = Gradebook(small.testset / "grades.jsonl", Grade)
    caption_book = Gradebook(small.testset / "caption_grades.jsonl", CaptionGrade)
    desks = {
        "answers": AnswerDesk(Queue(book, list(answers), "ann"), answers, pages),
        "captions": CaptionDesk(Queue(caption_book, list(captions), "ann"), captions),
    }
    with listening(0) as opened:
        server, link = page_on(opened, desks, site(list(desks), "en", "en"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
        thread.start()
        try:
            yield Site(link, small)
        finally:
            server.should_exit = True
            thread.join(10)


def test_only_loopback_listens() -> None:
    """The socket is bound to 127.0.0.1, so no other machine can reach it."""
    with listening(0) as opened:
        assert opened.getsockname()[0] == "127.0.0.1"


Refused = Callable[[Site], tuple[int, bytes, Any]]


@pytest.mark.parametrize(
    ("ask", "status"),
    [
        (lambda at: at.ask("/"), 403),
        (lambda at: at.ask("/answers/now"), 403),
        (lambda at: at.ask(f"/{at.token[:-1]}/answers/now"), 403),
        (lambda at: at.ask(f"/{at.token}x/answers/now"), 403),
        (lambda at: at.ask(f"/?token={at.token}"), 403),
        (lambda at: at.ask("/%ff/answers/now"), 403),
        (lambda at: at.ask(f"/{at.token}/answers/now", Origin="http://evil.example"), 403),
        (lambda at: at.ask(f"/{at.token}/answers/now", Origin="null"), 403),
        (lambda at: at.ask(f"/{at.token}/answers/now", Origin=f"https://{at.host}"), 403),
        (lambda at: at.ask(f"/{at.token}/answers/now", Host="evil.example"), 421),
        (lambda at: at.ask(f"/{at.token}/answers/now", Host="127.0.0.1:1"), 421),
        (lambda at: at.ask(f"/{at.token}/../etc/passwd"), 404),
        (lambda at: at.ask(f"/{at.token}/answers/picture/..%2f..%2fgrades.png"), 404),
        (lambda at: at.ask(f"/{at.token}/answers/picture/%252e%252e%252fx.png"), 404),
        (lambda at: at.ask(f"/{at.token}/answers/picture/..\\x.png"), 404),
        (lambda at: at.ask(f"/{at.token}/answers/picture/no.png"), 404),
        (lambda at: at.ask(f"/{at.token}/nothing"), 404),
        (lambda at: at.ask(f"/{at.token}/answers/grade"), 405),
        (lambda at: at.ask(f"/{at.token}/answers/undo", {}, Content_Type="text/plain"), 415),
        (lambda at: at.ask(f"/{at.token}/answers/undo", b"{"), 400),
        (lambda at: at.ask(f"/{at.token}/answers/undo", b"[]"), 400),
        (lambda at: at.ask(f"/{at.token}/answers/undo", b"[" * 100_000), 400),
        (lambda at: at.ask(f"/{at.token}/answers/undo", b"{" + b" " * 1_000_000 + b"}"), 413),
        (lambda at: at.ask("/", b" " * 1_000_001), 413),
    ],
)
def test_refusals(served: Site, ask: Refused, status: int) -> None:
    """A foreign or malformed request is refused, changes nothing and reveals nothing."""
    refused, body, headers = ask(served)

    assert refused == status
    assert served.token.encode() not in body
    assert b"metres" not in body
    assert headers["Cache-Control"] == "no-store"
    assert served.grades == []


def test_every_answer_forbids_scripts_from_elsewhere(served: Site) -> None:
    """The headers allow our script only, and forbid caching and referrers."""
    _, page, headers = served.ask(f"/{served.token}/")

    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert b"<script src=" in page
    assert b" onclick=" not in page
    assert b" style=" not in page


def test_the_link_works_without_its_last_slash(served: Site) -> None:
    """A link that lost its slash on the way leads to the page."""
    status, _, headers = served.ask(f"/{served.token}")

    assert (status, headers["Location"]) == (307, f"/{served.token}/")


def test_the_page_is_blind(served: Site) -> None:
    """The page gets question, reference, evidence and answer, and no variant."""
    now = served.now()

    sent = json.dumps(now)
    assert set(now["item"]) == {
        *("ticket", "disputed", "edited"),
        *("question", "reference", "answerable", "evidence", "answer"),
    }
    assert "k4" not in sent
    assert "proposal" not in now["item"]
    assert (now["total"], now["done"], now["last"]) == (4, 0, None)


def test_ten_keys(served: Site) -> None:
    """Grades, a skip and an undo: each reply has the next item, and the file has the grades."""
    done: dict[str, int | None] = {}
    for value in (1, 0, None):
        item = served.now()["item"]
        status, now = served.act("grade", {"ticket": item["ticket"], "grade": value, "note": None})
        assert status == 200
        done[item["answer"]] = value
    assert [grade.grade for grade in served.grades] == [1, 0, None]
    assert (now["done"], now["left"]) == (3, 1)

    _, now = served.act("undo", {})
    assert [grade.grade for grade in served.grades] == [1, 0]
    assert now["item"]["answer"] in done
    served.act("skip", {"ticket": now["item"]["ticket"]})
    _, now = served.act("undo", {})
    assert now["item"]["answer"] in done


def test_the_proposal_comes_after_the_grade(served: Site) -> None:
    """The proposal of `answer_match` is sent after the grade only, so that it has no influence."""
    expected = {"It is 27 metres tall.": 1, "In 1913.": 0, "In 1931.": 1, "A man called Li.": 0}
    for _ in range(4):
        item = served.now()["item"]
        _, now = served.act("grade", {"ticket": item["ticket"], "grade": 1, "note": None})
        assert now["last"] == {"grade": 1, "proposal": expected[item["answer"]]}
    assert now["item"] is None
    assert served.act("skip", {"ticket": "x"})[0] == 404


@pytest.mark.parametrize(
    "sent",
    [
        {"grade": 2}, {"grade": True}, {"grade": "1"}, {}, {"grade": 1, "note": 5},
        {"grade": 1, "note": "x" * 20_001}, {"grade": [1]}, {"grade": 0.5},
    ],
)  # fmt: skip
def test_a_grade_is_one_of_three(served: Site, sent: dict[str, object]) -> None:
    """Anything but 1, 0 and null, or a note that is no text, is refused."""
    ticket = served.now()["item"]["ticket"]

    assert served.act("grade", {"ticket": ticket, **sent})[0] == 400
    assert served.grades == []


def test_a_note_is_kept_without_what_would_act(served: Site) -> None:
    """Controls and halves of characters in a note are replaced; its words and lines stay."""
    ticket = served.now()["item"]["ticket"]

    served.act("grade", {"ticket": ticket, "grade": 1, "note": " =1\n<b>\x00\ud800 塔 "})

    assert [grade.note for grade in served.grades] == ["=1\n<b>\ufffd\ufffd 塔"]


def test_pictures(served: Site) -> None:
    """The evidence's page and a caption's figure come as PNG, by names that are no paths."""
    names = set()
    while (item := served.now()["item"]) is not None:
        names |= {place["picture"] for place in item["evidence"]}
        served.act("grade", {"ticket": item["ticket"], "grade": 1})
    figure = served.now("captions")["item"]["picture"]

    assert names == {"0"}
    for path in ("answers/picture/0.png", f"captions/picture/{figure}.png"):
        status, body, headers = served.ask(f"/{served.token}/{path}")
        assert (status, headers["Content-Type"]) == (200, "image/png")
        assert body.startswith(b"\x89PNG")


def test_captions_are_graded_on_the_same_page(served: Site) -> None:
    """A caption's grade is kept in its own file, by picture and text."""
    item = served.now("captions")["item"]

    status, now = served.act("grade", {"ticket": item["ticket"], "grade": 0}, "captions")

    (kept,) = Gradebook(served.small.testset / "caption_grades.jsonl", CaptionGrade).read()
    assert (status, now["item"]) == (200, None)
    assert (kept.image_sha256, kept.grade, kept.grader) == ("ab" * 32, 0, "ann")
