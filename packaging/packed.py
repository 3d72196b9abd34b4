"""Archives with the same bytes for the same files."""

import gzip
import io
import os
import tarfile

from project import epoch


def files_below(folder):
    """All files of a folder and their names in it, sorted."""
    found = [(path.relative_to(folder).as_posix(), path) for path in folder.rglob("*") if path.is_file()]
    return sorted(found)


def tar_gz(archive, folder, top):
    """Writes the files of a folder into an archive with one folder at its top."""
    with open(archive, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=epoch()) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, path in files_below(folder):
            content = path.read_bytes()
            entry = tarfile.TarInfo(f"{top}/{name}")
            entry.size, entry.mtime = len(content), epoch()
            entry.mode = 0o755 if os.access(path, os.X_OK) else 0o644
            tar.addfile(entry, io.BytesIO(content))
