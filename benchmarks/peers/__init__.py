"""Supple beside other engines on one problem: ``python -m benchmarks.peers``."""


def main() -> None:
    """All engines that this interpreter has."""
    from benchmarks.peers.__main__ import main as run

    run([])
