import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness.errors import InputError, RunError
from harness.llm import Calls
from harness.records import Passage
from harness.systems import Bench
from harness.systems.index import VectorIndex, open_index, retriever
from tests.fakes import CountingEmbedder, passages, vector

LIGHTHOUSE = passages(
    "射程18浬", "塔高27公尺", "1931年啟用", "青嶼燈塔", "霧日最多為四月", "休館日"
)


def found(
    index: VectorIndex, embedder: CountingEmbedder, query: str, k: int, bench: Bench
) -> list[str]:
    documents = retriever(index, embedder, bench.calls, k).invoke(query)
    return [document.page_content for document in documents]


@pytest.mark.parametrize(("k", "returned"), [(1, 1), (4, 4), (6, 6), (9, 6)])
def test_top_k_reaches_the_retriever(
    k: int, returned: int, embedder: CountingEmbedder, bench: Bench
) -> None:
    """k passages come back, or all where there are fewer."""
    index = open_index(LIGHTHOUSE, embedder, bench)

    assert len(found(index, embedder, "射程多少", k, bench)) == returned


def test_the_nearest_comes_first(embedder: CountingEmbedder, bench: Bench) -> None:
    """The passage that shares the question's characters is found, with falling similarities."""
    index = open_index(LIGHTHOUSE, embedder, bench)
    best = retriever(index, embedder, bench.calls, 6).invoke("射程18浬？")

    similarities = [document.metadata["passage"].similarity for document in best]

    assert best[0].page_content == "射程18浬"
    assert similarities == sorted(similarities, reverse=True)
    assert similarities[0] > similarities[-1]


def test_building_twice_adds_nothing(embedder: CountingEmbedder, bench: Bench) -> None:
    """A second collection of the same passages finds the first one's index."""
    first = open_index(LIGHTHOUSE, embedder, bench)
    second = open_index(LIGHTHOUSE, embedder, bench)

    assert first.fingerprint == second.fingerprint
    assert len(second.store.get()["ids"]) == 6
    assert found(first, embedder, "塔", 2, bench) == found(second, embedder, "塔", 2, bench)


def test_equal_scores_are_ranked_by_id(embedder: CountingEmbedder, tmp_path: Path) -> None:
    """Passages with one vector come in the order of their ids, however they were built."""
    texts = [
        *passages("ab", "ba"),
        Passage("d#2.1", "d", 2, "text", "baab"),
        Passage("d#1.9", "d", 1, "text", "aabb"),
    ]
    orders = []
    for number, order in enumerate(([0, 1, 2, 3], [3, 2, 1, 0])):
        calls = Calls(None)
        bench = Bench(calls, tmp_path / str(number))
        index = open_index([texts[i] for i in order], embedder, bench)
        orders.append([p.id for p in index.nearest(np.array(vector_of("ab")), 4)])

    assert orders[0] == orders[1] == ["d#1.1", "d#1.2", "d#1.9", "d#2.1"]


def vector_of(text: str) -> np.ndarray:
    return vector(text).astype(float)


def test_another_embedder_is_another_index(bench: Bench) -> None:
    """A query can never be held against vectors of another model."""
    one = open_index(LIGHTHOUSE, CountingEmbedder("one"), bench)
    two = open_index(LIGHTHOUSE, CountingEmbedder("two"), bench)

    assert one.fingerprint != two.fingerprint


def test_a_corrected_text_is_another_index(embedder: CountingEmbedder, bench: Bench) -> None:
    """What is stored is the corpus as it is now, though the id is the same."""
    old = passages("旧", "x")
    open_index(old, embedder, bench)
    corrected = [replace(old[0], text="新"), old[1]]

    index = open_index(corrected, embedder, bench)

    assert sorted(index.store.get()["documents"]) == ["x", "新"]


def test_indices_do_not_mix(embedder: CountingEmbedder, bench: Bench) -> None:
    """An index of text never returns captions that another variant has put in its own."""
    text = open_index(LIGHTHOUSE, embedder, bench)
    caption = Passage("d#1.f1", "d", 1, "caption", "射程18浬的圖")
    captions = open_index([*LIGHTHOUSE, caption], embedder, bench)

    assert "射程18浬的圖" in found(captions, embedder, "射程18浬的圖", 9, bench)
    assert "射程18浬的圖" not in found(text, embedder, "射程18浬的圖", 9, bench)


def test_a_build_that_was_killed_is_made_whole(embedder: CountingEmbedder, bench: Bench) -> None:
    """Half an index is noticed and built again before the first question."""
    index = open_index(LIGHTHOUSE, embedder, bench)
    index.store.delete(["d#1.3", "d#1.4"])

    again = open_index(LIGHTHOUSE, embedder, bench)

    assert len(again.passages) == 6
    assert sorted(again.store.get()["ids"]) == sorted(p.id for p in LIGHTHOUSE)


def test_a_store_that_holds_other_texts_is_refused(
    embedder: CountingEmbedder, bench: Bench
) -> None:
    """Ids that agree while texts do not are an error that names the remedy."""
    index = open_index(LIGHTHOUSE, embedder, bench)
    index.store._collection.update(["d#1.1"], documents=["別的文字"], embeddings=[vector("x")])

    with pytest.raises(RunError, match=r"delete \.cache/chroma under root="):
        open_index(LIGHTHOUSE, embedder, bench)


@pytest.mark.slow
@pytest.mark.parametrize("size", [5_000, 20_000])
def test_an_index_that_was_cut_off_is_deleted(
    embedder: CountingEmbedder, bench: Bench, size: int
) -> None:
    """One error gives the command that makes it work again."""
    program = (
        "import sys; from pathlib import Path; from harness.llm import Calls\n"
        "from harness.systems import Bench; from harness.systems.index import open_index\n"
        "from tests.fakes import CountingEmbedder, passages\n"
        "open_index(passages('a'), CountingEmbedder(), Bench(Calls(None), Path(sys.argv[1])))\n"
    )
    subprocess.run([sys.executable, "-c", program, str(bench.cache)], check=True)
    file = bench.cache / "chroma/chroma.sqlite3"
    file.write_bytes(file.read_bytes()[:size])

    with pytest.raises(RunError, match="rm -r ") as raised:
        open_index(LIGHTHOUSE, embedder, bench)
    assert str(raised.value).startswith(f"{bench.cache / 'chroma'} cannot be read (")
    assert "\n" not in str(raised.value)
    subprocess.run(f"rm -r {str(raised.value).partition('rm -r ')[2]}", shell=True, check=True)

    assert len(open_index(LIGHTHOUSE, embedder, bench).passages) == 6


def test_a_changed_vector_is_an_error(embedder: CountingEmbedder, bench: Bench) -> None:
    """Another vector under an unchanged text would change the ranking unnoticed."""
    index = open_index(LIGHTHOUSE, embedder, bench)
    text = index.passages[0].text
    index.store._collection.update(["d#1.1"], documents=[text], embeddings=[vector("x")])

    with pytest.raises(RunError, match=r"vectors of the index are damaged; delete .*: rm -r "):
        open_index(LIGHTHOUSE, embedder, bench)


def test_the_space_is_cosine(embedder: CountingEmbedder, bench: Bench) -> None:
    """The length of a vector does not count; the space in force is recorded."""
    index = open_index(passages("aab", "aabaab", "bbb"), embedder, bench)
    nearest = index.nearest(vector_of("aab"), 3)

    assert [p.similarity for p in nearest[:2]] == [1.0, 1.0]
    assert index.search == {"space": "cosine", "method": "exact"}
    assert index.store._collection.configuration_json["hnsw"]["space"] == "cosine"


def test_an_empty_corpus_is_refused(embedder: CountingEmbedder, bench: Bench) -> None:
    """No passage, no index: said before the first question."""
    with pytest.raises(InputError, match="the index would be empty"):
        open_index([], embedder, bench)


def test_beyond_the_exact_size_the_graph_is_ranked_alike(
    embedder: CountingEmbedder, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Above the size where all are compared, Chroma proposes and the same rule ranks."""
    exact = open_index(LIGHTHOUSE, embedder, bench).nearest(vector_of("射程"), 3)
    monkeypatch.setattr("harness.systems.index.EXACT_UP_TO", 3)

    index = open_index(LIGHTHOUSE, embedder, bench)

    assert index.search["method"] == "hnsw"
    assert [p.id for p in index.nearest(vector_of("射程"), 3)] == [p.id for p in exact]


@pytest.mark.slow
def test_fingerprints_do_not_depend_on_the_process(tmp_path: Path) -> None:
    """Python's salted hash() plays no part: three processes agree."""
    script = (
        "from harness.systems.index import fingerprint\n"
        "from harness.records import Passage\n"
        "from harness.llm import E5\n"
        "print(fingerprint([Passage('d#1.1', 'd', 1, 'text', '甲')], E5()))"
    )
    marks = {
        subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed}, capture_output=True,
            text=True, check=True,
        ).stdout
        for seed in ("0", "1", "random")
    }  # fmt: skip

    assert len(marks) == 1
