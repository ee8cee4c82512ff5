"""The code of docs/extending.md, as it stands there."""

import re
import sys
from pathlib import Path
from types import ModuleType

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def run_blocks(module_name, containing="", replace=("", "")):
    """The blocks with this text, run one after the other, as a module of which pickle finds the classes."""
    module = sys.modules[module_name] = ModuleType(module_name)
    assert any(replace[0] in block for block in BLOCKS)
    for block in BLOCKS:
        if containing in block:
            exec(compile(block.replace(*replace) if replace[0] else block, str(PAGE), "exec"), vars(module))
    return module


_page = run_blocks("extending_classes", "class ")
Stepwise, FirstGood = _page.Stepwise, _page.FirstGood
