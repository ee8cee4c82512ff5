"""What the build adds: the README for PyPI, where links into the repository would lead nowhere."""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

_PICTURE = re.compile(r'<img src="(?!https:)[^>]*>\n*')
_LINK = re.compile(r"\[([^\]]+)\]\((?!https:|#)[^)]*\)")


def for_pypi(text: str) -> str:
    """The README without pictures, and with the text of links, that only the repository can show."""
    return _LINK.sub(r"\1", _PICTURE.sub("", text))


class ReadmeHook(MetadataHookInterface):
    """Sets the long description."""

    def update(self, metadata: dict) -> None:
        """Read the README."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": for_pypi(text)}
