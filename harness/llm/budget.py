"""Limits on what a run spends on model calls: it stops cleanly and can be resumed."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.errors import BudgetError, ConfigError


@dataclass
class Price:
    """US dollars per million tokens."""

    input: float = 0.0
    output: float = 0.0


@dataclass(frozen=True, slots=True)
class Spent:
    """What has been spent so far."""

    calls: int
    tokens: Mapping[str, tuple[int, int]]
    """Model -> tokens of prompts and of replies."""
    minutes: float

    def usd(self, prices: Mapping[str, Price]) -> float:
        """Return the cost; a model without a price costs nothing.

        >>> Spent(1, {"m": (1_000_000, 500_000)}, 0.0).usd({"m": Price(2.0, 8.0)})
        6.0
        """
        return sum(
            (read * prices[model].input + written * prices[model].output) / 1e6
            for model, (read, written) in self.tokens.items()
            if model in prices
        )


@dataclass
class Budget:
    """Limits on calls that are not cached; None is no limit.

    Requests already in flight when a limit is reached are still billed.
    """

    calls: int | None = None
    tokens: int | None = None
    """Of prompts and replies together."""
    usd: float | None = None
    minutes: float | None = None
    prices: dict[str, Price] = field(default_factory=dict)
    """Model -> price; needed where `usd` is set."""

    def check(self, spent: Spent, model: str, counted: bool = True) -> None:
        """Raise BudgetError where nothing is left for one more call to `model`.

        Raises ConfigError where money is limited and the model has no price, and where tokens or
        money are limited and its server does not report them (`counted`).
        """
        for name in ("tokens", "usd"):
            if getattr(self, name) is not None and not counted:
                raise ConfigError(
                    f"budget.{name}: the server of {model} reports no token counts, so this limit"
                    " cannot be kept; the answers so far are cached; set budget.calls or"
                    " budget.minutes instead"
                )
        if self.usd is not None and model not in self.prices:
            raise ConfigError(
                f"budget.usd={self.usd:g}, but no price is known for {model};"
                " add it to conf/prices.yaml, in dollars per million tokens"
            )
        tokens = sum(read + written for read, written in spent.tokens.values())
        limits = {
            "calls": (self.calls, spent.calls),
            "tokens": (self.tokens, tokens),
            "usd": (self.usd, spent.usd(self.prices)),
            "minutes": (self.minutes, spent.minutes),
        }
        for name, (limit, used) in limits.items():
            if limit is not None and used >= limit:
                raise BudgetError(
                    f"budget.{name}={limit:g} is spent; raise it and run the same command to"
                    " resume: cached answers are not requested again"
                )
