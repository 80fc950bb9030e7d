# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Paths, messages and small checks that every script shares. It is also the first
# thing that runs on a new machine, so it may use git and Debian's essential packages.

set -Eeuo pipefail
# What nobody foresaw, said once, by the shell around all others.
trap '((BASH_SUBSHELL)) || printf "%s:%s: failed: %s\n" "${BASH_SOURCE[0]}" "$LINENO" "$BASH_COMMAND" >&2' ERR
export LC_ALL=C

say()
{
	printf '%s\n' "$*"
}

die()
{
	printf '%s: error: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# need <command>...: or say how to get it
need()
{
	local tool

	for tool; do
		command -v "$tool" >/dev/null ||
			die "$tool is missing; 'make setup' installs what is needed, or names it"
	done
}

command -v git >/dev/null || die "git is missing; install it first, on Debian: apt-get install git make"
# A git hook exports the repository it runs in; we work on others.
while read -r variable; do
	unset "$variable"
done < <(git rev-parse --local-env-vars)

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${BUILD:-$top/build}
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/linux-percpu-stats
# The checkout that compose makes and developers edit.
tree=$build/linux
export top build cache tree
# ccache where there is one (set-up installs it), set up to hit in any folder.
export CCACHE_DIR=$cache/ccache CCACHE_BASEDIR=$build CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=4G
cc=gcc
! command -v ccache >/dev/null || cc='ccache gcc'
export cc
# What the console of a healthy kernel does not say.
badness='Kernel panic|Oops|BUG:|WARNING:|Call Trace:|general protection|unreferenced object|UBSAN|INFO: (task|possible|suspicious|rcu)'
export badness
case $top in
*[[:space:],:\']*)
	printf 'error: the kernel cannot be built under %s: move this folder to a path without spaces, commas, colons and quotes\n' "$top" >&2
	exit 1 ;;
esac

# need_space <folder> <GiB> <what for>: refuse before the disk is full
need_space()
{
	local have

	mkdir -p "$1" || die "cannot create $1"
	have=$(df --output=avail -k "$1" | tail -n 1)
	[ $((have / 1048576)) -ge "$2" ] ||
		die "$3 needs $2 GiB in $1, and $((have / 1048576)) are free there"
}

# only_one <folder> <name>: a second run of the same step there waits for the first
only_one()
{
	mkdir -p "$1"
	exec {lock_fd}>"$1/.$2.lock"
	flock -n "$lock_fd" || {
		say "waiting for another '$2' in $1 to end"
		flock "$lock_fd"
	}
}

# mirror: the machine's own mirror of Debian's main archive, or nothing
mirror()
{
	apt-get indextargets --format "\$(LABEL) \$(REPO_URI)" 'Created-By: Packages' |
		sed -n 's/^Debian //p' | head -n 1
}
