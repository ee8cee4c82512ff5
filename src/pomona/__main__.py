"""`python -m pomona` is the command `pomona`."""

from pomona.cli import main

main()
