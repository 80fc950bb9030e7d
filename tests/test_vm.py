# SPDX-License-Identifier: GPL-2.0
"""What scripts/vm believes, with a QEMU that only pretends."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

VM = Path(__file__).resolve().parent.parent / "scripts/vm"
# vm starts QEMU in the guest's output folder and names the console file.
FAKE = """#!/bin/bash
for word; do case $word in file:*) console=${word#file:} ;; esac; done
echo 'Linux version 7.3.4' >$console
"""


class Verdict(unittest.TestCase):
    """A run passes on an explicit result, a clean console and an end in time."""

    def vm(self, guest, *options):
        with tempfile.TemporaryDirectory() as tmp:
            image = Path(tmp, "kernel/test/arch/x86/boot/bzImage")
            image.parent.mkdir(parents=True)
            image.touch()
            Path(tmp, "vm").mkdir()
            Path(tmp, "vm/accel").write_text("tcg\n", encoding="utf-8")
            qemu = Path(tmp, "qemu")
            qemu.write_text(FAKE + guest, encoding="utf-8")
            qemu.chmod(0o755)
            return subprocess.run([VM, *options, "--", "true"], capture_output=True, text=True, check=False,
                                  env=dict(os.environ, BUILD=tmp, QEMU=str(qemu)))

    def fails(self, run, words):
        self.assertNotEqual(run.returncode, 0)
        self.assertIn(words, run.stderr)

    def test_result_from_inside_passes(self):
        run = self.vm("echo 0 >result")
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_exit_code_is_the_command_s(self):
        self.assertEqual(self.vm("echo 4 >result").returncode, 4)

    def test_success_and_then_a_panic(self):
        self.fails(self.vm("echo 0 >result; echo 'Kernel panic - not syncing' >>$console"), "Kernel panic")

    def test_splat(self):
        self.fails(self.vm("echo 0 >result; echo 'WARNING: CPU: 0 at net/core' >>$console"), "WARNING")

    def test_silence(self):
        self.fails(self.vm("true"), "without a result")

    def test_time_out(self):
        self.fails(self.vm("echo 0 >result; sleep 9", "-s", "1"), "no end within 1 s")

    def test_qemu_that_cannot_start(self):
        self.fails(self.vm("exit 1"), "QEMU ended with 1")

    def test_no_kernel(self):
        self.fails(self.vm("true", "-k", "none"), "make build")


if __name__ == "__main__":
    unittest.main(verbosity=2)
