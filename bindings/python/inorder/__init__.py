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

import inspect
import pathlib
from typing import Any

from .ids import token, tsid, tsid_text, typeid, ulid, uuid7

__all__ = ["load", "load_async", "path", "token", "tsid", "tsid_text", "typeid", "ulid", "uuid7"]


def path() -> str:
    """Returns the path of the extension without its suffix, for `load_extension`."""
    return str(pathlib.Path(__file__).resolve().parent / "inorder")


def load(connection: Any) -> None:
    """Adds the functions to a connection of `sqlite3` or of a module like it.

    Takes also the connection that SQLAlchemy gives to a listener for "connect", of an engine or of an async engine.

    Disables extension loading afterwards. Raises `sqlite3.OperationalError` if SQLite is older
    than 3.34.1, `RuntimeError` if this Python was built without extension support, and
    `TypeError` for an async connection, which needs `await inorder.load_async(connection)`.
    """
    if _is_adapted(connection):
        connection.run_async(load_async)
        return
    _check(connection)
    _ended(connection.enable_load_extension(True))
    try:
        _ended(connection.load_extension(path()))
    finally:
        _ended(connection.enable_load_extension(False))


async def load_async(connection: Any) -> None:
    """Adds the functions to an async connection, such as one of `aiosqlite`.

    Raises what `load` raises.
    """
    _check(connection)
    await _awaited(connection.enable_load_extension(True))
    try:
        await _awaited(connection.load_extension(path()))
    finally:
        await _awaited(connection.enable_load_extension(False))


def _is_adapted(connection: Any) -> bool:
    """Whether SQLAlchemy has wrapped an async connection, for calls that are not async."""
    return hasattr(connection, "run_async") and hasattr(connection, "driver_connection")


def _check(connection: Any) -> None:
    if hasattr(connection, "enable_load_extension"):
        return
    kind = type(connection)
    if kind.__module__.partition(".")[0] in ("sqlite3", "_sqlite3", "aiosqlite"):
        raise RuntimeError(
            "the sqlite3 module of this Python was built without extension support: use another Python, or the module pysqlite3"
        )
    raise TypeError(
        f"{kind.__module__}.{kind.__qualname__} has no enable_load_extension: pass the connection of the driver, "
        "for SQLAlchemy in a listener for the event \"connect\" of the engine, or of async_engine.sync_engine"
    )


def _ended(result: Any) -> None:
    """Refuses the result of a call that has not ended, because the connection is async."""
    if inspect.isawaitable(result):
        if inspect.iscoroutine(result):
            result.close()
        raise TypeError("the connection is async, and nothing is loaded: write await inorder.load_async(connection)")


async def _awaited(result: Any) -> None:
    if inspect.isawaitable(result):
        await result
