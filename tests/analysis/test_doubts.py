from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.analysis import MetricFacts, StudyTable, analyse
from harness.analysis.findings.cautions import family
from harness.records import Layer

Builder = Callable[..., StudyTable]


def test_metrics_of_harm_are_worst_at_one(study: Builder) -> None:
    """Both of two claims hallucinated beside a right answer; neutral metrics have no worst."""
    harm = MetricFacts("hallucination", Layer.GENERATION, higher_is_better=False)
    refusal = MetricFacts("refusal", Layer.GENERATION, higher_is_better=None)
    table = study(right={"P": [1, 1]}, metrics={harm: {"P": [1.0, 0.0]}, refusal: {"P": [0, 1]}})
    table.scores.units[:] = 2

    [finding] = [f for f in analyse(table).findings if f.kind == "one_cell"]

    assert (finding.metric, finding.questions) == ("hallucination", ("q1",))


def test_a_judge_of_the_generator_s_family_is_named(article: StudyTable) -> None:
    """llama3.1 judging llama3.1."""
    found = [f for f in analyse(article).findings if f.kind == "judge_of_same_family"]

    assert len(found) == 6
    assert found[0].names == {"generator": "llama3.1", "judge": "llama3.1"}
    other = replace(article, runs=tuple(replace(run, judge="gpt-5") for run in article.runs))
    assert not [f for f in analyse(other).findings if f.kind == "judge_of_same_family"]


@pytest.mark.parametrize(
    ("model", "name"),
    [("Qwen/Qwen2.5-Coder-1.5B", "qwen"), ("gpt", "gpt"), ("gpt-4o-mini", "gpt"), ("o3", "o")],
)
def test_families_are_the_names_without_sizes(model: str, name: str) -> None:
    """Owner, version and tag are left off."""
    assert family(model) == name


def test_trusted_and_untested_metrics_are_named(article: StudyTable, study: Builder) -> None:
    """Each metric is trusted, not trusted, or not graded enough."""
    trusted = [f.metric for f in analyse(article).findings if f.kind == "metric_trusted"]
    assert trusted == ["faithfulness", "answer_relevancy"]

    faithfulness = MetricFacts("faithfulness", Layer.GENERATION)
    table = study(right={"P": [1, 0]}, metrics={faithfulness: {"P": [0.5, 0.1]}})
    [finding] = [f for f in analyse(table).findings if f.kind == "too_few_grades"]
    assert finding.numbers == {"right": 1, "wrong": 1, "questions": 2}
