"""Container images of the document server, without a distribution: one archive per format."""

import json
import pathlib
import shutil

import archives
import build
import installed
import places
from artifact import Artifact, Check
from project import LICENCES, PROGRAMS, VERSION, epoch, fresh, once, require, run

(SERVER,) = (program for program in PROGRAMS if program.name == "inorder-couch")
CERTIFICATES = pathlib.Path("/usr/share/ca-certificates/mozilla")
USER = "65532"
# The format of OCI has no health check.
FORMATS = {"oci": "oci-archive", "docker": "docker-archive"}


@once
def context(target):
    """The folder with what is copied into the image."""
    folder = fresh("image", target.name)
    source = archives.staged(SERVER, target)
    shutil.copy(installed.HERE / "image/Containerfile", folder)
    shutil.copy(source / SERVER.name, folder)
    for name in ["data", "licences"]:
        (folder / name).mkdir()
    for licence in [*LICENCES, source / "LICENSE-THIRD-PARTY"]:
        shutil.copy(licence, folder / "licences")
    # Replication with other servers needs them.
    certificates = sorted(CERTIFICATES.glob("*.crt"))
    require(certificates, f"{CERTIFICATES} has no certificates")
    (folder / "ca-certificates.crt").write_text("".join(path.read_text() for path in certificates))
    return folder


def image(target, kind):
    name = f"{SERVER.name}-{VERSION}-{places.DEBIAN[target.architecture]}.{kind}.tar"

    def make(file):
        store = fresh("image", f"{target.name}-{kind}")
        buildah = ["buildah", "--root", store / "root", "--runroot", store / "run", "--storage-driver", "vfs"]
        run(*buildah, "build", "--isolation", "chroot", "--arch", places.DEBIAN[target.architecture], "--format", kind, "--timestamp",
            epoch(), "--tag", SERVER.name, context(target))
        file.unlink(missing_ok=True)
        run(*buildah, "push", SERVER.name, f"{FORMATS[kind]}:{file}:{SERVER.name}:{VERSION}")
        shutil.rmtree(store)

    def check(file):
        with places.folder() as folder:
            shown = json.loads(run("skopeo", "inspect", "--config", "--raw", f"{FORMATS[kind]}:{file}"))
            require(shown["config"]["User"] == f"{USER}:{USER}", "the user is another one")
            require(kind == "oci" or shown["config"]["Healthcheck"]["Test"] == ["CMD", "/usr/bin/inorder-couch", "health"], "no health check")
            run("skopeo", "copy", "--quiet", f"{FORMATS[kind]}:{file}", f"oci:{folder}/layout:{VERSION}")
            run("umoci", "unpack", "--image", f"{folder}/layout:{VERSION}", folder / "bundle")
            process = json.loads((folder / "bundle/config.json").read_text())["process"]
            places.run_image(folder / "bundle/rootfs", {**process, "architecture": target.architecture},
                             ["INORDER_COUCH_ADMIN=anna", "INORDER_COUCH_PASSWORD=secret"], "/usr/bin/inorder-couch health")

    return Artifact(name, make, (Check("unpacked and run in a chroot", check),))


ARTIFACTS = [image(target, kind) for target in build.PROGRAM_TARGETS for kind in FORMATS]
