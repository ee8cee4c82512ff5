"""scikit-learn without what few of its functions use, and all the same complete."""

import ast
import subprocess
import sys
from pathlib import Path

import pomona

CHECKS = """
import sys
import numpy as np
from pomona._sklearn import clone
from pomona.rankers.forests.lambdamart import LambdaMART

clone(LambdaMART())
assert not {"scipy.stats", "scipy.special", "pandas", "narwhals"} & set(sys.modules), "loaded"
import sklearn.utils.fixes as fixes
assert fixes._mode(np.array([1, 2, 2]))[0].tolist() == [2.0]
import scipy.stats
from scipy.stats import rankdata
assert scipy.stats is sys.modules["scipy.stats"] and rankdata([3, 1]).tolist() == [2, 1]
import pandas
assert fixes.pd is None or fixes.pd.DataFrame is pandas.DataFrame
assert pandas.DataFrame({"a": [1]}).a[0] == 1
from sklearn.utils._array_api import _expit
assert _expit(np.zeros(1)).tolist() == [0.5]
import polars
from sklearn.utils.validation import check_array
assert check_array(polars.DataFrame({"a": [1.0], "b": [2.0]})).tolist() == [[1.0, 2.0]]
assert check_array(pandas.DataFrame({"a": [1.0], "b": [2.0]})).tolist() == [[1.0, 2.0]]
"""


def test_what_few_functions_use_is_loaded_by_them():
    subprocess.run([sys.executable, "-c", CHECKS], check=True)


def test_scikit_learn_has_one_home():
    root = Path(pomona.__file__).parent
    for path in root.rglob("*.py"):
        if path.name == "_sklearn.py" or path.parent.name == "testing":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not [name for name in names if name.partition(".")[0] == "sklearn"], path
