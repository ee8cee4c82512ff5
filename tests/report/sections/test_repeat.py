from pomona.report.sections.repeat import RepeatSection
from report.invented import changed, invented


def said(facts):
    findings = invented(2, 5)
    (part,) = RepeatSection().overall(changed(findings, results=changed(findings.results, facts=facts)))
    return part.text


def test_facts_are_told_as_people_say_them():
    facts = {"total_seconds": 22.214356, "seeds": [0, 1], "dask": None, "spec": "x", "command": "pomona <x>"}
    text = said(facts)
    assert "<dt>total seconds</dt><dd>22.2</dd>" in text
    assert "<dt>seeds</dt><dd>0, 1</dd>" in text
    assert "<dt>dask</dt>" not in text
    assert "<h3>Command</h3>" in text
    assert "pomona &lt;x&gt;" in text
    assert "9f2c9f2c" in text


def test_without_a_command():
    text = said({})
    assert "<h3>Command</h3>" not in text
    assert "<h3>Spec</h3>" in text
