# SPDX-License-Identifier: GPL-2.0
"""What bench-report makes of the lines that guests print."""
import json
import subprocess
import tempfile
import unittest
from pathlib import Path

REPORT = Path(__file__).resolve().parent.parent / "scripts/bench-report"
MARKS = "<!-- make bench README=1 -->\n", "<!-- end -->\n"
FAST = "page_pool.process.fast"


def line(test, value):
    return f"test={test} unit=cycles value={value} min={value} max={value} runs=3 loops=64\n"


class Report(unittest.TestCase):
    """Figures that were measured, and no others."""

    def setUp(self):
        tmp = tempfile.TemporaryDirectory()
        self.addCleanup(tmp.cleanup)
        self.out = Path(tmp.name)
        (self.out / "log").mkdir()

    def log(self, name, *lines):
        (self.out / "log" / name).write_text("".join(lines), encoding="utf-8")

    def report(self, *args):
        return subprocess.run([REPORT, self.out, "linux fake", *args], capture_output=True, text=True, check=False)

    def test_figure_is_in_table_and_json(self):
        self.log("exact,base,on,1,1", line(FAST, 75.03))
        self.log("exact,patched,on,1,1", line(FAST, 45.03))
        self.assertEqual(self.report().returncode, 0)
        self.assertIn(f"| {FAST} | 68 | 70 |  | 75.03 |  | 45.03 |", (self.out / "report.md").read_text())
        kernels = [r["kernel"] for r in json.loads((self.out / "results.json").read_text()) if r["unit"] == "instructions"]
        self.assertEqual(kernels, ["base", "patched"])

    def test_many_cpus_have_a_table_of_their_own(self):
        self.log("exact,base,on,64,readings", line("ethtool queues=1", 2000))
        self.log("exact,patched,on,64,readings", line("ethtool queues=1", 1000))
        self.assertEqual(self.report().returncode, 0)
        self.assertIn("| ethtool queues=1, 64 CPUs | 2000 | 1000 |  | 0.500 |", (self.out / "report.md").read_text())

    def test_least_of_a_test_that_ran_again(self):
        self.log("exact,base,on,1,all", line("udp6.local", 105), line("udp6.local", 100), line("udp6.local", 110))
        self.assertEqual(self.report().returncode, 0)
        self.assertEqual([r["value"] for r in json.loads((self.out / "results.json").read_text())], [100])

    def test_void_is_absent(self):
        self.log("exact,base,on,1,1", line("loop", 3), "test=udp6.local unit=cycles void=lost runs=1 loops=64\n")
        self.assertEqual(self.report().returncode, 0)
        self.assertNotIn("udp6.local", (self.out / "report.md").read_text())
        self.assertNotIn("udp6.local", (self.out / "results.json").read_text())

    def test_ratio_is_of_the_same_round(self):
        for turn, (base, patched) in enumerate(((100, 50), (1000, 700), (10, 6))):
            self.log(f"native,base,on,2,{turn}", line("proc.snmp", base))
            self.log(f"native,patched,on,2,{turn}", line("proc.snmp", patched))
        self.assertEqual(self.report().returncode, 0)
        self.assertIn("0.60 (0.50 to 0.70)", (self.out / "report.md").read_text())

    def test_readme_changes_between_its_marks_only(self):
        self.log("exact,base,on,1,1", line(FAST, 75.03))
        readme = self.out / "README.md"
        readme.write_text(f"before\n{MARKS[0]}old\n{MARKS[1]}after\n", encoding="utf-8")
        self.assertEqual(self.report(readme).returncode, 0)
        text = readme.read_text()
        self.assertTrue(text.startswith(f"before\n{MARKS[0]}## Measured"), text)
        self.assertTrue(text.endswith(f"{MARKS[1]}after\n"), text)
        self.assertIn("75.03", text)
        self.assertNotIn("old", text)

    def test_readme_without_marks_is_left_alone(self):
        readme = self.out / "README.md"
        readme.write_text("mine\n", encoding="utf-8")
        run = self.report(readme)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("lacks its marks", run.stderr)
        self.assertEqual(readme.read_text(), "mine\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
