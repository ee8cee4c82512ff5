from subprocess import Popen

import pytest

from pomona.errors import InputError, PomonaError
from pomona.report.draw import draw_file, drawing, in_order
from pomona.report.encoding import for_file

POINT = for_file({"data": {"values": [{"a": 1}]}, "mark": "point", "encoding": {"x": {"field": "a"}}})


def test_charts_become_files_in_any_number_of_processes(tmp_path, monkeypatch):
    drawn = {}
    for threads in (1, 3):
        folder = tmp_path / str(threads)
        folder.mkdir()
        monkeypatch.setattr("pomona.report.draw.n_threads", lambda n=threads: n)
        with drawing(folder) as draw:
            for number in range(9):
                draw(f"chart-{number}", POINT)
        drawn[threads] = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert drawn[1] == drawn[3]
    assert sorted(drawn[1])[:2] == ["chart-0.pdf", "chart-0.svg"]
    assert len(drawn[1]) == 18


def written(text):
    return for_file({"data": {"values": [{"a": text}]}, "mark": "text", "encoding": {"text": {"field": "a"}}})


@pytest.mark.parametrize("odd", ["排序", "k ∈ K"])
def test_the_machines_fonts_are_asked_only_for_letters_that_the_converter_lacks(odd, tmp_path, monkeypatch):
    monkeypatch.setattr("pomona.report.draw.n_threads", lambda: 1)
    started = []
    monkeypatch.setattr(
        "subprocess.Popen",
        lambda *args, env, **more: started.append("FONTCONFIG_FILE" in env) or Popen(*args, env=env, **more),
    )
    with drawing(tmp_path) as draw:
        for stem, text in (("latin", "Modrý, Ω ± ▲ −1 · Ж “’”"), ("other", odd), ("more", odd)):
            draw(stem, written(text))
    assert sorted(started) == [False, True]
    assert odd in (tmp_path / "other.svg").read_text()
    assert b"LiberationSans" in (tmp_path / "latin.pdf").read_bytes(), "the font lies in the file"


def test_no_charts_are_no_files(tmp_path):
    with drawing(tmp_path):
        pass
    assert not list(tmp_path.iterdir())


def test_a_chart_that_cannot_be_drawn_is_an_error(tmp_path):
    with pytest.raises(PomonaError, match="could not be drawn"), drawing(tmp_path) as draw:
        draw("bad", '{"mark": 1}')


def test_an_error_meanwhile_ends_the_processes(tmp_path):
    with pytest.raises(TypeError), drawing(tmp_path) as draw:
        draw()


def test_resources_of_a_pdf_are_sorted():
    pdf = b"<<\n  /x2 7 0 R\n  /x1 9 0 R\n>>"
    assert in_order(pdf) == b"<<\n  /x1 9 0 R\n  /x2 7 0 R\n>>"


def test_one_chart_as_its_file_says(tmp_path):
    draw_file(tmp_path / "one.svg", POINT)
    assert (tmp_path / "one.svg").read_text().startswith("<svg")
    assert [path.name for path in tmp_path.iterdir()] == ["one.svg"]
    with pytest.raises(InputError, match=r"ends in '\.png', expected a figure's name in \.svg or \.pdf"):
        draw_file(tmp_path / "one.png", POINT)
