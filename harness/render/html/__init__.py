"""The report as one page for a browser: no network, no script needed. Pure.

`html_page` takes the analysis, the study's facts and `Details`: the answers, what they rest
on and how the runs were made, which `harness.page` gathers from the run folders.
"""

from harness.render.html.details import Details, Made, Picture, Said
from harness.render.html.page import html_page

__all__ = ["Details", "Made", "Picture", "Said", "html_page"]
