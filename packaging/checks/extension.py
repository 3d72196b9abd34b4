"""Loads an extension into Python's SQLite, makes keys and reads them back.

python3 extension.py /path/of/libinorder
"""

import sqlite3
import sys

connection = sqlite3.connect(":memory:", isolation_level=None)
connection.enable_load_extension(True)
connection.load_extension(sys.argv[1])
connection.enable_load_extension(False)
connection.execute("CREATE TABLE note(id BLOB PRIMARY KEY DEFAULT (ulid()), n) WITHOUT ROWID")
connection.execute("INSERT INTO note(n) SELECT rowid FROM keys('ulid', 100000)")
(count, in_order), = connection.execute(
    "SELECT count(*), sum(n = place) FROM (SELECT n, row_number() OVER (ORDER BY id) AS place FROM note)")
assert count == in_order == 100000, (count, in_order)
(text,) = connection.execute("SELECT uuid_text(ulid_to_uuid('01ARZ3NDEKTSV4RRFFQ69G5FAV'))").fetchone()
assert text == "01563e3a-b5d3-d676-4c61-efb99302bd5b", text
try:
    connection.execute("SELECT ulid_min('1969-12-31')").fetchone()
    raise AssertionError("an error was expected")
except sqlite3.OperationalError as error:
    assert "is in no id" in str(error), error
print(connection.execute("SELECT inorder_version()").fetchone()[0])
