"""The crates in a binary, from Cargo's own description: their licences and the software bill of materials."""

import json
import pathlib
from datetime import datetime, timezone
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.factory.license import LicenseFactory
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from project import ROOT, epoch, once, require, run
from tools import cargo_environment

NOTICES = ("LICEN", "COPYING", "NOTICE", "UNLICENSE")


@once
def of_crate(manifest, package, triple, features=""):
    """The packages that are compiled into a crate for a target, itself included, by `cargo metadata`, sorted by name."""
    arguments = ["--features", features] if features else []
    environment = cargo_environment()
    described = json.loads(run(environment["CARGO"], "metadata", "--locked", "--format-version", "1", "--manifest-path", manifest,
                               "--filter-platform", triple, *arguments, env=environment, cwd=ROOT))
    packages = {package["id"]: package for package in described["packages"]}
    needs = {node["id"]: [need["pkg"] for need in node["deps"] if any(kind["kind"] is None for kind in need["dep_kinds"])]
             for node in described["resolve"]["nodes"]}
    waiting = [id for id, found in packages.items() if found["name"] == package]
    seen = set(waiting)
    while waiting:
        for need in needs[waiting.pop()]:
            if need not in seen:
                seen.add(need)
                waiting.append(need)
    found = [{**packages[id], "needs": [need for need in needs[id] if need in seen]} for id in seen]
    return sorted(found, key=lambda package: (package["name"], package["version"]))


def notices(packages):
    """The licences of all packages that are not of this project, as one text. A licence text appears once."""
    holders = {}
    for package in packages:
        if package["source"] is None:
            continue
        # A package with a licence that has no name brings its text.
        licence = package["license"] or package["license_file"]
        require(licence, f"{package['name']} names no licence")
        folder = pathlib.Path(package["manifest_path"]).parent
        files = sorted(path for path in folder.iterdir() if path.is_file() and path.name.upper().startswith(NOTICES))
        texts = tuple(path.read_text(errors="replace").strip() for path in files)
        holders.setdefault(texts, []).append(f"{package['name']} {package['version']}: {licence}")
    return "The program contains these packages.\n" + "".join(notice(names, texts) for texts, names in holders.items())


def notice(names, texts):
    """A part of `notices`: what has a licence, and its text."""
    line = "-" * 80
    return "\n".join(["", line, *names, line, *texts, ""])


def of_program(program, triple):
    return of_crate(ROOT / "Cargo.toml", program.package, triple, "inorder-cli/full" if program.name == "inorder" else "")


def of_extension(triple):
    return of_crate(ROOT / "bindings/extension/Cargo.toml", "inorder-extension", triple)


def bill(name, packages, version):
    """The software bill of materials of a binary, as CycloneDX 1.6 in JSON."""
    licence = LicenseFactory()
    bom = Bom(serial_number=uuid5(NAMESPACE_URL, f"inorder:{name}:{version}:{epoch()}"))
    bom.metadata.timestamp = datetime.fromtimestamp(epoch(), timezone.utc)
    bom.metadata.component = Component(name=name, version=version, type=ComponentType.APPLICATION, bom_ref=name)
    components = {}
    for package in packages:
        address = PackageURL("cargo", name=package["name"], version=package["version"])
        components[package["id"]] = Component(
            name=package["name"], version=package["version"], type=ComponentType.LIBRARY, purl=address, bom_ref=str(address),
            description=package["description"], licenses=[licence.make_from_string(package["license"])] if package["license"] else [])
    bom.components.update(components.values())
    bom.register_dependency(bom.metadata.component, components.values())
    for package in packages:
        bom.register_dependency(components[package["id"]], [components[need] for need in package["needs"]])
    return JsonV1Dot6(bom).output_as_string(indent=1) + "\n"
