# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# A Debian root that has nothing but what it is given: made in 15 seconds, entered,
# removed. It is the folder $root, which the script that sources this sets. Needs root
# and mmdebstrap.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
root=

# bare_root <release> <packages, with commas>
bare_root()
{
	local from

	from=$(mirror)
	[ -n "$from" ] || die "this machine has no Debian mirror configured"
	remove_root
	mkdir -p "${root%/*}"
	mmdebstrap --quiet --variant=minbase --include="$2" "$1" "$root" "$from" >"${root%/*}/mmdebstrap.log" 2>&1 ||
		die "mmdebstrap failed: $(tail -n 2 "${root%/*}/mmdebstrap.log")"
	cp /etc/resolv.conf /etc/hosts "$root/etc/"
}

# enter <user> <command>: run it in $root, in mount and pid namespaces that end with it. Not by
# chroot, where the kernel refuses a user namespace to whoever wants one inside. In the
# background, since a shell hears of a signal only while it waits; unshare takes no other than KILL.
enter()
{
	# shellcheck disable=SC2016
	unshare --mount --pid --fork --kill-child bash -euc '
		mount --bind "$1" "$1"
		cd "$1"
		mount -t proc proc proc
		mount --rbind /sys sys
		mount --rbind /dev dev
		mkdir -p old
		pivot_root . old
		umount -l /old
		exec env -i PATH="$PATH" TERM=dumb su -l "$2" -c "$3"
	' enter "$root" "$@" </dev/null &
	wait $!
}

remove_root()
{
	cd "$top"
	rm -rf --one-file-system "$root"
}

[ "$(id -u)" -eq 0 ] || die "a root file system of its own needs root: try with sudo"
command -v mmdebstrap >/dev/null || die "mmdebstrap is missing: apt-get install mmdebstrap"
trap 'jobs -p | xargs -r kill -KILL; wait; [ -z "$root" ] || remove_root' EXIT
trap 'exit 130' INT TERM
