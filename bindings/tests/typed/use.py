"""A user's program, for `mypy --strict`. A line with `# error` must be refused."""

import sqlite3
import uuid

import inorder


def add(connection: sqlite3.Connection, text: str) -> str:
    inorder.load(connection)
    id = inorder.ulid()
    connection.execute("INSERT INTO note VALUES (?, ?)", (id, text))
    return id


async def add_async(connection: object) -> None:
    await inorder.load_async(connection)


key: uuid.UUID = inorder.uuid7()
user: str = inorder.typeid("user")
number: int = inorder.tsid(node=3)
printed: str = inorder.tsid_text(number)
secret: str = inorder.token(32)
extension: str = inorder.path()

wrong_result: int = inorder.ulid()  # error
inorder.typeid(7)  # error
inorder.tsid_text(printed)  # error
inorder.load()  # error
inorder.nanoid()  # error
