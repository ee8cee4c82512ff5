import subprocess
import sys

CHECKS = """
import sys
import html
from pomona._when_used import when_used
with when_used("html", "colorsys", "xml", "xml.sax", "xml.sax.saxutils"):
    import colorsys as early, html as again
    assert again is html  # which was loaded before
    import xml.sax.saxutils as deep
    assert "xml.sax.handler" not in sys.modules
    early.rgb_to_hsv  # as another thread may
    import colorsys
assert colorsys is sys.modules["colorsys"] and early is not colorsys
assert early.rgb_to_hsv is colorsys.rgb_to_hsv
assert "xml" not in sys.modules
assert deep.escape("<") == "&lt;"
import xml.sax.saxutils
assert xml.sax.saxutils.escape is deep.escape
"""


def test_what_is_imported_is_loaded_by_its_first_use():
    subprocess.run([sys.executable, "-c", CHECKS], check=True)
