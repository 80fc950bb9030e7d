#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Run all benchmarks of per-cpu statistics, one line per case. By default just
# long enough to see that they work; for figures give more runs, and more of
# everything on a machine that is big enough:
#
#   RUNS=15 LOOPS=100000 LINKS=3000 CONTAINERS=1000 ./bench_percpu_stats.sh
#
# Fails if a case did not measure what it means to. What cannot be there is
# not counted: DMA on a machine without, more CPUs than there are, statistics
# that are not compiled in.

cd "$(dirname "$0")" || exit 1
source ../../lib.sh

RUNS=${RUNS:-3}
LOOPS=${LOOPS:-1024}
LINKS=${LINKS:-10}
CONTAINERS=${CONTAINERS:-100}
ABSENT='no_dma|cpus|no_pools'

if [ "$(id -u)" -ne 0 ]; then
	echo "SKIP: needs root"
	exit "$ksft_skip"
fi
if [ ! -e modules/bench_percpu_stats.ko ]; then
	echo "SKIP: no module, build it with KDIR=/path/to/kernel"
	exit "$ksft_skip"
fi

results=$(mktemp)
trap 'rm -f "$results"' EXIT

module()
{
	local marker="bench_percpu_stats $$"

	echo "$marker" > /dev/kmsg
	insmod modules/bench_percpu_stats.ko "runs=$RUNS" "loops=$LOOPS" ||
		return
	rmmod bench_percpu_stats
	dmesg | sed "1,/$marker/d" | grep -o 'test=.*'
}

{
	module
	./stats_read -r "$RUNS" -l "$LINKS" -w 1
	./ethtool_stats -r "$RUNS"
	./udp6_packets -r "$RUNS"
	./container_create -n "$CONTAINERS"
} | tee "$results"

for test in loop page_pool fold dump proc ethtool udp6 container; do
	if ! grep -q "^test=$test" "$results"; then
		echo "FAIL: nothing from $test"
		exit "$ksft_fail"
	fi
done
if grep ' void=' "$results" | grep -q -v -E " void=($ABSENT) "; then
	echo "FAIL: some cases are void"
	exit "$ksft_fail"
fi

exit "$ksft_pass"
