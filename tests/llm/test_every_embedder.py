"""What holds for every embedder in the table, whoever adds it."""

import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pytest
from omegaconf import OmegaConf

from harness.llm import EMBEDDERS, Calls, Embedder, Role
from tests.stub_endpoint import StubEndpoint

TEXTS = ["燈塔高27公尺", "The lighthouse is 27 metres high.", "燈塔高27公尺", "霧日最多為四月", ""]


@pytest.fixture(
    params=[
        pytest.param(kind, id=name, marks=[pytest.mark.slow] if name == "e5" else [])
        for name, kind in EMBEDDERS.items()
    ]
)
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    """Each embedder, configured as Hydra does, with a stub where it needs a server."""
    with StubEndpoint() as stub:
        places = {"base_url": stub.base_url, "model": "multilingual-e5-base"}
        names = {field.name for field in fields(request.param)}
        given = {name: value for name, value in places.items() if name in names}
        made = OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(request.param), given))
        assert isinstance(made, Embedder)
        yield made


def test_it_is_a_dataclass(embedder: Embedder) -> None:
    """Its fields are its configuration, and all of them can be set."""
    assert is_dataclass(embedder)
    assert all(field.init for field in fields(embedder))


def test_a_row_a_text(embedder: Embedder, calls: Calls) -> None:
    """Every text has a finite vector of one size, and equal texts have equal ones."""
    vectors = embedder.embed(TEXTS, Role.PASSAGE, calls)

    assert vectors.shape[0] == len(TEXTS)
    assert vectors.dtype == np.float64
    assert np.isfinite(vectors).all()
    np.testing.assert_array_equal(vectors[0], vectors[2])


def test_remembered_to_the_bit(embedder: Embedder, calls: Calls) -> None:
    """A vector from the cache equals the one that was computed."""
    first = embedder.embed(TEXTS, Role.QUERY, calls)
    before = calls.remembered
    second = embedder.embed(TEXTS, Role.QUERY, calls)

    np.testing.assert_array_equal(first, second)
    assert calls.remembered - before == len(set(TEXTS))


def test_other_texts_change_nothing(embedder: Embedder, tmp_path: Path) -> None:
    """A text's vector does not depend on the texts beside it or on their order."""
    forward = embedder.embed(TEXTS, Role.PASSAGE, Calls(tmp_path / "a"))
    backward = embedder.embed(TEXTS[::-1], Role.PASSAGE, Calls(tmp_path / "b"))

    np.testing.assert_array_equal(forward, backward[::-1])


def test_roles_have_different_vectors(embedder: Embedder, calls: Calls) -> None:
    """A question and a passage with the same words have different vectors."""
    query = embedder.embed(TEXTS[:1], Role.QUERY, calls)
    passage = embedder.embed(TEXTS[:1], Role.PASSAGE, calls)

    assert not np.array_equal(query, passage)


def test_nothing_to_embed(embedder: Embedder, calls: Calls) -> None:
    """No texts give no rows."""
    assert embedder.embed([], Role.QUERY, calls).shape[0] == 0


def test_identity_is_json(embedder: Embedder) -> None:
    """The identity is plain JSON."""
    assert json.loads(json.dumps(embedder.identity())) == embedder.identity()


def test_label_is_short(embedder: Embedder) -> None:
    """The name in tables is one word."""
    assert embedder.label
    assert " " not in embedder.label
