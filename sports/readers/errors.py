"""Errors of the readers. Each says which file, where in it, and what to do."""


class ReaderError(Exception):
    """A file could not be read as a match."""

    def __init__(self, file: str, problem: str, advice: str) -> None:
        self.file = file
        self.problem = problem
        self.advice = advice
        super().__init__(f"{file}: {problem}; {advice}")


class NotThisFormat(ReaderError):
    """The file is something else altogether: another format, or not text."""


class UnreadableMatch(ReaderError):
    """The file is of the format, but something in it cannot be understood."""


class LineFault(Exception):
    """A line of text cannot be understood. Who reads the file adds which line of which file it is."""

    def __init__(self, problem: str, advice: str) -> None:
        self.problem = problem
        self.advice = advice
        super().__init__(f"{problem}; {advice}")


class UnwritableMatch(Exception):
    """A match holds something that the notation has no words for; says what."""
