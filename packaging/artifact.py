"""What an artifact is: a file in `dist`, how it is made, and how it is checked."""

import dataclasses
import pathlib
from collections.abc import Callable


@dataclasses.dataclass(frozen=True)
class Check:
    """Installs or runs an artifact. Raises an exception if that fails."""

    where: str  # On what it runs.
    run: Callable[[pathlib.Path], None]


@dataclasses.dataclass(frozen=True)
class Artifact:
    file: str
    make: Callable[[pathlib.Path], None]  # Writes the file.
    checks: tuple[Check, ...] = ()
    # What compiles is made first, in the order of its queue, while other queues go on.
    queue: str = ""
    # Why nothing runs it.
    unchecked: str = ""
