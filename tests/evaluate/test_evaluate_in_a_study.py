"""Settings that a study passes to its evaluation: the budget and `most_unread`."""

from collections.abc import Callable, Iterator

import pandas as pd
import pytest

from harness.store import Run
from tests.conftest import Command, Done, Study
from tests.stub_endpoint import Received, StubEndpoint
from tests.written import asked_of, honest

pytestmark = pytest.mark.slow

RUN = "text_k4-captioner-none-chat-extractive-index.chunk_size-40"


@pytest.fixture
def stub() -> Iterator[StubEndpoint]:
    def in_good_faith(received: Received) -> str:
        return honest(asked_of(received.messages))

    with StubEndpoint(in_good_faith) as running:
        yield running


@pytest.fixture
def run_study(command: Command, study: Study, stub: StubEndpoint) -> Callable[..., Done]:
    """Run a study of one variant with the stub as its judge."""

    def run(*words: str) -> Done:
        mine = [*study.words, "study.variants=[text_k4]", "chat=extractive", "captioner=none"]
        judge = ["judge=chat", f"judge.chat.base_url={stub.base_url}", "judge.chat.model=stub"]
        more = ["judge.chat.concurrency=1", "judge.chat.retries=0", "metrics=[faithfulness]"]
        return command("study", *mine, *judge, *more, *words)

    return run


RunStudy = Callable[..., Done]


def statuses(study: Study) -> list[str]:
    return list(pd.read_parquet(study.run(RUN) / "scores.parquet")["status"])


def test_budget(run_study: RunStudy, study: Study, stub: StubEndpoint) -> None:
    """A limit of the judge's calls is reported and can be raised; the report shows NA."""
    done = run_study("budget.calls=2")
    assert "budget spent: 3 of 3 cells are incomplete" in done.stdout

    assert done.returncode == 0, done.stderr
    assert len(stub.chats) == 2
    assert f"{RUN}: 0 of 3 cells scored (NA: 3 budget)" in done.stdout
    assert done.stdout.index("budget spent") < done.stdout.index("report:")

    run_study("budget.calls=4")
    assert len(stub.chats) == 6
    assert statuses(study) == ["ok"] * 3


def test_money_needs_a_price(run_study: RunStudy, stub: StubEndpoint) -> None:
    """A limit in USD needs a price; without one the study ends before any call."""
    refused = run_study("budget.usd=1")
    assert "no price is known for stub" in refused.stderr

    price = "+budget.prices={stub: {input: 1000.0, output: 0.0}}"
    done = run_study("budget.usd=1", price)
    assert done.returncode == 0, done.stderr
    assert " USD" in done.stdout


def test_known_price_is_changed(run_study: RunStudy) -> None:
    """The price of a listed model is overridden without a plus, as in evaluate."""
    assert run_study("budget.prices.gpt-4o.input=1.0").returncode == 0


def test_most_unread(run_study: RunStudy, study: Study, stub: StubEndpoint) -> None:
    """Unusable replies end the study before its report, unless `most_unread` allows them."""
    stub.script = "I cannot evaluate this"
    done = run_study()
    assert done.returncode == 1
    assert "no usable reply for 3 of 3 cells" in done.stderr
    assert "report:" not in done.stdout
    assert statuses(study) == ["judge_unparsable"] * 3

    assert run_study("most_unread=1").returncode == 0
    assert len(Run(study.run(RUN)).evaluations()) == 2


@pytest.mark.parametrize("share", ["2", "-0.1", "nan"])
def test_no_share(run_study: RunStudy, stub: StubEndpoint, share: str) -> None:
    """A share outside 0 to 1 is refused before anything is asked."""
    done = run_study(f"most_unread={share}")

    assert f"most_unread must be between 0 and 1 (got {share}" in done.stderr
    assert stub.chats == []


def test_a_window_too_small_for_the_judge(
    run_study: RunStudy, study: Study, stub: StubEndpoint
) -> None:
    """Prompts beyond the judge's context window end the study, with the sizes."""
    done = run_study("judge.chat.context=64")

    assert done.returncode == 1
    assert "no usable reply for 3 of 3 cells" in done.stderr
    assert "but the context window holds 64 (context=64)" in done.stderr
    assert stub.chats == []
    assert statuses(study) == ["context_overflow"] * 3
