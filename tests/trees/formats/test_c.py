import ctypes
import shutil
import subprocess

import numpy as np
import pytest

from pomona.trees.formats.c import C


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_the_compiled_function_gives_the_same_scores(forest, names, rows, tmp_path):
    (tmp_path / "m.c").write_text(C().write(forest, names))
    flags = ["-std=c99", "-Wall", "-Werror", "-pedantic", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, "-o", tmp_path / "m.so", tmp_path / "m.c"], check=True)
    score = ctypes.CDLL(str(tmp_path / "m.so")).pomona_score
    score.restype = ctypes.c_double
    found = np.array([score(x.ctypes.data_as(ctypes.c_void_p)) for x in rows])
    assert np.array_equal(found, forest.score(rows))
