# SPDX-License-Identifier: GPL-2.0
"""What netdev asks of every patch that can be seen without a kernel."""
import collections
import re
import sys
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / "scripts"))
from series import parse, read_patch, touched  # noqa: E402 pylint: disable=wrong-import-position

ENTRIES = parse(TOP)
MESSAGES = {e.patch: read_patch(TOP / "patches" / e.patch) for e in ENTRIES}
# KUnit tests look inside the code and change with it; kselftests do not.
TESTS = re.compile(r"^tools/testing/selftests/")
SHARED = re.compile(r"^MAINTAINERS$|^Documentation/")


class Patches(unittest.TestCase):
    """maintainer-netdev.rst and submitting-patches.rst, to the letter."""

    def each(self, rule):
        """Apply a rule to every patch, naming the one that breaks it."""
        for entry in ENTRIES:
            with self.subTest(patch=entry.patch):
                rule(entry, MESSAGES[entry.patch])

    def test_subject(self):
        def rule(_, message):
            self.assertLessEqual(len(message.subject), 75)
            self.assertRegex(message.subject, r"^[\w/ -]+: (\w+: )?\S.*[^.]$")
        self.each(rule)

    def test_subjects_are_unique(self):
        count = collections.Counter(m.subject for m in MESSAGES.values())
        self.assertEqual([s for s, n in count.items() if n > 1], [])

    def test_body_explains_in_75_columns(self):
        def rule(_, message):
            self.assertGreater(len(message.body.split()), 10)
            prose = [l for l in message.body.split("\n") if not re.match(r"(Fixes|Link|Closes): |\s", l)]
            self.assertEqual([l for l in prose if len(l) > 75], [])
            self.assertNotRegex(message.body, r"(?i)this patch")
        self.each(rule)

    def test_nobody_has_signed_off(self):
        def rule(_, message):
            self.assertNotRegex(message.body, r"(?m)^(Signed-off|Co-developed|Assisted)-by:")
        self.each(rule)

    def test_fixes_line_is_first_trailer_and_well_formed(self):
        def rule(entry, message):
            lines = re.findall(r"(?m)^Fixes: .*$", message.body)
            if entry.tag == "fixes":
                self.assertTrue(lines, "a fix names what it fixes")
            for line in lines:
                self.assertRegex(line, r'^Fixes: ([0-9a-f]{12,40} \(".+"\)|<to be filled by the poster>)$')
        self.each(rule)

    def test_code_and_selftests_are_separate_commits(self):
        def rule(entry, message):
            paths = {p for p in touched(message.hunks) | set(entry.files) if not SHARED.search(p)}
            kinds = {bool(TESTS.search(p)) for p in paths}
            self.assertLessEqual(len(kinds), 1, f"mixes tests and code: {sorted(paths)}")
        self.each(rule)

    def test_a_series_of_more_than_two_has_a_cover_letter(self):
        for tag, count in collections.Counter(e.tag for e in ENTRIES).items():
            if count > 2:
                cover = TOP / f"patches/cover-{tag}.txt"
                self.assertTrue(cover.is_file(), cover)
                self.assertEqual([l for l in cover.read_text().split("\n") if len(l) > 75], [])

    def test_a_posted_series_is_in_one_piece_and_at_most_15(self):
        tags = [e.tag for e in ENTRIES]
        for tag, count in collections.Counter(tags).items():
            self.assertLessEqual(count, 15, tag)
            first = tags.index(tag)
            self.assertEqual(set(tags[first:first + count]), {tag})


if __name__ == "__main__":
    unittest.main(verbosity=2)
