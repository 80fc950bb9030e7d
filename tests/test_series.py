# SPDX-License-Identifier: GPL-2.0
"""compose, refresh and their invariants, on a fake kernel of five files."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"
sys.path.insert(0, str(SCRIPTS))

KERNEL = {
    "Makefile": "VERSION = 7\nPATCHLEVEL = 3\n",
    "MAINTAINERS": "List of maintainers\n\nMaintainers List\n----------------\n\n"
                   "AAA DRIVER\nS:\tMaintained\nF:\tnet/aaa.c\n\n"
                   "ZZZ DRIVER\nS:\tMaintained\nF:\tnet/zzz.c\n\n"
                   "THE REST\nS:\tBuried\nF:\t*\n",
    "net/Kconfig": "menu \"net\"\nendmenu\n",
    "net/Makefile": "obj-y += aaa.o\nobj-y += zzz.o\n",
    "net/aaa.c": "".join(f"int line{i};\n" for i in range(20)),
}
HUNK = """diff --git a/net/Makefile b/net/Makefile
--- a/net/Makefile
+++ b/net/Makefile
@@ -1,2 +1,3 @@
 obj-y += aaa.o
+obj-y += fold.o
 obj-y += zzz.o
"""
LATER = """diff --git a/net/fold.c b/net/fold.c
--- a/net/fold.c
+++ b/net/fold.c
@@ -1 +1,2 @@
 int fold;
+int touched;
"""
OURS = "# SPDX-License-Identifier: GPL-2.0\n\nNETWORK FOLD\nS:\tMaintained\nF:\tnet/fold.c\n"


def patch(subject, hunks=""):
    """A stored patch."""
    return f"SPDX-License-Identifier: GPL-2.0\nSubject: {subject}\n\nThe problem, and the cure.\n---\n{hunks}"


class Fixture(unittest.TestCase):
    """A fake kernel, a repository with three commits, and shorthands."""

    def setUp(self):
        tmp = tempfile.TemporaryDirectory()
        self.addCleanup(tmp.cleanup)
        self.kernel, self.repo, self.tree = (Path(tmp.name, n) for n in ("kernel", "repo", "tree"))
        for name, text in KERNEL.items():
            self.write(self.kernel / name, text)
        self.git(self.kernel, "init", "-q")
        self.git(self.kernel, "add", ".")
        self.git(self.kernel, "commit", "-q", "-m", "linux fake")
        self.write(self.repo / "patches/0001-net-fold.patch", patch("net: fold rows", HUNK))
        self.write(self.repo / "patches/0002-net-touch.patch", patch("net: touch rows", LATER))
        self.write(self.repo / "patches/0003-net-doc.patch", patch("net: document the fold"))
        self.write(self.repo / "net/fold.c", "int fold;\nint touched;\n")
        self.write(self.repo / "Kconfig", "config FOLD\n\tbool\n")
        self.write(self.repo / "tools/fold.sh", "#!/bin/sh\n")
        (self.repo / "tools/fold.sh").chmod(0o755)
        self.write(self.repo / "MAINTAINERS", OURS)
        self.series("[fold] 0001-net-fold.patch net/fold.c net/core/Kconfig MAINTAINERS",
                    "[touched] 0002-net-touch.patch", "[touched] 0003-net-doc.patch tools/fold.sh")

    @staticmethod
    def write(path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def series(self, *lines):
        self.write(self.repo / "series", "\n".join(lines) + "\n")

    @staticmethod
    def git(where, *args):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        env = dict(clean, GIT_CONFIG_GLOBAL="/dev/null", GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@a",
                   GIT_COMMITTER_NAME="c", GIT_COMMITTER_EMAIL="c@c")
        return subprocess.run(["git", "-C", where, *args], check=True, env=env,
                              capture_output=True, text=True).stdout.rstrip("\n")

    def compose(self, *flags):
        base = self.git(self.kernel, "rev-parse", "HEAD")
        return subprocess.run([SCRIPTS / "compose", self.repo, self.tree, self.kernel, base, *flags],
                              capture_output=True, text=True, check=False)

    def refresh(self):
        return subprocess.run([SCRIPTS / "refresh", self.repo, self.tree],
                              capture_output=True, text=True, check=False)

    def composes(self, *flags):
        run = self.compose(*flags)
        self.assertEqual(run.returncode, 0, run.stderr)
        return self.git(self.tree, "rev-parse", "HEAD")

    def refreshes(self):
        run = self.refresh()
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def refuses(self, run, *words):
        self.assertNotEqual(run.returncode, 0)
        self.assertNotIn("Traceback", run.stderr)
        for word in words:
            self.assertIn(word, run.stderr)

    def files(self):
        return {str(p.relative_to(self.repo)): (p.read_text(), p.stat().st_mode)
                for p in self.repo.rglob("*") if p.is_file()}

    def commit(self, name, text, message):
        self.write(self.tree / name, text)
        self.git(self.tree, "add", name)
        self.git(self.tree, "commit", "-q", "-m", message)

    def show(self, rev, path):
        return self.git(self.tree, "show", f"{rev}:{path}")


class Compose(Fixture):
    """From the files here to commits."""

    def test_one_line_is_one_commit(self):
        self.composes()
        self.assertEqual(self.git(self.tree, "log", "--format=%s", "base.."),
                         "net: document the fold\nnet: touch rows\nnet: fold rows")

    def test_new_file_is_rewound_through_later_hunks(self):
        self.composes()
        self.assertEqual(self.show("HEAD~2", "net/fold.c"), "int fold;")
        self.assertEqual(self.show("HEAD~1", "net/fold.c"), "int fold;\nint touched;")

    def test_kconfig_and_modes_land_at_their_kernel_path(self):
        self.composes()
        self.assertEqual(self.show("HEAD", "net/core/Kconfig"), "config FOLD\n\tbool")
        self.assertTrue(self.git(self.tree, "ls-files", "-s", "tools/fold.sh").startswith("100755"))

    def test_maintainers_are_merged_in_order(self):
        self.composes()
        text = self.show("HEAD~2", "MAINTAINERS")
        self.assertIn("F:\tnet/aaa.c\n\nNETWORK FOLD\nS:\tMaintained\nF:\tnet/fold.c\n\nZZZ DRIVER\n", text)

    def test_ids_are_reproducible(self):
        first = self.composes()
        self.tree = self.tree.with_name("again")
        self.assertEqual(self.composes(), first)

    def test_overlay_only_commit(self):
        self.composes()
        self.assertEqual(self.git(self.tree, "diff", "--name-only", "HEAD~1", "HEAD"), "tools/fold.sh")

    def test_drifted_context_stops_and_names_patch_and_file(self):
        self.write(self.kernel / "net/Makefile", "obj-y += aab.o\nobj-y += zzz.o\n")
        self.git(self.kernel, "commit", "-q", "-a", "-m", "linux drifted")
        self.refuses(self.compose(), "0001-net-fold.patch", "net/Makefile", "rebase --onto")
        self.assertEqual(self.git(self.tree, "status", "--porcelain", "-uno"), "")

    def test_file_named_by_two_lines(self):
        self.series("[fold] 0001-net-fold.patch net/fold.c",
                    "[touched] 0002-net-touch.patch net/fold.c", "[touched] 0003-net-doc.patch")
        self.refuses(self.compose(), "series:2", "net/fold.c is already added by 0001-net-fold.patch")

    def test_new_file_that_the_base_has(self):
        self.write(self.repo / "net/zzz.c", "int z;\n")
        self.write(self.kernel / "net/zzz.c", "int z;\n")
        self.git(self.kernel, "add", "net/zzz.c")
        self.git(self.kernel, "commit", "-q", "-m", "linux has it")
        self.series("[fold] 0001-net-fold.patch net/fold.c", "[touched] 0002-net-touch.patch",
                    "[touched] 0003-net-doc.patch net/zzz.c")
        self.refuses(self.compose(), "net/zzz.c", "the base kernel has it")

    def test_missing_and_stray_files(self):
        (self.repo / "net/fold.c").unlink()
        self.refuses(self.compose(), "series:1", "net/fold.c is missing")
        self.write(self.repo / "net/fold.c", "int fold;\nint touched;\n")
        self.write(self.repo / "patches/0009-stray.patch", patch("net: stray"))
        self.refuses(self.compose(), "0009-stray.patch")

    def test_text_below_the_message(self):
        self.write(self.repo / "patches/0003-net-doc.patch", patch("net: document the fold", "changed in v2\n"))
        self.refuses(self.compose(), "changed in v2")

    def test_malformed_series_line(self):
        self.series("fold 0001-net-fold.patch")
        self.refuses(self.compose(), "series:1", "[tag]")

    def test_work_in_the_tree_is_not_thrown_away(self):
        self.composes()
        self.write(self.tree / "net/aaa.c", "int edited;\n")
        self.refuses(self.compose(), "uncommitted changes", "FORCE=1")
        self.commit("net/aaa.c", "int edited;\n", "net: edit")
        self.refuses(self.compose(), "commits", "make refresh")
        self.assertEqual((self.tree / "net/aaa.c").read_text(), "int edited;\n")
        self.composes("--force")
        self.assertEqual((self.tree / "net/aaa.c").read_text(), KERNEL["net/aaa.c"])


class Refresh(Fixture):
    """From commits back to the files here."""

    def test_inverse(self):
        head = self.composes()
        self.refreshes()
        once = self.files()
        self.assertEqual(self.composes(), head)
        self.refreshes()
        self.assertEqual(self.files(), once)

    def test_new_commit_inherits_the_tag_and_is_announced(self):
        self.composes()
        self.commit("net/new.c", "int n;\n", "net: a new one\n\nWith a reason.")
        self.assertIn("new in [touched]: net: a new one", self.refreshes())
        self.assertIn("[touched] 0004-net-a-new-one.patch net/new.c", (self.repo / "series").read_text())
        self.assertEqual((self.repo / "net/new.c").read_text(), "int n;\n")

    def test_amended_new_file_keeps_its_history(self):
        self.composes()
        self.commit("net/fold.c", "int fold;\nint touched;\nint more;\n", "net: more")
        head = self.git(self.tree, "rev-parse", "HEAD^{tree}")
        self.refreshes()
        self.composes()
        self.assertEqual(self.git(self.tree, "rev-parse", "HEAD^{tree}"), head)
        self.assertEqual(self.show("HEAD~3", "net/fold.c"), "int fold;")

    def test_dropped_commit_takes_its_files_along(self):
        self.composes()
        self.git(self.tree, "reset", "-q", "--hard", "HEAD~1")
        self.refreshes()
        self.assertFalse((self.repo / "tools/fold.sh").exists())
        self.assertFalse((self.repo / "patches/0003-net-doc.patch").exists())
        self.composes()

    def test_maintainers_section_edited_in_the_tree(self):
        self.composes()
        text = self.show("HEAD", "MAINTAINERS").replace("net/fold.c\n", "net/fold.c\nF:\ttools/fold.sh\n")
        self.commit("MAINTAINERS", text + "\n", "MAINTAINERS: cover the tool")
        self.refuses(self.refresh(), "would not compose to the same tree")
        self.assertEqual((self.repo / "MAINTAINERS").read_text(), OURS)

    def test_edits_here_are_not_overwritten(self):
        self.composes()
        self.write(self.repo / "net/fold.c", "int fold;\nint touched;\nint here;\n")
        before = self.files()
        self.refuses(self.refresh(), "changed since the last compose")
        self.assertEqual(self.files(), before)

    def test_words_that_have_no_place_are_not_lost(self):
        self.composes()
        series = self.repo / "series"
        series.write_text("# mind the order\n" + series.read_text())
        self.refuses(self.refresh(), "mind the order")

    def test_dirty_tree_and_signed_off_message(self):
        self.composes()
        self.write(self.tree / "net/aaa.c", "int edited;\n")
        self.refuses(self.refresh(), "uncommitted changes")
        self.commit("net/aaa.c", "int edited;\n", "net: edit\n\nSigned-off-by: A <a@a>")
        self.refuses(self.refresh(), "no Signed-off-by")


if __name__ == "__main__":
    unittest.main(verbosity=2)
