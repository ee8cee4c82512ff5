import json
import re
import shutil

import pytest
import typer
from typer.testing import CliRunner

from experiments.small_study import done, spec_with
from pomona.cli.report import report
from pomona.errors import InputError, UnknownNameError

app = typer.Typer()
app.command()(report)


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report") / "comparison"
    done(spec_with((), {"ranker": "mart", "n_trees": 5}, {"ranker": "linearregression"}), folder)
    return folder


def sections(folder):
    return re.findall(r'<section id="([^"]*)"', (folder / "report.html").read_text(encoding="utf-8"))


def test_all_of_it_anew(directory):
    result = run(directory)
    assert result.stdout == f"report: {directory / 'report.html'}\n"
    assert sections(directory)[:2] == ["headline", "results"]
    assert {"slices", "importance", "models"} <= set(sections(directory))
    page = (directory / "report.html").read_text(encoding="utf-8")
    links = re.findall(r'href="(models/[^"]*)"', page)
    assert len(links) == 1 + 2 * 2  # the index, and a model a run
    assert all((directory / link).is_file() for link in links)


def test_some_sections(directory):
    found = json.loads(run(directory, "--only", "results,headline", "--only", "models", "--json").stdout)
    place = directory / "report-only"
    assert found["report"] == str(place / "report.html")
    assert found["sections"] == sections(place) == ["headline", "results", "models"]
    assert len(sections(directory)) > 3  # the full report stays
    links = re.findall(r'href="([^"]*models/[^"]*)"', (place / "report.html").read_text(encoding="utf-8"))
    assert len(links) == 1 + 2 * 2
    assert all((place / link).is_file() for link in links)
    with pytest.raises(UnknownNameError, match=r"unknown section 'tables'.*known:.*headline, .*slices"):
        run(directory, "--only", "tables")


def test_slices_by_a_column(directory, tmp_path):
    lines = [f"{qid},{'de' if qid % 2 else 'fr'},{qid}" for qid in range(60)]
    (tmp_path / "queries.csv").write_text("\n".join(["qid,market,age", *lines]))
    run(directory, "--queries", tmp_path / "queries.csv", "--by", "market", "--only", "slices")
    page = directory / "report-only" / "report.html"
    assert "relevant, by market." in page.read_text(encoding="utf-8")
    assert "market: de" in page.read_text(encoding="utf-8")
    run(directory, "--queries", tmp_path / "queries.csv", "--only", "slices")
    assert "by market, by age." in page.read_text(encoding="utf-8")


def test_what_is_refused(directory, tmp_path):
    (tmp_path / "queries.csv").write_text("qid,market\nnobody,de\n")
    with pytest.raises(InputError, match=r"has no query of .*comparison .*check its query ids"):
        run(directory, "--queries", tmp_path / "queries.csv")
    assert "--by needs --queries" in run(directory, "--by", "market").output
    with pytest.raises(InputError, match=r"is no comparison, it has no store.sqlite"):
        run(tmp_path)


def test_a_comparison_of_an_earlier_version_has_fewer_sections(directory, tmp_path):
    """Without the numbers of documents in its files there are no slices; all else stands."""
    import io

    import polars as pl

    from pomona.experiments.store import Store, _digest

    folder = tmp_path / "old"
    shutil.copytree(directory, folder, symlinks=True)
    with Store(folder) as store:
        for run_id, row in store.rows().items():
            path = store.path(run_id, "values")
            frame = pl.read_parquet(io.BytesIO(path.read_bytes())).drop("n_docs", "n_relevant")
            frame.write_parquet(path)
            digests = {**json.loads(row["digests"]), "values": _digest(path.read_bytes())}
            store._ask("UPDATE runs SET digests = ? WHERE run = ?", json.dumps(digests), run_id)
    run(folder)
    assert "slices" not in sections(folder)
    assert "models" in sections(folder)
