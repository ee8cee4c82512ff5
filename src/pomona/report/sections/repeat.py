"""What is needed to repeat it?"""

from __future__ import annotations

from typing import Any

from pomona.experiments.findings import Findings
from pomona.report.digits import significant
from pomona.report.section import Html, Parts, Section

_FACTS = """
{% for title, code in (("Command", command), ("Spec", spec)) if code %}
<h3>{{ title }}</h3>
<div class="copied"><pre tabindex="0"><code>{{ code }}</code></pre></div>
{% endfor %}
<h3>Versions and machine</h3>
<dl>
{% for name, value in facts %}
<div><dt>{{ name }}</dt><dd>{{ value }}</dd></div>
{% endfor %}
</dl>
<h3>Checksums of the data</h3>
<dl>
{% for dataset, digest in digests %}
<div><dt>{{ dataset }}</dt><dd><code>{{ digest }}</code></dd></div>
{% endfor %}
</dl>
"""


class RepeatSection(Section):
    """Command, spec, versions and checksums."""

    name = "repeat"
    title = "To repeat it"
    order = 110

    def overall(self, findings: Findings) -> Parts:
        results = findings.results
        yield Html(
            _FACTS,
            command=results.facts.get("command") or "",
            spec=results.facts.get("spec") or results.spec.to_toml(),
            facts=[
                (name.replace("_", " "), _text(value))
                for name, value in results.facts.items()
                if name not in ("command", "spec") and value is not None
            ],
            digests=results.datasets.select("dataset", "digest").rows(),
        )


def _text(value: Any) -> str:
    if isinstance(value, float):
        return significant(value)
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
