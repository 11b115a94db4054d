"""Calls a second of the dispatcher with its store, and of the bare client, in turns.

python -m tests.benchmarks.judge_calls http://127.0.0.1:.../v1
"""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from statistics import median

from harness.judge.chat_judge import schema
from harness.judge.checks import CheckKind
from harness.judge.contract import Job
from harness.judge.prompt import inputs, prompt
from harness.llm import Calls, OpenAIChat, Request

AT_ONCE = 16
ROUNDS, SIZE = 5, 200


def request(number: int) -> Request:
    """Return a request of the kind that evaluation sends most."""
    text = f"第{number}句說明沿岸的潮汐與霧日。" * 36
    job = Job(CheckKind.ENTAILMENT, text=text, items=(f"{number}號塔高20公尺。", "塔為白色。"))
    messages = prompt("zh_hant", job.kind).messages(inputs(job))
    return Request(messages, schema(job), max_tokens=1024)


async def bare(url: str, requests: Sequence[Request]) -> None:
    """Send the requests with the typed client of the openai package alone."""
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient

    client = AsyncOpenAI(
        api_key="none",
        base_url=url,
        max_retries=0,
        http_client=DefaultAsyncHttpxClient(trust_env=False),
    )
    waiting = iter(requests)

    async def work() -> None:
        for one in waiting:
            await client.chat.completions.create(
                model="stub",
                messages=[{"role": m.role, "content": m.content} for m in one.messages],  # type: ignore[misc]
                temperature=0.0,
                seed=0,
                max_tokens=one.max_tokens,
                response_format={
                    "type": "json_schema",
                    "json_schema": {"name": "answer", "schema": one.schema or {}, "strict": True},
                },
            )

    await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    await client.close()


def main() -> None:
    """Print the medians as JSON."""
    url = sys.argv[1]
    chat = OpenAIChat(base_url=url, model="stub", concurrency=AT_ONCE)
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder, closing(Calls(Path(folder))) as calls:
        for number in range(ROUNDS + 1):
            some = [request(number * SIZE + place) for place in range(SIZE)]
            started = time.perf_counter()
            chat.complete_all(some, calls)
            between = time.perf_counter()
            asyncio.run(bare(url, some))
            ours.append(SIZE / (between - started))
            theirs.append(SIZE / (time.perf_counter() - between))
    # The first round imports and connects.
    figures = {
        "calls_per_second_at_0ms": round(median(ours[1:]), 1),
        "bare_calls_per_second": round(median(theirs[1:]), 1),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
