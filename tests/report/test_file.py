import pytest

from pomona.errors import InputError
from pomona.report.file import own_folder, write_anew


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
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "figures").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="figures: is a link, through which files would"):
        own_folder(tmp_path / "figures")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be made"):
        own_folder(tmp_path / "file" / "tables")
