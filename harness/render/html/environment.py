"""The templates, and what turns a text into what a page can hold."""

import base64
import hashlib
from functools import cache
from typing import TYPE_CHECKING, Any

from harness.render import quantities
from harness.render.plain import plain

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def environment() -> "Environment":
    """Return the templates; whatever is put into them is escaped, and no control character lives.

    A slot that the page does not fill is an error, never an empty place.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def harmless(value: Any) -> Any:
        text = isinstance(value, str) and not isinstance(value, Markup)
        return plain(value) if text else value

    templates = Environment(
        loader=PackageLoader("harness.render.html", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=harmless,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(
        {name: getattr(quantities, name) for name in ("mean", "signed", "quantity", "count")}
    )
    return templates


def source(name: str) -> str:
    """Return a file of ours as it is: the style or the script."""
    loader = environment().loader
    assert loader is not None
    return loader.get_source(environment(), name)[0]


def allowed(text: str) -> str:
    """Return the hash under which a browser lets this style or script act, and no other."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
