"""What the benches share that measures no server: the films, and the CSV of the figures."""

import csv
import gzip
import json
import pathlib


def films(file):
    """The documents of a file of JSON lines, gzip-compressed or not."""
    data = pathlib.Path(file).read_bytes()
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    return [{"_id": f"{at:08}", **json.loads(line)} for at, line in enumerate(data.decode().splitlines())]


def write_csv(file, columns, rows):
    """Writes figures; what a row doesn't measure is empty."""
    with open(file, "w", newline="") as out:
        table = csv.DictWriter(out, columns, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
