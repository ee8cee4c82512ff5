import os

import pytest

from pomona.errors import InputError
from pomona.report.file import MARK, new_report, own_folder, refuse_foreign, write_anew, write_new


def test_a_link_is_replaced_and_not_followed(tmp_path):
    outside, path = tmp_path / "outside.txt", tmp_path / "report.html"
    outside.write_text("kept")
    for there in (outside, tmp_path / "dangling", path):
        path.unlink(missing_ok=True)
        path.symlink_to(there)
        write_anew(path, "the page …")
        assert not path.is_symlink()
        assert path.read_text(encoding="utf-8") == "the page …"
    write_anew(path, b"again")
    assert path.read_bytes() == b"again"
    assert outside.read_text() == "kept"
    assert not (tmp_path / "dangling").exists()


def test_a_hard_link_is_replaced_too(tmp_path):
    outside, path = tmp_path / "outside.txt", tmp_path / "report.html"
    outside.write_text("kept")
    path.hardlink_to(outside)
    write_anew(path, "new")
    assert outside.read_text() == "kept"


def test_what_cannot_be_written_is_told_in_one_line(tmp_path):
    (tmp_path / "report.html").mkdir()
    with pytest.raises(InputError, match=r"report\.html: cannot be written: "):
        write_anew(tmp_path / "report.html", "page")


def test_folders(tmp_path):
    assert own_folder(tmp_path / "new" / "tables").is_dir()
    assert own_folder(tmp_path / "new" / "tables").is_dir()
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be made"):
        own_folder(tmp_path / "file" / "tables")


def files(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and path.name != MARK
    }


def write(folder, content, *names, **how):
    with new_report(folder, **how) as staging:
        for name in names:
            write_new(staging / name, content)


def test_a_new_report_takes_the_place_of_the_old_one_and_of_nothing_else(tmp_path):
    place = tmp_path / "new" / "report"
    write(place, "old", "report.html", "tables/a.csv", "tables/b.csv", "figures/a.svg")
    (place / "tables" / "mine.csv").write_text("mine")
    (place / "notes.txt").write_text("mine")
    write(place, "new", "report.html", "tables/b.csv", "tables/c.tex")
    mine = {"tables/mine.csv": "mine", "notes.txt": "mine"}
    assert files(place) == {"report.html": "new", "tables/b.csv": "new", "tables/c.tex": "new", **mine}
    assert not (place / "figures").exists()
    with pytest.raises(InputError, match=r"mine\.csv: is not of Pomona's making"):
        write(place, "newer", "report.html", "tables/mine.csv")
    assert files(place)["report.html"] == "new"


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt, OSError(28, "No space left on device"), InputError("x")]
)
def test_what_goes_wrong_leaves_the_old_report(tmp_path, error):
    write(tmp_path, "old", "report.html", "tables/a.csv")
    expected = InputError if isinstance(error, OSError) else error if isinstance(error, type) else type(error)

    def begin():
        with new_report(tmp_path) as staging:
            write_new(staging / "report.html", "new")
            raise error

    with pytest.raises(expected) as caught:
        begin()
    if isinstance(error, OSError):
        assert "No space left on device" in str(caught.value)
    assert files(tmp_path) == {"report.html": "old", "tables/a.csv": "old"}


@pytest.mark.parametrize("is_shared", [False, True])
@pytest.mark.parametrize("name", ["report.html", "tables/a.csv", "figures/b.svg"])
def test_what_a_stranger_wrote_stays(tmp_path, name, is_shared):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("a stranger's")
    with pytest.raises(InputError, match="of Pomona's"):
        write(tmp_path, "ours", "report.html", is_shared=is_shared)
    assert files(tmp_path) == {name: "a stranger's"}


def test_other_files_may_lie_beside_the_report_of_a_comparison_only(tmp_path):
    (tmp_path / "data.csv").write_text("data")
    (tmp_path / "tables").mkdir()
    with pytest.raises(InputError, match=r"holds other files \(data.csv, tables\) and no report of Pomona's"):
        refuse_foreign(tmp_path)
    write(tmp_path, "ours", "report.html", is_shared=True)
    assert files(tmp_path) == {"data.csv": "data", "report.html": "ours"}
    refuse_foreign(tmp_path)  # it has a mark now


@pytest.mark.parametrize("store", ["store.sqlite", "trials/store.sqlite"])
def test_the_report_of_a_comparison_is_replaced_by_its_own_only(tmp_path, store):
    (tmp_path / "trials").mkdir()
    (tmp_path / store).write_text("a store")
    write(tmp_path, "of the comparison", "report.html", is_shared=True)
    with pytest.raises(InputError, match="holds a comparison, whose report this would replace"):
        write(tmp_path, "of another", "report.html")
    assert files(tmp_path)["report.html"] == "of the comparison"
    write(tmp_path, "again", "report.html", is_shared=True)
    assert files(tmp_path)["report.html"] == "again"


@pytest.mark.parametrize("name", ["report.html", "tables", "figures", "tables/a.csv"])
def test_no_link_is_written_through_or_replaced(tmp_path, name):
    place, outside = tmp_path / "report", tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    write(place, "old", "report.html", "tables/a.csv", "figures/a.svg")
    if name in ("tables", "figures"):
        (place / name).rename(tmp_path / "moved")
    else:
        (place / name).unlink()
    (place / name).symlink_to(outside / "kept" if "." in name else outside)
    with pytest.raises(InputError, match=f"{name}: is a link"):
        write(place, "new", "report.html", "tables/a.csv", "figures/a.svg")
    assert files(outside) == {"kept": "kept"}
    assert (place / name).is_symlink()


def test_the_mark_names_files_of_a_report_only(tmp_path):
    """Whoever wrote it: no other file is ever removed."""
    place = tmp_path / "report"
    write(place, "old", "report.html")
    (tmp_path / "precious.csv").write_text("precious")
    (place / "precious.csv").write_text("precious")
    names = '["report.html", "../precious.csv", "precious.csv", "tables/../precious.csv", 3]'
    (place / MARK).write_text(f'{{"files": {names}}}')
    write(place, "new", "report.html")
    assert files(tmp_path) == {
        "precious.csv": "precious",
        "report/precious.csv": "precious",
        "report/report.html": "new",
    }


def test_what_a_killed_process_left_goes(tmp_path):
    dead, alive = (tmp_path / f".pomona-report-{process}-0123abcd" for process in (2**22 + 1, os.getpid()))
    for folder in (dead, alive, tmp_path / ".pomona-report-mine"):
        folder.mkdir()
    write(tmp_path, "new", "report.html")
    assert {path.name for path in tmp_path.iterdir()} == {
        MARK,
        "report.html",
        alive.name,
        ".pomona-report-mine",
    }


def test_a_report_of_an_earlier_version_is_known(tmp_path):
    (tmp_path / "report.html").write_text('<html><head><meta name="generator" content="Pomona">')
    with pytest.raises(InputError, match=r"earlier version: move report\.html, tables and figures away"):
        refuse_foreign(tmp_path, is_shared=True)
    (tmp_path / "report.html").write_text("<html>mine</html>")
    with pytest.raises(InputError, match="not of Pomona's making"):
        refuse_foreign(tmp_path, is_shared=True)
