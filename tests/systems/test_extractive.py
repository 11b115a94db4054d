import pytest

from harness.llm import Embedder
from harness.records import Answer, Passage, Query
from harness.systems import Bench, Extractive
from harness.systems.extractive import question_coverage
from harness.text import quotable_sentences
from tests.fakes import CountingEmbedder, passages


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("塔高27公尺。1931年啟用！真的？是", ["塔高27公尺。", "1931年啟用！", "真的？", "是"]),
        ("It rose to 1.05 in April. Then it fell.", ["It rose to 1.05 in April.", "Then it fell."]),
        ("標題\n四月：12", ["標題", "四月：12"]),
        ("", []),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    """Nothing is lost, and a point inside a number ends no sentence."""
    assert quotable_sentences(text) == sentences


def test_overlap_is_the_share_of_the_questions_bigrams() -> None:
    """四月霧日 has the bigrams 四月, 月霧, 霧日; the sentence holds 霧日 and 四月: two of three."""
    assert question_coverage("四月霧日", "霧日最多為四月") == pytest.approx(2 / 3)
    assert question_coverage("？", "霧日") == 0.0


def test_width_and_case_do_not_count() -> None:
    """Full-width letters are letters."""
    assert question_coverage("ＧＤＰ", "gdp") == question_coverage("gdp", "ＧＤＰ") == 1.0
    assert question_coverage("gdp", "gd") == 0.5


def answer(
    reader: Extractive, question: str, given: list[Passage], embedder: Embedder, bench: Bench
) -> str:
    query = Query("q1", question)
    return reader.generate(query, Answer("", tuple(given)), embedder, bench.calls).text


def test_the_best_sentence_is_quoted(embedder: CountingEmbedder, bench: Bench) -> None:
    """The answer is a sentence of the passages, word for word."""
    reader = Extractive(threshold=0.3, language="zh_hant")
    given = passages("燈塔在青嶼。射程18浬。", "塔高27公尺。")

    assert answer(reader, "射程多少浬？", given, embedder, bench) == "射程18浬。"


def test_nothing_near_is_a_refusal(embedder: CountingEmbedder, bench: Bench) -> None:
    """Below the threshold, and without passages, it says that the documents do not say."""
    reader = Extractive(threshold=0.99, language="en")

    for given in (passages("abc."), []):
        assert answer(reader, "xyz?", given, embedder, bench) == "The documents do not say."


def test_it_answers_alike_from_the_cache(embedder: CountingEmbedder, bench: Bench) -> None:
    """The second answer uses cached vectors and is the same."""
    reader = Extractive(threshold=0.0)
    given = passages("one two.", "two three.")
    first = answer(reader, "two three?", given, embedder, bench)

    assert answer(reader, "two three?", given, embedder, bench) == first
