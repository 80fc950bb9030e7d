// SPDX-License-Identifier: GPL-2.0
/* What it costs to take a page from a page pool and to give it back. */

#include <linux/device.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/platform_device.h>
#include <linux/string.h>

#include <net/page_pool/helpers.h>

#include "bench.h"

#define POOL_SIZE	1024
#define POOL_BULK	16
/* Fragments of one page */
#define FRAGS		2

/* As many fragments on their way as a NAPI poll may have packets */
#define FRAGS_IN_FLIGHT	64

/* The ways that a page can go back */
enum pool_way {
	POOL_CACHE,	/* to the consumer's own cache, directly */
	POOL_RING,	/* to the ptr_ring, as from another context */
	POOL_RELEASE,	/* to the page allocator, someone else has it too */
};

enum pool_device {
	POOL_NONE,	/* nothing is mapped */
	POOL_COHERENT,	/* mapped, no sync is ever needed */
	POOL_SYNC,	/* each page must be synced for the device */
	POOL_DEVICES
};

struct pool_case {
	const char *name;
	enum pool_way way;
	enum pool_device device;
	unsigned int per_page;
	unsigned int (*run)(struct page_pool *pool, unsigned int loops);
};

struct pool_counts {
	u32 held;
	u32 released;
	u64 taken;
	u64 cached;
	u64 ring;
	u64 released_refcnt;
};

struct pool_run {
	const struct pool_case *what;
	struct page_pool *pool;
	struct bench_case bench;
};

static unsigned int pool_fast(struct page_pool *pool, unsigned int loops)
{
	struct page *page;
	unsigned int i;

	for (i = 0; i < loops; i++) {
		page = page_pool_alloc_pages(pool, GFP_ATOMIC);
		if (!page)
			break;
		page_pool_recycle_direct(pool, page);
	}

	return i;
}

static unsigned int pool_ptr_ring(struct page_pool *pool, unsigned int loops)
{
	struct page *page;
	unsigned int i;

	for (i = 0; i < loops; i++) {
		page = page_pool_alloc_pages(pool, GFP_ATOMIC);
		if (!page)
			break;
		page_pool_put_page(pool, page, -1, false);
	}

	return i;
}

static unsigned int pool_slow(struct page_pool *pool, unsigned int loops)
{
	struct page *page;
	unsigned int i;

	for (i = 0; i < loops; i++) {
		page = page_pool_alloc_pages(pool, GFP_ATOMIC);
		if (!page)
			break;
		get_page(page); /* makes the pool let go of it */
		page_pool_put_page(pool, page, -1, false);
		put_page(page);
	}

	return i;
}

static unsigned int pool_bulk(struct page_pool *pool, unsigned int loops)
{
	netmem_ref bulk[POOL_BULK];
	unsigned int done, i;

	for (done = 0; done < loops; done += i) {
		for (i = 0; i < POOL_BULK; i++) {
			bulk[i] = page_pool_alloc_netmems(pool, GFP_ATOMIC);
			if (!bulk[i])
				break;
		}
		page_pool_put_netmem_bulk(bulk, i);
		if (i < POOL_BULK)
			break;
	}

	return done;
}

static unsigned int pool_frag(struct page_pool *pool, unsigned int loops,
			      bool direct)
{
	struct page *pages[FRAGS_IN_FLIGHT];
	unsigned int done, i, offset, taken;

	for (done = 0; done < loops; done += taken) {
		for (i = 0; i < FRAGS_IN_FLIGHT; i++) {
			pages[i] = page_pool_alloc_frag(pool, &offset,
							PAGE_SIZE / FRAGS,
							GFP_ATOMIC);
			if (!pages[i])
				break;
		}
		taken = i;
		for (i = 0; i < taken; i++)
			page_pool_put_page(pool, pages[i], -1, direct);
		if (taken < FRAGS_IN_FLIGHT)
			break;
	}

	return done;
}

static unsigned int pool_frag_fast(struct page_pool *pool, unsigned int loops)
{
	return pool_frag(pool, loops, true);
}

static unsigned int pool_frag_ring(struct page_pool *pool, unsigned int loops)
{
	return pool_frag(pool, loops, false);
}

static const struct pool_case pool_cases[] = {
	{ "fast",	   POOL_CACHE,	 POOL_NONE, 1, pool_fast },
	{ "ptr_ring",	   POOL_RING,	 POOL_NONE, 1, pool_ptr_ring },
	{ "slow",	   POOL_RELEASE, POOL_NONE, 1, pool_slow },
	{ "bulk",	   POOL_RING,	 POOL_NONE, 1, pool_bulk },
	{ "frag_fast",	   POOL_CACHE,	 POOL_NONE, FRAGS, pool_frag_fast },
	{ "frag_ptr_ring", POOL_RING,	 POOL_NONE, FRAGS, pool_frag_ring },
	{ "dma_fast",	   POOL_CACHE,	 POOL_COHERENT, 1, pool_fast },
	{ "dma_ptr_ring",  POOL_RING,	 POOL_COHERENT, 1, pool_ptr_ring },
	{ "dma_slow",	   POOL_RELEASE, POOL_COHERENT, 1, pool_slow },
	{ "sync_fast",	   POOL_CACHE,	 POOL_SYNC, 1, pool_fast },
	{ "sync_ptr_ring", POOL_RING,	 POOL_SYNC, 1, pool_ptr_ring },
	{ "sync_slow",	   POOL_RELEASE, POOL_SYNC, 1, pool_slow },
	{ "sync_bulk",	   POOL_RING,	 POOL_SYNC, 1, pool_bulk },
};

static void pool_count(const struct page_pool *pool, struct pool_counts *counts)
{
#ifdef CONFIG_PAGE_POOL_STATS
	struct page_pool_stats stats = {};

	page_pool_get_stats(pool, &stats);
	counts->taken = stats.alloc_stats.fast + stats.alloc_stats.slow +
			stats.alloc_stats.refill;
	counts->cached = stats.recycle_stats.cached;
	counts->ring = stats.recycle_stats.ring;
	counts->released_refcnt = stats.recycle_stats.released_refcnt;
#endif
	counts->held = pool->pages_state_hold_cnt;
	counts->released = atomic_read(&pool->pages_state_release_cnt);
}

/* Where did the pages of a run go? Only the last page of a batch of fragments
 * is one that the pool itself has the last reference to, and always caches.
 */
static const char *pool_check(const struct pool_case *what, unsigned int pages,
			      const struct pool_counts *before,
			      const struct pool_counts *after)
{
	u64 cached = after->cached - before->cached;
	u64 ring = after->ring - before->ring;

	if (after->released - before->released !=
	    (what->way == POOL_RELEASE ? pages : 0))
		return "released";
	if (what->way != POOL_RELEASE && after->held != before->held)
		return "new_pages";

	if (!IS_ENABLED(CONFIG_PAGE_POOL_STATS))
		return NULL;
	if (after->taken - before->taken != pages)
		return "taken";
	if (after->released_refcnt - before->released_refcnt !=
	    (what->way == POOL_RELEASE ? pages : 0))
		return "released_refcnt";
	if (what->way == POOL_CACHE && cached != pages)
		return "cached";
	if (what->way == POOL_RING &&
	    (cached + ring != pages ||
	     cached > pages * FRAGS / FRAGS_IN_FLIGHT))
		return "ring";
	return NULL;
}

/* Without statistics, and without a look inside: the cache is a stack, so a
 * page which went there is the next one to come. The ring is a queue, with
 * the pages of the warm-up before ours; some rounds ensure that the cache has
 * some left, too.
 */
static const char *pool_probe(const struct pool_case *what,
			      struct page_pool *pool)
{
	bool direct = what->way == POOL_CACHE;
	struct page *page, *before = NULL;
	unsigned int i;
	bool same;

	for (i = 0; i < 8; i++) {
		page = page_pool_alloc_pages(pool, GFP_ATOMIC);
		if (!page)
			return "no_page";
		page_pool_put_page(pool, page, -1, direct);
		same = page == before;
		if (i >= 6 && same != direct)
			return "way";
		before = page;
	}

	return NULL;
}

static void pool_warm_up(void *arg)
{
	struct pool_run *run = arg;

	run->what->run(run->pool, run->bench.loops);
	run->bench.invalid = pool_probe(run->what, run->pool);
	run->what->run(run->pool, run->bench.loops);
}

static void pool_run_once(void *arg)
{
	struct pool_run *run = arg;
	struct bench_case *bench = &run->bench;
	struct pool_counts before = {}, after = {};
	unsigned int done;
	u64 start, took;

	pool_count(run->pool, &before);
	bench_after_tick();
	start = bench_clock();
	done = run->what->run(run->pool, bench->loops);
	took = bench_since(start);
	pool_count(run->pool, &after);

	if (done != bench->loops)
		bench->invalid = "no_page";
	else
		bench->invalid = pool_check(run->what,
					    done / run->what->per_page,
					    &before, &after);
	bench->took[bench->runs++] = took;
}

static struct page_pool *pool_create(const struct pool_case *what,
				     struct device *dev)
{
	struct page_pool_params params = {
		.pool_size	= POOL_SIZE,
		.nid		= NUMA_NO_NODE,
		.dev		= dev,
		.dma_dir	= DMA_BIDIRECTIONAL,
		.max_len	= PAGE_SIZE,
	};
	bool sync = what->device == POOL_SYNC;

	if (!dev)
		return page_pool_create(&params);

	if (!IS_ENABLED(CONFIG_HAS_DMA) || dma_dev_need_sync(dev) != sync)
		return ERR_PTR(-EOPNOTSUPP);
	params.flags = PP_FLAG_DMA_MAP | PP_FLAG_DMA_SYNC_DEV;

	return page_pool_create(&params);
}

static void pool_run_all(struct pool_run *run, bool softirq)
{
	struct bench_case *bench = &run->bench;
	unsigned int i;

	for (i = 0; i <= bench_runs && !bench->invalid; i++) {
		void (*fn)(void *arg) = i ? pool_run_once : pool_warm_up;

		if (softirq)
			bench_in_softirq(fn, run);
		else
			fn(run);
	}
}

static void pool_bench(const struct pool_case *what, struct device *dev,
		       bool softirq)
{
	static struct pool_run run;
	static char name[64];

	snprintf(name, sizeof(name), "page_pool.%s.%s",
		 softirq ? "softirq" : "process", what->name);
	memset(&run, 0, sizeof(run));
	run.what = what;
	run.bench.test = name;
	run.bench.loops = bench_loops;

	run.pool = pool_create(what, dev);
	if (IS_ERR(run.pool)) {
		run.bench.invalid = PTR_ERR(run.pool) == -EOPNOTSUPP ?
				    "no_dma" : "no_pool";
	} else {
		pool_run_all(&run, softirq);
		page_pool_destroy(run.pool);
	}
	bench_report(&run.bench);
}

static struct platform_device *pool_device(enum pool_device kind)
{
	struct platform_device *pdev;

	pdev = platform_device_register_simple("bench_percpu_stats", kind,
					       NULL, 0);
	if (IS_ERR(pdev))
		return pdev;

	if (kind == POOL_COHERENT)
		dev_set_dma_coherent(&pdev->dev);
	dma_coerce_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (kind == POOL_SYNC)
		dma_reset_need_sync(&pdev->dev);

	return pdev;
}

void bench_page_pool(void)
{
	struct device *devs[POOL_DEVICES] = {};
	struct platform_device *pdev;
	unsigned int i;

	for (i = POOL_COHERENT; i < POOL_DEVICES; i++) {
		pdev = pool_device(i);
		if (IS_ERR(pdev)) {
			pr_err("no device: %ld\n", PTR_ERR(pdev));
			goto out;
		}
		devs[i] = &pdev->dev;
	}

	for (i = 0; i < ARRAY_SIZE(pool_cases); i++) {
		pool_bench(&pool_cases[i], devs[pool_cases[i].device], true);
		pool_bench(&pool_cases[i], devs[pool_cases[i].device], false);
	}

out:
	for (i = POOL_COHERENT; i < POOL_DEVICES; i++) {
		if (devs[i])
			platform_device_unregister(to_platform_device(devs[i]));
	}
}
