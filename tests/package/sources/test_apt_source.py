"""Whether scripts/apt-source finds the release in each form of apt's configuration. Usage:
test_apt_source.py SCRIPT"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

DEB822 = """# of the image
Types: deb deb-src
URIs: http://mirror/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian.gpg

Types: deb
URIs: http://mirror/security
Suites: bookworm-security
Components: main
"""
DISABLED = "Enabled: no\n" + DEB822.partition("\n")[2]
LIST = """deb http://mirror/security bookworm-security main
# deb http://other/debian bookworm main
deb-src http://mirror/debian bookworm main
deb [arch=amd64 signed-by=/a.gpg] http://mirror/debian bookworm main contrib
"""
COPY = """Types: deb
URIs: http://mirror/debian
Suites: sid
Components: main
Signed-By: /usr/share/keyrings/debian.gpg
"""
LINE = "deb [arch=amd64 signed-by=/a.gpg] http://mirror/debian sid main\n"


class AptSource(unittest.TestCase):
    def run_script(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return subprocess.run([SCRIPT, "bookworm", "sid", folder], capture_output=True,
                                  text=True, timeout=60, check=False)

    def test_each_form(self):
        for files, wanted in (({"sources.list.d/debian.sources": DEB822}, COPY),
                              ({"sources.list": LIST}, LINE),
                              ({"sources.list.d/debian.list": LIST}, LINE),
                              ({"sources.list": "", "sources.list.d/a.sources": DISABLED,
                                "sources.list.d/b.sources": DEB822}, COPY)):
            with self.subTest(files=list(files)):
                result = self.run_script(files)
                self.assertEqual((result.stdout, result.stderr, result.returncode),
                                 (wanted, "", 0))

    def test_no_entry(self):
        result = self.run_script({"sources.list": "deb http://mirror/debian trixie main\n",
                                  "sources.list.d/a.sources": DISABLED})
        self.assertEqual((result.stdout, result.returncode), ("", 1))
        self.assertEqual(result.stderr,
                         "apt-source: found no source of bookworm to copy for sid\n")


if __name__ == "__main__":
    SCRIPT = sys.argv.pop()
    unittest.main()
