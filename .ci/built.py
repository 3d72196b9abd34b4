"""What Cargo says of a build with `--message-format json`.

As a program: prints the warnings and errors of the builds in these files. The exit status is 1 if there are any.
"""

import json
import pathlib
import sys


def messages_of(file):
    """The messages of a build that ended, one JSON object each."""
    return [json.loads(line) for line in file.read_text().splitlines()]


def diagnostics(file):
    """The warnings and errors of a build, as the compiler words them. A target that is compiled twice has them once."""
    compiler = [message["message"] for message in messages_of(file) if message["reason"] == "compiler-message"]
    return list(dict.fromkeys(message["rendered"] for message in compiler if message["level"] in ("warning", "error")))


if __name__ == "__main__":
    found = [text for name in sys.argv[1:] for text in diagnostics(pathlib.Path(name))]
    print("\n".join(found) or "no warnings")
    sys.exit(1 if found else 0)
