"""Builds the wheel of the package (PEP 517), with Python's standard library only: `pip wheel .` and
`pip install .` need no network."""

import base64
import hashlib
import pathlib
import re
import zipfile

FOLDER = pathlib.Path(__file__).parent
VERSION = FOLDER.parent.parent / "include/k8s_sd/version.hpp"
NAME = "k8s_sd"
METADATA = """Metadata-Version: 2.1
Name: k8s-sd
Version: {version}
Summary: Kubernetes service discovery: targets, objects, and every change
License: Apache-2.0
Requires-Python: >=3.9
"""
WHEEL = """Wheel-Version: 1.0
Generator: k8s_sd
Root-Is-Purelib: true
Tag: py3-none-any
"""


def version():
    return re.search(r'K8S_SD_VERSION "(.*)"', VERSION.read_text(encoding="utf-8"))[1]


def get_requires_for_build_wheel(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    information = f"{NAME}-{version()}.dist-info"
    files = {f"{NAME}/{path.name}": path.read_bytes()
             for path in sorted((FOLDER / NAME).iterdir()) if path.is_file()}
    files[f"{information}/METADATA"] = METADATA.format(version=version()).encode()
    files[f"{information}/WHEEL"] = WHEEL.encode()
    record = [f"{name},sha256={_digest(content)},{len(content)}"
              for name, content in files.items()]
    files[f"{information}/RECORD"] = "\n".join(
        [*record, f"{information}/RECORD,,", ""]).encode()
    wheel = f"{NAME}-{version()}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / wheel, "w",
                         zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            # The same bytes from the same sources.
            entry = zipfile.ZipInfo(name)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return wheel


def _digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
