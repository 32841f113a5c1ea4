"""The list of components of a release (SPDX 2.3, JSON): the project and its dependencies."""
import json
import pathlib
import uuid

DEPENDENCIES = pathlib.Path(__file__).with_name("dependencies.json")
RELATIONSHIPS = {"library": "DEPENDS_ON", "optional": "OPTIONAL_DEPENDENCY_OF",
                 "build": "BUILD_DEPENDENCY_OF"}


def spdx_id(name):
    return "SPDXRef-Package-" + name.replace("_", "-")


def dependency_package(dependency):
    version = dependency["version"]
    package = {
        "SPDXID": spdx_id(dependency["name"]), "name": dependency["name"],
        "downloadLocation": dependency["url"], "filesAnalyzed": False,
        "licenseConcluded": dependency["license"], "licenseDeclared": dependency["license"],
        "copyrightText": "NOASSERTION"}
    if version:
        package["comment"] = f"version {version} or newer"
    return package


def relationship(name, dependency):
    kind = RELATIONSHIPS[dependency["use"]]
    ends = [spdx_id(name), spdx_id(dependency["name"])]
    if kind.endswith("_OF"):
        ends.reverse()
    return {"spdxElementId": ends[0], "relationshipType": kind, "relatedSpdxElement": ends[1]}


def document(name, version, created, archive, sha256):
    """\\param created: time in ISO 8601, UTC
    \\param archive: name of the tarball with this checksum"""
    dependencies = json.loads(DEPENDENCIES.read_text(encoding="utf-8"))
    identity = uuid.uuid5(uuid.NAMESPACE_URL, f"{archive}#{sha256}")
    project = {
        "SPDXID": spdx_id(name), "name": name, "versionInfo": version,
        "packageFileName": archive, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
        "checksums": [{"algorithm": "SHA256", "checksumValue": sha256}],
        "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0",
        "copyrightText": f"The {name} authors", "primaryPackagePurpose": "LIBRARY"}
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"{name}-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/{name}-{version}-{identity}",
        "creationInfo": {"created": created, "creators": ["Tool: scripts/release"]},
        "documentDescribes": [project["SPDXID"]],
        "packages": [project, *map(dependency_package, dependencies)],
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
             "relatedSpdxElement": project["SPDXID"]},
            *(relationship(name, dependency) for dependency in dependencies)]}
