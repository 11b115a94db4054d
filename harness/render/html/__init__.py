"""The report as one page for a browser: no network, no script needed. Pure.

`html_page` takes the analysis, the study's facts and `Details`: the answers, what they rest
on and how the runs were made, which the report stage gathers from the run folders.
"""

from harness.render.html.html_page import html_page
from harness.render.html.page_details import Details, RunRecord, ShownFigure
