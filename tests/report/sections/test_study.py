from experiments.small_study import curves, noises, sizes
from pomona.report.comparison import comparison_report
from pomona.report.section import Figure, Numbers
from pomona.report.sections.study import StudySection, by_dataset, by_series, enough_table, study_table
from report.drawn import panels_of, spec_of


def parts_of(findings):
    section = StudySection()
    return [*section.overall(findings), *section.of_dataset(findings, "toy")]


def test_measures_against_the_size_of_the_training_data():
    findings = sizes()
    spec, (rows, *_) = spec_of(by_series(findings.study, "toy", "mean"))
    assert panels_of(rows, "title") == ["NDCG@5", "AP"]
    assert spec["spec"]["layer"][0]["encoding"]["x"]["scale"]["type"] == "log"
    assert {row["series"] for row in rows} == {"MART", "Linear"}
    assert by_dataset(findings, "train_fraction") is None  # there is but one
    both = findings.study.vstack(findings.study.with_columns(dataset=findings.study["dataset"] + " 2"))
    findings = type(findings)(findings.results, tables={**findings.tables, "study": both})
    _, (rows, *_) = spec_of(by_dataset(findings, "train_fraction"))
    assert panels_of(rows, "method") == ["MART", "Linear"]
    assert {row["series"] for row in rows} == {"toy", "toy 2"}


def test_the_tables():
    findings = sizes()
    table = study_table(findings.study, "toy")
    assert len(table.rows) == 3 * 2 * 2
    assert [row.cells[-1].text for row in table.rows].count("complete data") == 4
    enough = enough_table(findings)
    assert len(enough.rows) == 4
    assert enough.rows[0].cells[6].value == findings.enough["whole"][0]


def test_noise_has_its_loss_and_its_pairs():
    findings = noises()
    names = [part.name for part in parts_of(findings) if isinstance(part, Figure)]
    assert names == ["study-label_noise-datasets", "study-label_noise", "study-loss-label_noise"]
    tables = {part.table.name: part.table for part in parts_of(findings) if isinstance(part, Numbers)}
    assert [row.cells[0].text for row in tables["study-noise"].rows] == ["0", "10", "50"]
    _, (rows, *_) = spec_of(by_series(findings.study, "toy", "loss"))
    main = [row for row in rows if row["measure"] == "ndcg@5"]
    assert main[0]["mean"] == 0
    assert all(row["low"] <= row["mean"] <= row["high"] for row in rows)


def test_it_stands_first_and_other_sections_have_one_panel():
    report = comparison_report(sizes())
    assert report.sections[0].section.name == "study"
    assert list(report.datasets) == ["toy"]
    assert "study" not in [one.section.name for one in comparison_report(curves()).sections]
