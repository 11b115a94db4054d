"""Who has a call on its way: so that two processes do not ask the same at once."""

import os
import platform
import time
import uuid
from collections.abc import Iterable, Sequence

from harness.llm.database import Database

TABLE = """
CREATE TABLE IF NOT EXISTS leases (
    key TEXT PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL
) WITHOUT ROWID;
"""

LEASE_SECONDS = 20.0
"""How long a call counts as on its way after its process last said so."""

_TAKE = """
INSERT INTO leases VALUES (?1, ?2, ?3) ON CONFLICT (key) DO UPDATE
SET owner = ?2, until = ?3 WHERE until < ?4 OR owner = ?2
"""


class Leases:
    """The calls that one holder has on their way, as others can see it in the call store.

    A lease ends with the answer, with its process, or where that cannot be seen, when it is not
    renewed. Without a store there is nobody to tell, and all is free.
    """

    def __init__(self, database: Database | None) -> None:
        self.owner = new_owner()
        self._database = database

    def take(self, keys: Sequence[str]) -> set[str]:
        """Take what nobody else has, all at once; return the keys of what is this holder's."""
        if self._database is None:
            return set(keys)
        now = time.time()
        self._database.write((_TAKE, [(key, self.owner, now + LEASE_SECONDS, now) for key in keys]))
        owners = dict(self._database.find("leases", "owner", keys))
        ended = {owner for owner in owners.values() if owner != self.owner and is_gone(owner)}
        if ended:
            sql = "DELETE FROM leases WHERE owner = ?"
            self._database.write((sql, [(owner,) for owner in ended]))
            return self.take(keys)
        return {key for key, owner in owners.items() if owner == self.owner}

    def renew(self) -> None:
        """Keep what is held from lapsing."""
        if self._database is not None:
            until = time.time() + LEASE_SECONDS
            sql = "UPDATE leases SET until = ? WHERE owner = ?"
            self._database.write((sql, [(until, self.owner)]))

    def release(self, keys: Iterable[str]) -> None:
        """Give up these calls."""
        rows = [(self.owner, key) for key in keys]
        if self._database is not None and rows:
            self._database.write(("DELETE FROM leases WHERE owner = ? AND key = ?", rows))

    def release_all(self) -> None:
        """Give up whatever is held."""
        if self._database is not None:
            self._database.write(("DELETE FROM leases WHERE owner = ?", [(self.owner,)]))


def new_owner() -> str:
    """Return a name for a holder of leases, which tells others the process it lives in."""
    return f"{platform.node()}/{os.getpid()}/{uuid.uuid4().hex}"


def is_gone(owner: str) -> bool:
    """Whether the owner's process is known to have ended: one of this machine, where seen."""
    machine, process, _ = owner.split("/")
    if os.name != "posix" or machine != platform.node():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return False
