from pomona.cli.output import print_json, print_table


def test_tables_are_aligned(capsys):
    print_table(["name", "value"], [["a", "1"], ["long name", "22.5"]])
    assert capsys.readouterr().out.splitlines() == [
        "name       value",
        "─────────  ─────",
        "a              1",
        "long name   22.5",
    ]


def test_json_keeps_letters(capsys):
    print_json({"é": 1})
    assert capsys.readouterr().out == '{\n  "é": 1\n}\n'
