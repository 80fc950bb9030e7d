// SPDX-License-Identifier: GPL-2.0
/* One CPU takes pages from a page pool, other CPUs give them back. */

#include <linux/bottom_half.h>
#include <linux/cache.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/ptr_ring.h>
#include <linux/sched.h>
#include <linux/string.h>

#include <net/page_pool/helpers.h>

#include "bench.h"

#define CROSS_CPUS	8
#define CROSS_SPINS	100

/* All pages which are under way fit into the pool's ring. */
#define CROSS_POOL_SIZE	1024
#define CROSS_QUEUE	(CROSS_POOL_SIZE / CROSS_CPUS / 2)

struct cross;

struct cross_worker {
	struct cross *cross;
	struct task_struct *task;
	struct ptr_ring queue;
	unsigned int sent;	/* written by the taker */
	unsigned int done ____cacheline_aligned_in_smp;
	unsigned int astray;
	u64 took;
};

struct cross {
	struct page_pool *pool;
	struct completion start;
	struct completion done;
	unsigned int pages;	/* for each CPU that gives back */
	unsigned int cpus;
	bool failed;
	struct cross_worker taker;
	struct cross_worker givers[CROSS_CPUS];
};

/* Let others run, there may be fewer CPUs than we believe. */
static void cross_pause(unsigned int *spins)
{
	if (++*spins < CROSS_SPINS) {
		cpu_relax();
		return;
	}
	*spins = 0;
	usleep_range(10, 20);
}

static unsigned int cross_take(struct cross *cross, struct cross_worker *giver)
{
	unsigned int i, budget = cross->pages - giver->sent;
	struct page *page;

	budget = min(budget, CROSS_QUEUE);
	for (i = 0; i < budget && !ptr_ring_full(&giver->queue); i++) {
		page = page_pool_alloc_pages(cross->pool, GFP_ATOMIC);
		if (!page) {
			WRITE_ONCE(cross->failed, true);
			break;
		}
		ptr_ring_produce(&giver->queue, page);
	}
	giver->sent += i;

	return i;
}

static void cross_take_all(struct cross_worker *worker)
{
	struct cross *cross = worker->cross;
	unsigned int i, took, spins = 0;

	while (worker->done < cross->pages * cross->cpus &&
	       !READ_ONCE(cross->failed)) {
		took = 0;
		local_bh_disable();
		for (i = 0; i < cross->cpus; i++)
			took += cross_take(cross, &cross->givers[i]);
		local_bh_enable();
		worker->done += took;
		if (took)
			cond_resched();
		else
			cross_pause(&spins);
	}
}

static unsigned int cross_give(struct page_pool *pool, struct ptr_ring *queue)
{
	struct page *page;
	unsigned int i;

	for (i = 0; i < CROSS_QUEUE; i++) {
		page = ptr_ring_consume(queue);
		if (!page)
			break;
		page_pool_put_page(pool, page, -1, false);
	}

	return i;
}

static void cross_give_all(struct cross_worker *worker)
{
	struct cross *cross = worker->cross;
	unsigned int gave, spins = 0;

	while (worker->done < cross->pages && !READ_ONCE(cross->failed)) {
		local_bh_disable();
		gave = cross_give(cross->pool, &worker->queue);
		local_bh_enable();
		worker->done += gave;
		if (gave)
			cond_resched();
		else
			cross_pause(&spins);
	}
}

static int cross_thread(void *arg)
{
	struct cross_worker *worker = arg;
	struct cross *cross = worker->cross;
	int cpu = raw_smp_processor_id();
	u64 start;

	wait_for_completion(&cross->start);
	start = bench_clock();
	if (worker == &cross->taker)
		cross_take_all(worker);
	else
		cross_give_all(worker);
	worker->took = bench_since(start);
	worker->astray = cpu != raw_smp_processor_id();
	complete(&cross->done);

	while (!kthread_should_stop()) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (!kthread_should_stop())
			schedule();
		__set_current_state(TASK_RUNNING);
	}

	return 0;
}

static int cross_start(struct cross *cross, struct cross_worker *worker,
		       unsigned int cpu)
{
	worker->cross = cross;
	worker->sent = 0;
	worker->done = 0;
	worker->task = kthread_run_on_cpu(cross_thread, worker, cpu,
					  "bench_cross/%u");

	return PTR_ERR_OR_ZERO(worker->task);
}

/* The taker runs on the first CPU, the others follow. */
static unsigned int cross_start_all(struct cross *cross)
{
	unsigned int started = 0;
	int cpu;

	for_each_online_cpu(cpu) {
		struct cross_worker *worker = started ?
			&cross->givers[started - 1] : &cross->taker;

		if (started > cross->cpus || cross_start(cross, worker, cpu))
			break;
		started++;
	}

	return started;
}

static void cross_drain(struct cross *cross)
{
	unsigned int i;

	local_bh_disable();
	for (i = 0; i < cross->cpus; i++)
		cross_give(cross->pool, &cross->givers[i].queue);
	local_bh_enable();
}

static const char *cross_check(const struct cross *cross, u32 released)
{
	unsigned int i;

	if (cross->failed)
		return "no_page";
	if (cross->taker.astray || cross->taker.done !=
	    cross->pages * cross->cpus)
		return "taker";
	for (i = 0; i < cross->cpus; i++)
		if (cross->givers[i].astray ||
		    cross->givers[i].done != cross->pages)
			return "giver";
	if (released != atomic_read(&cross->pool->pages_state_release_cnt))
		return "released";

	return NULL;
}

/* Time for one page, as a CPU sees it that gives back, average of these CPUs */
static const char *cross_run(struct cross *cross, u64 *took)
{
	u32 released = atomic_read(&cross->pool->pages_state_release_cnt);
	unsigned int i, started;

	reinit_completion(&cross->start);
	init_completion(&cross->done);
	started = cross_start_all(cross);
	cross->failed = started != cross->cpus + 1;

	complete_all(&cross->start);
	for (i = 0; i < started; i++)
		wait_for_completion(&cross->done);
	for (i = 0; i < started; i++)
		kthread_stop(i ? cross->givers[i - 1].task :
				 cross->taker.task);
	cross_drain(cross);

	*took = 0;
	for (i = 0; i < cross->cpus; i++)
		*took += cross->givers[i].took;
	*took = div_u64(*took, cross->cpus);

	return cross_check(cross, released);
}

static const char *cross_bench(struct cross *cross, struct bench_case *bench)
{
	struct page_pool_params params = {
		.pool_size	= CROSS_POOL_SIZE,
		.nid		= NUMA_NO_NODE,
		.dma_dir	= DMA_BIDIRECTIONAL,
	};
	const char *invalid = NULL;
	unsigned int i;

	if (num_online_cpus() <= cross->cpus)
		return "cpus";

	cross->pool = page_pool_create(&params);
	if (IS_ERR(cross->pool))
		return "no_pool";

	for (i = 0; i < cross->cpus && !invalid; i++)
		if (ptr_ring_init(&cross->givers[i].queue, CROSS_QUEUE,
				  GFP_KERNEL))
			invalid = "no_queue";
	cross->pages = bench->loops;
	init_completion(&cross->start);

	for (i = 0; i <= bench_runs && !invalid; i++) {
		/* The first one warms up. */
		bench->runs = i;
		invalid = cross_run(cross, &bench->took[i ? i - 1 : 0]);
	}

	for (i = 0; i < cross->cpus; i++)
		ptr_ring_cleanup(&cross->givers[i].queue, NULL);
	page_pool_destroy(cross->pool);

	return invalid;
}

void bench_cross_cpu(void)
{
	static const unsigned int cpus[] = { 4, CROSS_CPUS };
	static struct cross cross;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cpus); i++) {
		static struct bench_case bench;
		char name[64];

		memset(&bench, 0, sizeof(bench));
		memset(&cross, 0, sizeof(cross));
		snprintf(name, sizeof(name), "page_pool.cross_cpu.%u", cpus[i]);
		cross.cpus = cpus[i];
		bench.test = name;
		bench.loops = bench_loops * CROSS_CPUS;
		bench.invalid = cross_bench(&cross, &bench);
		bench_report(&bench);
	}
}
