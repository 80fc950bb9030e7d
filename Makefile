# SPDX-License-Identifier: GPL-2.0

BASE ?= deb
SHELL := /bin/bash
.DEFAULT_GOAL := help
.NOTPARALLEL:

tree := build/linux
# The scripts know it for their tests only.
unexport BUILD
export PART FULL

help:			## this list
	@echo "Per-CPU statistics for Linux networking, as a patch series. Start with: make boot"
	@echo
	@sed -n 's/^\([a-z]*\):[^#]*## /\1\t/p' Makefile | expand -t 12
	@echo
	@echo "BASE=deb (Debian's newest 7.x source) or BASE=/path/to/linux; SETUP=no installs nothing"

setup:			## install the Debian packages that are missing (SETUP=no lists them)
	@scripts/setup $(extra)

fetch: setup		## get the base kernel once (UPDATE=1 looks for a newer one)
	@scripts/fetch "$(BASE)" $(if $(UPDATE),--update)

tree: fetch		## the kernel with our commits, in build/linux, to edit (FORCE=1 drops edits)
	@. build/base && scripts/compose . $(tree) "$$git" "$$commit" $(if $(FORCE),--force)

refresh:		## bring commits made in build/linux back into this repository
	@scripts/refresh . $(tree)

export: tree		## write the mails to netdev into build/export (SIGNOFF="Name <mail>")
	@scripts/export . $(tree) build/export $(if $(SIGNOFF),"$(SIGNOFF)")

build: tree		## build the patched kernel that boot and test use
	@scripts/build test $(tree) x86 stats selftest kunit

boot: build		## boot it: TCP between two virtio NICs, and their counters before and after
	@VERBOSE=1 scripts/vm -n boot -- scripts/guest-demo

shell: build		## a shell in the same guest, with the same two NICs; end it with exit
	@scripts/vm -n shell -s 86400 -i -- bash -i

bench: extra = bench
bench: tree		## base and patched kernel compared: build/bench/report.md (QUICK=1, KVM=1, README=1)
	@scripts/bench

selfcheck:		## the checks that need no kernel, in under 30 s
	@tests/run selfcheck

test: build		## everything: scripts, patches, KUnit and kselftests in guests
	@tests/run all

flavours: tree		## KUnit and kselftests on debug, KCSAN, RT and 32-bit kernels (four to build)
	@tests/run flavours

mutants: tree		## break the series in each way of tests/mutants: the named test must fail (NAME=)
	@tests/run mutants $(NAME)

compilers: tree		## the objects that the series touches, W=1, with gcc 12 and 14, clang 19, sparse (root)
	@scripts/compilers $(RELEASE)

fresh:			## the commands of the README as a newcomer on bare Debians (RELEASE=, PART=, FULL=1; root)
	@scripts/fresh $(RELEASE)

clean:			## remove build/ (the cache stays)
	rm -rf build

.PHONY: help setup fetch tree refresh export build boot shell bench selfcheck test flavours mutants compilers fresh clean
