"""Recording a study's generator, so that others replay it without the model."""

from datetime import UTC, datetime
from pathlib import Path

from harness.errors import ConfigError
from harness.llm import Calls
from harness.llm.recorded_chat import Recording, write_recording
from harness.store import chosen_runs

NOTHING = {
    "ignores_prompt": "makes no model calls, so there is nothing to record",
    "recorded": "is replayed from a recording already: pass that file on (variant.chat.file)",
}
"""Note of a generator -> why it cannot be recorded."""


def record_study(folder: Path, calls: Calls, path: Path) -> int:
    """Write what the store keeps of the study's generator to `path`; return how many replies.

    Raises:
        ConfigError: The runs have several generators, or none whose replies are remembered; or it
            is a recording itself, or makes no calls.
    """
    runs = chosen_runs(folder, [])
    facts = [run.facts() for run in runs]
    made = [fact["made_with"] for fact in facts]
    for note, why in NOTHING.items():
        if all(note in each["notes"] for each in made):
            raise ConfigError(f"{folder.name}: {made[0]['generator']} {why}")
    identities = {str(each["models"].get("chat")) for each in made}
    if len(identities) != 1:
        raise ConfigError(f"{folder.name} has {len(identities)} generators; record one at a time")
    model = made[0]["generator"]
    asked = {row.call for run in runs for row in run.responses() if row.call}
    replies = calls.entries(sorted(asked))
    if not replies or len(replies) < len(asked):
        raise ConfigError(
            f"{folder.name}: {len(replies)} of the {len(asked)} replies of {model} are remembered;"
            " collect again with again=true, so that all are"
        )
    last = max(entry.created for entry in replies)
    recording = Recording(
        model=model,
        identity=made[0]["models"]["chat"],
        recorded_on=datetime.fromtimestamp(last, UTC).date().isoformat(),
        made_with={"machine": facts[0]["machine"], "packages": facts[0]["packages"]},
    )
    write_recording(path, recording, [(entry.key, entry.payload) for entry in replies])
    return len(replies)
