from __future__ import annotations

from pathlib import Path

import pytest

from pomona.data.query_sizes import QuerySizes
from pomona.errors import InputError


def test_queries_are_numbered_on_from_file_to_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("2\n1\n")
    (tmp_path / "b").write_text("\n3\r\n")
    sizes = QuerySizes.read([tmp_path / "a", tmp_path / "b"])
    assert sizes.queries_of(0, 6).tolist() == [1, 1, 2, 3, 3, 3]
    assert sizes.queries_of(2, 4).tolist() == [2, 3]
    sizes.check(1, Path("data"), 3)
    with pytest.raises(InputError, match=r"a: its queries have 3 rows, but data has 4"):
        sizes.check(0, Path("data"), 4)


@pytest.mark.parametrize("text", ["0", "-1", "x", "1.5", "1" * 19])
def test_what_is_no_size_is_refused_with_its_place(tmp_path: Path, text: str) -> None:
    (tmp_path / "a").write_text(f"2\n{text}\n")
    with pytest.raises(InputError, match=r"a:2:1: found .* expected the rows of a query"):
        QuerySizes.read([tmp_path / "a"])
