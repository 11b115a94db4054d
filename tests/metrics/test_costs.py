"""Costs: measured, never judged, and never guessed."""

from harness.metrics import METRICS, MetricValue
from harness.metrics.evidence import Evidence
from harness.records import Status


def test_costs_are_what_was_measured() -> None:
    """Each cost is its own number; seconds add up retrieval and generation."""
    known = Evidence(
        retrieval_seconds=0.25,
        generation_seconds=1.5,
        input_tokens=900.0,
        output_tokens=40.0,
        passages_returned=6.0,
    )

    values = {name: METRICS[name].score(known) for name in METRICS if name.endswith("seconds")}
    assert values == {
        "retrieval_seconds": MetricValue(0.25),
        "generation_seconds": MetricValue(1.5),
        "seconds": MetricValue(1.75),
    }
    assert METRICS["input_tokens"].score(known) == MetricValue(900.0)
    assert METRICS["output_tokens"].score(known) == MetricValue(40.0)
    assert METRICS["passages_returned"].score(known) == MetricValue(6.0)


def test_half_a_time_is_no_time() -> None:
    """Where one part was not measured there is no total."""
    known = Evidence(generation_seconds=1.5, missing={"retrieval_seconds": Status.NOT_MEASURED})

    assert METRICS["seconds"].score(known) == MetricValue(None, None, Status.NOT_MEASURED)


def test_less_is_better_but_for_passages() -> None:
    """Nobody can say whether more passages are better."""
    assert METRICS["seconds"].higher_is_better is False
    assert METRICS["passages_returned"].higher_is_better is None
