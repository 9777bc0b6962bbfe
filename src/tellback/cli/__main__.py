"""``python -m tellback.cli`` is ``tellback``."""

from tellback.cli import main

if __name__ == "__main__":
    main()
