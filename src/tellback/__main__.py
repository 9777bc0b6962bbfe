"""``python -m tellback``: the command line."""

from tellback.cli import main

main()
