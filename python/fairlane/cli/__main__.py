"""``python -m fairlane.cli``."""

from fairlane.cli import main

main()
