"""ULIDs, UUIDs and tokens in order: as SQL functions of SQLite, and made in Python.

>>> import inorder, sqlite3
>>> connection = sqlite3.connect(":memory:")
>>> inorder.load(connection)
>>> (text,) = connection.execute("SELECT ulid_text()").fetchone()
>>> len(text)
26
>>> len(inorder.ulid())
26
"""

import pathlib
from typing import Any

from .ids import token, tsid, tsid_text, typeid, ulid, uuid7

__all__ = ["load", "path", "token", "tsid", "tsid_text", "typeid", "ulid", "uuid7"]


def path() -> str:
    """Returns the path of the extension without its suffix, for `load_extension`."""
    return str(pathlib.Path(__file__).resolve().parent / "inorder")


def load(connection: Any) -> None:
    """Adds the functions to a connection of `sqlite3` or of a module like it.

    Disables extension loading afterwards. Raises `sqlite3.OperationalError` if SQLite is older
    than 3.34.1, and `RuntimeError` if this Python was built without extension support.
    """
    if not hasattr(connection, "enable_load_extension"):
        raise RuntimeError(
            "the sqlite3 module of this Python was built without extension support: use another Python, or the module pysqlite3"
        )
    connection.enable_load_extension(True)
    try:
        connection.load_extension(path())
    finally:
        connection.enable_load_extension(False)
