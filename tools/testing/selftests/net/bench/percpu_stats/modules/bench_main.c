// SPDX-License-Identifier: GPL-2.0
/* Benchmarks of per-cpu statistics in networking, and of what they count.
 *
 * Each case prints one line, what one element cost in the run in the middle
 * and in the extremes:
 *
 *   test=page_pool.softirq.fast unit=cycles value=57.00 min=57.00 max=57.12
 *   runs=15 loops=1024 stats=on
 *
 * or, when what it means to measure did not happen, void=reason instead of
 * value, min and max. The cost of reading the clock has been taken off, that
 * of the loop has not, it is a case of its own.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/interrupt.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/timex.h>
#include <linux/vmalloc.h>

#include "bench.h"

static char *run = "page_pool,cross_cpu,fold";
module_param(run, charp, 0);
MODULE_PARM_DESC(run, "Which benchmarks: page_pool, cross_cpu, fold");

static bool cycles;
module_param(cycles, bool, 0);
MODULE_PARM_DESC(cycles, "Count get_cycles(), not nanoseconds");

unsigned int bench_loops = 1024;
module_param_named(loops, bench_loops, uint, 0);
MODULE_PARM_DESC(loops, "Elements of one run");

unsigned int bench_runs = 15;
module_param_named(runs, bench_runs, uint, 0);
MODULE_PARM_DESC(runs, "Runs of one case, 101 at most");

unsigned int bench_evict_mb = 64;
module_param_named(evict_mb, bench_evict_mb, uint, 0);
MODULE_PARM_DESC(evict_mb, "What to read for cold caches, twice the last level");

static u64 clock_cost;
static char *evict_buffer;

/* All figures are differences of this. With QEMU's -icount shift=0 the cycles
 * of an x86 guest are instructions.
 */
u64 bench_clock(void)
{
	return cycles ? get_cycles() : ktime_get_ns();
}

u64 bench_since(u64 start)
{
	u64 took = bench_clock() - start;

	return took > clock_cost ? took - clock_cost : 0;
}

static void bench_clock_calibrate(void)
{
	unsigned int i;

	clock_cost = 0;
	bench_since(bench_clock());
	for (i = 0; i < BENCH_RUNS_MAX; i++) {
		u64 took = bench_since(bench_clock());

		if (!i || took < clock_cost)
			clock_cost = took;
	}
}

/* Start right after a timer tick, so that a short run sees none. */
void bench_after_tick(void)
{
	unsigned long now = jiffies;

	while (!time_after(jiffies, now))
		cpu_relax();
}

/* Have other memory in the caches than that of the next run. */
void bench_evict(void)
{
	size_t size = (size_t)bench_evict_mb << 20;

	if (!evict_buffer)
		evict_buffer = vzalloc(size);
	if (evict_buffer)
		memset(evict_buffer, evict_buffer[0] + 1, size);
}

struct bench_softirq {
	struct tasklet_struct tasklet;
	struct completion done;
	void (*fn)(void *arg);
	void *arg;
};

static void bench_softirq_run(struct tasklet_struct *tasklet)
{
	struct bench_softirq *softirq = from_tasklet(softirq, tasklet, tasklet);

	softirq->fn(softirq->arg);
	complete(&softirq->done);
}

void bench_in_softirq(void (*fn)(void *arg), void *arg)
{
	struct bench_softirq softirq = { .fn = fn, .arg = arg };

	init_completion(&softirq.done);
	tasklet_setup(&softirq.tasklet, bench_softirq_run);
	tasklet_schedule(&softirq.tasklet);
	wait_for_completion(&softirq.done);
	tasklet_kill(&softirq.tasklet);
}

static int bench_cmp(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* Hundredths, rounded */
static u64 bench_per_element(const struct bench_case *bench, unsigned int run)
{
	u64 took = bench->took[run] * 100 + bench->loops / 2;

	return div_u64(took, bench->loops);
}

void bench_report(struct bench_case *bench)
{
	const char *stats = IS_ENABLED(CONFIG_PAGE_POOL_STATS) ? "on" : "off";
	const char *unit = cycles ? "cycles" : "ns";
	u64 min, mid, max;
	u32 a, b, c;

	if (!bench->invalid && !bench->runs)
		bench->invalid = "no_run";
	if (bench->invalid) {
		pr_info("test=%s unit=%s void=%s runs=%u loops=%u stats=%s\n",
			bench->test, unit, bench->invalid, bench->runs,
			bench->loops, stats);
		return;
	}

	sort(bench->took, bench->runs, sizeof(u64), bench_cmp, NULL);
	min = div_u64_rem(bench_per_element(bench, 0), 100, &a);
	mid = div_u64_rem(bench_per_element(bench, bench->runs / 2), 100, &b);
	max = div_u64_rem(bench_per_element(bench, bench->runs - 1), 100, &c);
	pr_info("test=%s unit=%s value=%llu.%02u min=%llu.%02u max=%llu.%02u runs=%u loops=%u stats=%s\n",
		bench->test, unit, mid, b, min, a, max, c, bench->runs,
		bench->loops, stats);
}

static void bench_loop(void)
{
	struct bench_case bench = { .test = "loop", .loops = bench_loops };
	unsigned int i;
	u64 start;

	for (; bench.runs < bench_runs; bench.runs++) {
		bench_after_tick();
		start = bench_clock();
		for (i = 0; i < bench_loops; i++)
			barrier();
		bench.took[bench.runs] = bench_since(start);
	}
	bench_report(&bench);
}

static int __init bench_init(void)
{
	if (!bench_runs || bench_runs > BENCH_RUNS_MAX || !bench_loops)
		return -EINVAL;

	bench_clock_calibrate();
	bench_loop();
	if (strstr(run, "page_pool"))
		bench_page_pool();
	if (strstr(run, "cross_cpu"))
		bench_cross_cpu();
	if (strstr(run, "fold"))
		bench_fold();
	vfree(evict_buffer);

	return 0;
}
module_init(bench_init);

static void __exit bench_exit(void)
{
}
module_exit(bench_exit);

MODULE_DESCRIPTION("Benchmarks of per-cpu statistics in networking");
MODULE_LICENSE("GPL");
