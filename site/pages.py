"""Gives MkDocs the pages of the site: the Markdown files that its navigation names, with the paths of the repository.

Links between pages stay as they are. A link to another file of the repository becomes a link to a copy, if it is an image or
belongs to a record; otherwise the text alone remains. A link to what doesn't exist ends the build, and a page that loads
a file from another host.
"""

import os
import re
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]
# [text](target), also around an image.
LINK = re.compile(r"(?P<text>\[(?:!\[[^\]]*\]\([^)\s]*\)|[^\[\]]|\[[^\]]*\])*\])\((?P<target>[^)\s]+)\)")
FENCE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
# A list or a table that follows a paragraph without an empty line.
CLOSE = re.compile(r"^((?![-*|>#\s]|\d+\. ).*)\n(?=- |\* |\d+\. |\|)", re.MULTILINE)
FOREIGN = re.compile(r"<(?:script|img|link)[^>]*(?:src|href)=\"?https?:[^>]*>")
COMMENT = re.compile(r"^<!--.*?-->\n", re.MULTILINE | re.DOTALL)


def named(entry):
    """The paths in a navigation."""
    if isinstance(entry, str):
        return [entry]
    return [path for each in (entry.values() if isinstance(entry, dict) else entry) for path in named(each)]


def on_files(files, *, config):
    for path in named(config.nav):
        files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    files.append(File.generated(config, "iframe-worker.js", abs_src_path=str(ROOT / "target/site-venv/package/shim/index.js")))
    for image in sorted(ROOT.glob("docs/images/*")):
        files.append(File.generated(config, image.relative_to(ROOT).as_posix(), abs_src_path=str(image)))
    for record in sorted(path for path in ROOT.glob("record/*") if path.is_dir()):
        own = [path for path in sorted(record.iterdir()) if path.is_file()]
        for path in own:
            files.append(File.generated(config, path.relative_to(ROOT).as_posix(), abs_src_path=str(path)))
        page = File.generated(config, f"record/{record.name}/index.md", content=record_page(record.name, own))
        page.inclusion = page.inclusion.NOT_IN_NAV
        files.append(page)
    return files


def record_page(name, files):
    """The files of a record, and its description."""
    lines = [f"# {name}", "", "[All records](../README.md#measurement-records)", ""]
    lines += [f"- [{path.name}]({path.name}), {path.stat().st_size:,} bytes" for path in files]
    for path in files:
        if path.suffix == ".toml":
            lines += ["", "```toml", path.read_text().rstrip(), "```"]
    return "\n".join(lines) + "\n"


def on_page_markdown(markdown, *, page, config, files):
    # The comments that enclose generated tables would make the tables a part of them.
    parts, start = [], 0
    for fence in FENCE.finditer(markdown):
        parts += [rewritten(markdown[start : fence.start()], page, files), fence[0]]
        start = fence.end()
    return "".join([*parts, rewritten(markdown[start:], page, files)])


def on_post_page(output, *, page, config):
    if foreign := FOREIGN.search(output):
        raise PluginError(f"{page.file.src_uri}: loads a file from another host: {foreign[0]}")
    return output


def rewritten(markdown, page, files):
    return CLOSE.sub("\\1\n\n", LINK.sub(lambda link: rewrite(link, page, files), COMMENT.sub("", markdown)))


def rewrite(link, page, files):
    target, _, anchor = link["target"].partition("#")
    if not target or re.match(r"[a-z]+:", target):
        return link[0]
    path = Path(os.path.normpath(ROOT / Path(page.file.src_uri).parent / target))
    if not path.is_relative_to(ROOT) or not path.exists():
        raise PluginError(f"{page.file.src_uri}: the link to {link['target']} leads to nothing")
    if path.is_dir():
        index = next((name for name in ("README.md", "index.md") if files.get_file_from_path((path / name).relative_to(ROOT).as_posix())), None)
        target, path = f"{target.rstrip('/')}/{index}", path / str(index)
    if files.get_file_from_path(path.relative_to(ROOT).as_posix()):
        text = LINK.sub(lambda inner: inner[0], link["text"])
        return f"{text}({target}{'#' + anchor if anchor else ''})"
    return link["text"][1:-1]
