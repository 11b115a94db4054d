"""Who has a call on its way: so that two processes do not ask the same at once."""

import os
import platform
import uuid

LEASE_SECONDS = 20.0
"""How long a call counts as on its way after its process last said so."""


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
