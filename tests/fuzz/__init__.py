"""Coverage-guided fuzzing of everything that takes bytes from outside, and the inputs it found.

    make fuzz MINUTES=10          all targets, the time shared out among them
    python -m tests.fuzz TARGET --seconds 60
    python -m tests.fuzz TARGET --input FILE    one input again

What breaks a target is kept in `tests/fuzz/found/TARGET-…`; `test_found.py` runs all of those with the tests.
"""
