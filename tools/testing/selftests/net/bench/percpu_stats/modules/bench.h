/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_H
#define BENCH_H

#include <linux/types.h>

/* Runs of one case, an odd number has a middle one */
#define BENCH_RUNS_MAX	101

extern unsigned int bench_loops;
extern unsigned int bench_runs;
extern unsigned int bench_evict_mb;

/**
 * struct bench_case - the figures of one case
 * @test: its name
 * @loops: elements of each run, what one run took is divided by it
 * @runs: how many of @took are there
 * @invalid: why there is no figure, NULL if there is one
 * @took: clock units which each run took
 */
struct bench_case {
	const char *test;
	unsigned int loops;
	unsigned int runs;
	const char *invalid;
	u64 took[BENCH_RUNS_MAX];
};

u64 bench_clock(void);
u64 bench_since(u64 start);
void bench_after_tick(void);
void bench_evict(void);
void bench_in_softirq(void (*fn)(void *arg), void *arg);
void bench_report(struct bench_case *bench);

void bench_page_pool(void);
void bench_cross_cpu(void);
void bench_fold(void);

#endif /* BENCH_H */
