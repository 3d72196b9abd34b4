"""Software bills of materials: one per program and one of the extension, for Linux on x86_64."""

import build
import components
from artifact import Artifact, Check
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from project import PROGRAMS, VERSION, require


def validate(file):
    problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(file.read_text())
    require(problem is None, str(problem))
    require('"rusqlite"' in file.read_text(), "it names no rusqlite")


def bill(name, packages):
    return Artifact(f"{name}-{VERSION}.cdx.json", lambda file: file.write_text(components.bill(name, packages(), VERSION)),
                    (Check("compared with the schema of CycloneDX 1.6", validate),))


TRIPLE = build.PROGRAM_TARGETS[0].triple
ARTIFACTS = [bill(program.name, lambda program=program: components.of_program(program, TRIPLE)) for program in PROGRAMS]
ARTIFACTS.append(bill("inorder-extension", lambda: components.of_extension(TRIPLE)))
