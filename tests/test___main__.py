import subprocess
import sys


def test_the_module_is_the_command():
    found = subprocess.run([sys.executable, "-m", "pomona", "--version"], capture_output=True, text=True)
    assert (found.returncode, found.stdout.split()[0]) == (0, "pomona")
