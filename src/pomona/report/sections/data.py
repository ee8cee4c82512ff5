"""What are the data, and what is odd about them?"""

from __future__ import annotations

from typing import Any

from pomona.experiments.findings import Findings
from pomona.report.digits import significant
from pomona.report.section import Html, Numbers, Parts, Section
from pomona.report.table import Table, make_table, number, text

_AUDIT = """
{% if warnings %}
<h3>What the audit found</h3>
<ul class="audit">
{% for warning in warnings %}
<li><strong>{{ warning.dataset }}, {{ warning.check }}:</strong> {{ warning.text }}</li>
{% endfor %}
</ul>
{% else %}
<p>The audit found nothing odd.</p>
{% endif %}
"""


class DataSection(Section):
    """The dataset table, and what the audit found."""

    name = "data"
    title = "The data"
    order = 100

    def overall(self, findings: Findings) -> Parts:
        yield Numbers(data_table(findings))
        yield Html(_AUDIT, warnings=findings.results.warnings.to_dicts())


def data_table(findings: Findings) -> Table:
    """The datasets: how many queries, documents, features, what labels."""
    datasets = findings.results.datasets
    names = [name for name in datasets.columns if name not in ("dataset", "digest")]
    columns = [text("Dataset", "dataset"), *(number(name.replace("_", " "), name, _fact) for name in names)]
    return make_table("datasets", "The data", columns, datasets.to_dicts())


def _fact(value: Any) -> str:
    """Counts as they are, other numbers with three digits."""
    return significant(value) if isinstance(value, float) and value != int(value) else f"{value:.0f}"
