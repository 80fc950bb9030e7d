# SPDX-License-Identifier: GPL-2.0
"""What the scripts say on a machine that lacks what they need."""
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
# Arguments with which a script gets to its work; those in the guest run behind scripts/vm only.
ARGUMENTS = {"build": ["test", ".", "x86"], "fetch": ["deb"], "fresh": ["bookworm"], "compilers": [], "vm": ["--", "true"],
             "compose": [".", "tree", ".git", "HEAD"], "refresh": [".", "tree"], "export": [".", "tree", "out"],
             "bench-report": ["out", "name"], "setup": [], "bench": []}
GUEST = {"guest-init", "guest-demo"}
# A sentence that names what is missing: ours, which says how to get it, or that of env, which
# starts Python.
SENTENCE = re.compile(r"^(\w[\w-]*: error: .*(missing|needs|no Debian mirror).*"
                      r"|There is no apt-get, so nothing is installed. Missing here: .*"
                      r"|.*env: .?python3.?: No such file or directory)$", re.M)
UNFORESEEN = re.compile(r"failed: |command not found|unbound variable|Traceback")


def essential_programs():
    """The programs that every Debian has, by name."""
    packages = subprocess.run(["dpkg-query", "-W", "-f", "${Essential} ${Package}\n"], capture_output=True,
                              text=True, check=True).stdout.splitlines()
    names = [line.split()[1] for line in packages if line.startswith("yes")]
    files = subprocess.run(["dpkg", "-L", *names], capture_output=True, text=True, check=True).stdout.split("\n")
    return {Path(f).name: f for f in files if re.match(r"(/usr)?/s?bin/[^/]+$", f) and os.access(f, os.X_OK)}


class Newcomer(unittest.TestCase):
    """Each script ends in its result or in one sentence, whatever the machine lacks."""

    def setUp(self):
        tmp = tempfile.TemporaryDirectory()
        self.addCleanup(tmp.cleanup)
        self.tmp = Path(tmp.name)
        (self.tmp / "bin").mkdir()
        for name, path in essential_programs().items():
            (self.tmp / "bin" / name).symlink_to(path)
        # dash and friends are set up by links of other packages.
        for name in ("sh", "awk"):
            if not (self.tmp / "bin" / name).exists():
                (self.tmp / "bin" / name).symlink_to(f"/usr/bin/{name}")

    def add(self, *names):
        for name in names:
            path = subprocess.run(["which", name], capture_output=True, text=True, check=True).stdout.strip()
            (self.tmp / "bin" / name).symlink_to(path)

    def start(self, script):
        return subprocess.run([TOP / "scripts" / script, *ARGUMENTS[script]], capture_output=True, text=True,
                              check=False, cwd=TOP, stdin=subprocess.DEVNULL,
                              env={"PATH": str(self.tmp / "bin"), "HOME": str(self.tmp), "BUILD": str(self.tmp / "build")})

    def each_has_a_sentence(self):
        for script in sorted(ARGUMENTS):
            with self.subTest(script=script):
                run = self.start(script)
                self.assertNotRegex(run.stdout + run.stderr, UNFORESEEN)
                self.assertRegex(run.stdout + run.stderr, SENTENCE)

    def test_no_script_is_left_out(self):
        scripts = {p.name for p in (TOP / "scripts").iterdir() if os.access(p, os.X_OK) and p.is_file()}
        self.assertEqual(scripts - GUEST, set(ARGUMENTS))

    def test_essential_packages_only(self):
        self.each_has_a_sentence()

    def test_git_and_make_and_no_apt(self):
        self.add("git", "make")
        self.each_has_a_sentence()


if __name__ == "__main__":
    unittest.main(verbosity=2)
