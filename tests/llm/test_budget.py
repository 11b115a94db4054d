"""Limits on calls that are not cached."""

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.errors import BudgetError, ConfigError
from harness.llm import Budget, Calls, Completion, OpenAIChat, Price, Request
from harness.llm.budget import Spent
from tests.stub_endpoint import Reply, StubEndpoint

MakeChat = Callable[..., OpenAIChat]
MakeRequest = Callable[..., Request]


def test_run_ends_cleanly_and_is_resumed(
    tmp_path: Path, chat_at: MakeChat, ask: MakeRequest
) -> None:
    """With four calls to spend, four of ten are answered; the next run sends the other six."""
    requests = [ask(str(i)) for i in range(10)]
    with StubEndpoint() as stub:
        chat = chat_at(stub, concurrency=2)
        outcomes = chat.complete_all(requests, Calls(tmp_path, budget=Budget(calls=4)))
        assert sum(isinstance(outcome, Completion) for outcome in outcomes) == 4
        assert sum(isinstance(outcome, BudgetError) for outcome in outcomes) == 6
        assert len(stub.chats) == 4

        again = chat.complete_all(requests, Calls(tmp_path))

    assert all(isinstance(outcome, Completion) for outcome in again)
    assert len(stub.chats) == 10


def test_cached_calls_cost_nothing(tmp_path: Path, chat_at: MakeChat, ask: MakeRequest) -> None:
    """With a budget of zero, cached calls are answered."""
    with StubEndpoint() as stub:
        chat = chat_at(stub)
        chat.complete(ask("known"), Calls(tmp_path))
        spent = Calls(tmp_path, budget=Budget(calls=0))

        assert chat.complete(ask("known"), spent).text == "ok"
        with pytest.raises(BudgetError, match=r"budget\.calls=0 is spent; raise it and run"):
            chat.complete(ask("unknown"), spent)


def test_tokens_are_those_reported(calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> None:
    """Tokens of prompts and replies are those the endpoint reports, per model."""
    with StubEndpoint(Reply("ok", prompt_tokens=90, completion_tokens=10)) as stub:
        chat_at(stub).complete_all([ask("a"), ask("b"), ask("b")], calls)

    assert calls.tokens == {"stub": (180, 20)}


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        (Budget(calls=3), "calls=3 is spent"),
        (Budget(tokens=2000), "tokens=2000 is spent"),
        (Budget(usd=0.01, prices={"m": Price(input=2.0, output=16.0)}), "usd=0.01 is spent"),
        (Budget(minutes=1.5), "minutes=1.5 is spent"),
    ],
)
def test_each_limit_holds(budget: Budget, message: str) -> None:
    """3 calls, 2,000 tokens, 1,000 x $2/M + 500 x $16/M = $0.01, or 1.5 minutes: all reached."""
    before = Spent(calls=2, tokens={"m": (999, 499)}, minutes=1.4)
    after = Spent(calls=3, tokens={"m": (1000, 1000)}, minutes=1.5)

    budget.check(before, "m")
    with pytest.raises(BudgetError, match=message):
        budget.check(after, "m")


def test_money_needs_a_price() -> None:
    """A limit on money without the price of the model is an error."""
    with pytest.raises(ConfigError, match=r"no price is known for m; add it to conf/prices"):
        Budget(usd=1.0).check(Spent(0, {}, 0.0), "m")


@pytest.mark.parametrize("limit", [{"tokens": 5000}, {"usd": 1.0}])
def test_tokens_that_are_not_reported_cannot_be_limited(
    tmp_path: Path, chat_at: MakeChat, ask: MakeRequest, limit: dict[str, float]
) -> None:
    """A server that omits `usage` would never reach the limit: the first reply ends the run."""
    budget = Budget(prices={"stub": Price(1.0, 1.0)}, **limit)  # type: ignore[arg-type]
    reply = Reply(raw=b'{"choices": [{"message": {"content": "27 m"}}]}')
    with StubEndpoint(reply) as stub, pytest.raises(ConfigError, match="reports no token counts"):
        chat_at(stub, concurrency=1).complete_all(
            [ask(str(i)) for i in range(20)], Calls(tmp_path, budget=budget)
        )

    assert len(stub.chats) < 4
    assert Calls(tmp_path).size().calls["chat stub"] >= 1
