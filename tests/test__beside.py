import os
import subprocess
import sys

import pytest

from pomona._beside import COMPILING

_BEGIN = """
import time
from pomona._beside import compile_beside, is_kept
from pomona._jit import types
from pomona.measures.lists import _count_true
kinds = *(types.int64,) * 2, types.int32[::1], types.int64[::1], types.boolean[::1], types.float64[::1]
"""


def run(code, cache, **environment):
    environment = {**os.environ, "POMONA_CACHE": str(cache), "POMONA_THREADS": "2", **environment}
    ran = subprocess.run(
        [sys.executable, "-c", _BEGIN + code], env=environment, check=True, capture_output=True, text=True
    )
    return ran.stdout, ran.stderr


def test_a_kernel_is_compiled_by_another_process_and_said_once(tmp_path):
    wait = """
compile_beside(_count_true, *kinds)
compile_beside(_count_true, *kinds)
while not is_kept(_count_true):
    time.sleep(0.1)
print(len(_count_true.overloads), end=" ")
_count_true.compile(kinds)
print(sum(_count_true.stats.cache_hits.values()))
"""
    assert run(wait, tmp_path) == ("0 1\n", COMPILING + "\n")
    assert run(wait, tmp_path) == ("0 1\n", "")


def test_one_thread_compiles_for_itself_and_says_so(tmp_path):
    alone = "compile_beside(_count_true, *kinds); import threading; print(threading.active_count())"
    assert run(alone, tmp_path, POMONA_THREADS="1") == ("1\n", COMPILING + "\n")


def test_what_cannot_be_compiled_fails_only_where_it_is_needed(tmp_path):
    wrong = """
compile_beside(_count_true, types.unicode_type)
compile_beside(_count_true, *kinds)
import numpy as np
out = np.empty(1)
_count_true(0, 1, np.zeros(2, np.int32), np.array([0, 2]), np.ones(1, np.bool_), out)
print(out[0])
"""
    assert run(wrong, tmp_path)[0] == "2.0\n"


@pytest.mark.parametrize("level", ["WARNING", "ERROR"])
def test_what_is_said_can_be_silenced(tmp_path, level):
    quiet = f"import logging; logging.getLogger('pomona').setLevel('{level}'); compile_beside(_count_true)"
    assert run(quiet, tmp_path, POMONA_THREADS="1")[1] == (COMPILING + "\n" if level == "WARNING" else "")


def test_what_is_announced_is_compiled_while_another_process_compiles(tmp_path):
    wait = """
import fcntl, threading
from pomona.measures.lists import _find_blocks
compile_beside(_count_true, *kinds)
holder = _find_blocks.lock.open("w")  # another description of the file, as that of another process
fcntl.flock(holder, fcntl.LOCK_EX)
def let_go():
    while not _count_true.overloads:
        time.sleep(0.1)
    holder.close()
threading.Thread(target=let_go).start()
ends = types.int64[::1]
codes, tied = types.int32[::1], types.boolean[::1]
_find_blocks.compile((types.int64, types.int64, types.float64[::1], ends, codes, ends, tied, ends))
print(len(_count_true.overloads), len(_find_blocks.overloads))
"""
    assert run(wait, tmp_path, POMONA_THREADS="1")[0] == "1 1\n"
