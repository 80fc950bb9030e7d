# SPDX-License-Identifier: GPL-2.0
"""What scripts/fetch says to bases it cannot use."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

FETCH = Path(__file__).resolve().parent.parent / "scripts/fetch"


class Fetch(unittest.TestCase):
    """Each a clear sentence, a non-zero exit, and no base written down."""

    def setUp(self):
        tmp = tempfile.TemporaryDirectory()
        self.addCleanup(tmp.cleanup)
        self.tmp = Path(tmp.name)
        self.env = dict(os.environ, BUILD=str(self.tmp / "build"), XDG_CACHE_HOME=str(self.tmp / "cache"))

    def fetch(self, base, **env):
        return subprocess.run([FETCH, base], capture_output=True, text=True, check=False, env={**self.env, **env})

    def kernel(self, version):
        tree = self.tmp / "linux"
        tree.mkdir()
        (tree / "Makefile").write_text(f"VERSION = {version}\n", encoding="utf-8")
        identity = ["-c", "user.name=a", "-c", "user.email=a@a"]
        clean = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-q", "-m", "linux"]):
            subprocess.run(["git", "-C", tree, *command], check=True, env=clean)
        return tree

    def refuses(self, run, words):
        self.assertNotEqual(run.returncode, 0)
        self.assertIn(words, run.stdout + run.stderr)
        self.assertFalse((self.tmp / "build/base").exists())

    def test_no_such_folder(self):
        self.refuses(self.fetch(str(self.tmp / "nowhere")), "not a git tree")

    def test_other_major_version(self):
        self.refuses(self.fetch(str(self.kernel(6))), "not a 7.x kernel (VERSION is '6')")

    def test_a_git_tree_is_taken_and_not_changed(self):
        tree = self.kernel(7)
        before = sorted(p.name for p in tree.rglob("*"))
        run = self.fetch(str(tree))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn(f"git={tree}\n", (self.tmp / "build/base").read_text())
        self.assertEqual(sorted(p.name for p in tree.rglob("*")), before)

    @unittest.skipUnless(Path("/etc/debian_version").exists(), "not Debian")
    def test_no_network_and_an_empty_cache(self):
        self.refuses(self.fetch("deb", MIRROR="file:///nowhere"), "Is there a network?")

    def test_damaged_cache(self):
        (self.tmp / "cache/linux-percpu-stats/linux-7.3.4/.git").mkdir(parents=True)
        self.refuses(self.fetch("deb"), "is damaged")

    def test_half_a_download_is_not_used(self):
        (self.tmp / "cache/linux-percpu-stats/fetch.123456/repo").mkdir(parents=True)
        run = self.fetch("deb", MIRROR="file:///nowhere")
        self.assertNotEqual(run.returncode, 0)
        self.assertFalse((self.tmp / "cache/linux-percpu-stats/fetch.123456").exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
