"""`python -m instar` is `instar`."""

from instar.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
