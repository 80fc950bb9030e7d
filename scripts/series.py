# SPDX-License-Identifier: GPL-2.0
"""The series: its file, the commits it stands for, and the way back.

A commit is built in a private index, never in the work tree, so nothing that
fails or is interrupted can leave a half composed kernel behind.
"""
import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

IDENT = "linux-percpu-stats"
EPOCH = 1767225600  # fixed dates make the ids of composed commits reproducible
COMPOSED = "refs/composed/tip"
COMPOSED_BASE = "refs/composed/base"
# New files that do not stand here under their kernel path.
LOCAL = {"net/core/Kconfig": "Kconfig"}
LINE = re.compile(r"\[(?P<tag>[a-z0-9_]+)\] (?P<patch>\d{4}-\S+\.patch)(?P<files>( \S+)*)$")


# A git hook exports the repository it runs in; we work on another one.
LOCAL_ENV = subprocess.run(["git", "rev-parse", "--local-env-vars"], capture_output=True,
                           text=True, check=True).stdout.split()


class SeriesError(Exception):
    """Something the user can mend; the text says how."""


class Entry(NamedTuple):
    """One series line, one commit."""
    tag: str
    patch: str
    files: list


class Message(NamedTuple):
    """A patch taken apart."""
    subject: str
    body: str
    hunks: str


class Git:
    """git on the kernel tree, with an index of our own where one is given."""

    def __init__(self, tree, index=None):
        self.tree = Path(tree)
        self.env = dict(os.environ, LC_ALL="C", GIT_CONFIG_GLOBAL="/dev/null",
                        GIT_AUTHOR_NAME=IDENT, GIT_AUTHOR_EMAIL="",
                        GIT_COMMITTER_NAME=IDENT, GIT_COMMITTER_EMAIL="")
        for name in LOCAL_ENV:
            self.env.pop(name, None)
        if index:
            self.env["GIT_INDEX_FILE"] = str(index)

    def raw(self, *args, data=b"", env=None):
        """Run git; return its output as bytes, or raise SeriesError."""
        run = subprocess.run(["git", "-C", self.tree, *args], input=data,
                             env={**self.env, **(env or {})},
                             capture_output=True, check=False)
        if run.returncode:
            raise SeriesError(run.stderr.decode(errors="replace").strip() or
                              f"git {args[0]} ended with {run.returncode}")
        return run.stdout

    def __call__(self, *args, data=b"", env=None):
        return self.raw(*args, data=data, env=env).decode().rstrip("\n")

    def names(self, *args):
        """The paths a git command with -z prints."""
        return [n for n in self.raw(*args).decode().split("\0") if n]

    def blob(self, rev, path):
        """A file's text at a commit or, with an empty rev, in the index."""
        return self.raw("show", f"{rev}:{path}").decode()


def local(path):
    """Where a new kernel file stands in this repository."""
    return LOCAL.get(path, path)


def parse(top):
    """Read and check the series file."""
    entries, owner = [], {}
    text = (top / "series").read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        match = LINE.match(line)
        if not match:
            raise SeriesError(f"series:{number}: want '[tag] NNNN-slug.patch new files...', got: {line}")
        entry = Entry(match["tag"], match["patch"], match["files"].split())
        if not (top / "patches" / entry.patch).is_file():
            raise SeriesError(f"series:{number}: patches/{entry.patch} is missing")
        for path in entry.files:
            if path != "MAINTAINERS" and path in owner:
                raise SeriesError(f"series:{number}: {path} is already added by {owner[path]}; "
                                  "name it once, where it first appears")
            if not (top / local(path)).is_file():
                raise SeriesError(f"series:{number}: {local(path)} is missing")
            owner[path] = entry.patch
        entries.append(entry)
    listed = [e.patch for e in entries]
    if listed != sorted(set(listed)):
        raise SeriesError("series: the patch numbers are not in order or not unique")
    for stray in sorted({p.name for p in (top / "patches").glob("*.patch")} - set(listed)):
        raise SeriesError(f"patches/{stray} is in no series line; name it in series or remove it")
    return entries


def read_patch(path):
    """Split a patch into subject, body and hunks the way git am would."""
    with tempfile.TemporaryDirectory() as tmp:
        body, hunks = Path(tmp, "body"), Path(tmp, "hunks")
        run = subprocess.run(["git", "mailinfo", "--encoding=UTF-8", body, hunks],
                             input=path.read_bytes(), capture_output=True, check=False)
        subject = re.search(r"^Subject: (.+)$", run.stdout.decode(), re.M)
        if run.returncode or not subject:
            raise SeriesError(f"{path.name}: no 'Subject:' line; a patch is subject, message, '---', hunks")
        text = hunks.read_text(encoding="utf-8")
        start = re.search(r"^diff --git ", text, re.M)
        lost = (text[:start.start()] if start else text).replace("---", "", 1).strip()
        if lost:
            raise SeriesError(f"{path.name}: refresh would lose what stands below '---', "
                              f"put it into the message: {lost.splitlines()[0]}")
        return Message(subject[1], body.read_text(encoding="utf-8").strip("\n"),
                       text[start.start():] if start else "")


def touched(hunks):
    """The paths that a patch's hunks change."""
    return set(re.findall(r"^diff --git a/\S+ b/(\S+)$", hunks, re.M))


def sections(text):
    """The entries of a MAINTAINERS file as {title: text}."""
    _, _, entries = text.rpartition("\nMaintainers List\n")
    return {block.split("\n", 1)[0]: block.rstrip("\n") + "\n"
            for block in re.split(r"\n\n+", entries.lstrip("\n"))
            if re.search(r"^[A-Z]:\t", block, re.M)}


def merge_maintainers(text, ours):
    """Insert our sections into the kernel's file, in its order."""
    for title, section in sorted(ours.items()):
        later = [t for t in sections(text) if t > title and t != "THE REST"]
        place = f"\n\n{min(later)}\n" if later else "\n\nTHE REST\n"
        head, found, tail = text.partition(place)
        if not found:
            raise SeriesError(f"MAINTAINERS: no place for {title!r} in the kernel's file")
        text = f"{head}\n\n{section.rstrip()}{found}{tail}"
    return text


def ready_sections(git, top, there):
    """Our MAINTAINERS sections whose files have all been added by now."""
    ours = sections((top / "MAINTAINERS").read_text(encoding="utf-8"))
    return {t: s for t, s in ours.items() if t not in there and
            all(git("ls-files", "--", p.rstrip("/"))
                for p in re.findall(r"^F:\t(\S+)", s, re.M))}


def put(git, path, data, mode="100644"):
    """Place a file into the index."""
    blob = git("hash-object", "-w", "--stdin", data=data)
    git("update-index", "--add", "--cacheinfo", f"{mode},{blob},{path}")


def add_new_file(git, top, path, later):
    """Place a new file in the state it had before the later patches."""
    if git("ls-files", "--", path):
        raise SeriesError(f"{path} is listed as new, but the base kernel has it")
    source = top / local(path)
    put(git, path, source.read_bytes(), "100755" if os.access(source, os.X_OK) else "100644")
    for name, message in reversed(later):
        if path in touched(message.hunks):
            try:
                git("apply", "--cached", "-R", f"--include={path}", "-", data=message.hunks.encode())
            except SeriesError as error:
                raise SeriesError(f"{local(path)} cannot be rewound through {name}:\n{error}\n"
                                  "The file here must be its final state.") from error


def apply_hunks(git, name, message, base):
    """Apply a patch to the index, without fuzz."""
    try:
        git("apply", "--cached", "--whitespace=nowarn", "-", data=message.hunks.encode())
    except SeriesError as error:
        raise SeriesError(
            f"patches/{name} does not apply to {base}:\n{error}\n"
            "To carry the series to another kernel, compose it on the one it was written for, then\n"
            "  cd build/linux && git fetch <that kernel> && git rebase --onto FETCH_HEAD base\n"
            "  git branch -f base FETCH_HEAD && cd ../.. && make refresh") from error


def compose(top, tree, base="base"):
    """Make the commits of the series; return [(entry, commit)]. The work tree is not touched."""
    entries = parse(top)
    patches = [(e.patch, read_patch(top / "patches" / e.patch)) for e in entries]
    commits, parent = [], Git(tree)("rev-parse", "--verify", f"{base}^{{commit}}")
    describe = Git(tree)("show", "-s", "--format=%s", parent)
    with tempfile.TemporaryDirectory() as tmp:
        git = Git(tree, Path(tmp, "index"))
        git("read-tree", parent)
        for i, entry in enumerate(entries):
            name, message = patches[i]
            if message.hunks:
                apply_hunks(git, name, message, describe)
            for path in entry.files:
                if path != "MAINTAINERS":
                    add_new_file(git, top, path, patches[i + 1:])
            if "MAINTAINERS" in entry.files:
                text = git.blob("", "MAINTAINERS")
                ours = ready_sections(git, top, sections(text))
                put(git, "MAINTAINERS", merge_maintainers(text, ours).encode())
            date = f"{EPOCH + 60 * i} +0000"
            parent = git("commit-tree", git("write-tree"), "-p", parent, "-F", "-",
                         data=f"{message.subject}\n\n{message.body}".strip().encode() + b"\n",
                         env={"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date})
            commits.append((entry, parent))
    return commits


def tip(commits, git, base="base"):
    """The last composed commit, or the base where the series is empty."""
    return commits[-1][1] if commits else git("rev-parse", base)
