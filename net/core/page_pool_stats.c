// SPDX-License-Identifier: GPL-2.0

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/ethtool.h>
#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/stddef.h>
#include <linux/string.h>

#include <net/netlink.h>
#include <net/page_pool/helpers.h>
#include <net/pcpu_fold.h>

#include <uapi/linux/netdev.h>

#include "page_pool_stats.h"

/* All system page pools count here. They are per-cpu already, per-cpu counters
 * of each would take memory for every pair of CPUs.
 */
static DEFINE_PER_CPU(struct page_pool_cpu_stats, page_pool_system_stats) = {
#if BITS_PER_LONG == 32
	.syncp.seq = SEQCNT_ZERO(page_pool_system_stats.syncp.seq),
#endif
};

static struct cpumask page_pool_system_cpus;

#define PAGE_POOL_STAT(_field)	\
	(offsetof(struct page_pool_stats, _field) / sizeof(u64))

/* What ethtool calls the counters, in the order of struct page_pool_stats and
 * of the netlink attributes.
 */
static const char page_pool_stat_names[][ETH_GSTRING_LEN] = {
	[PAGE_POOL_STAT(alloc_stats.fast)] = "rx_pp_alloc_fast",
	[PAGE_POOL_STAT(alloc_stats.slow)] = "rx_pp_alloc_slow",
	[PAGE_POOL_STAT(alloc_stats.slow_high_order)] = "rx_pp_alloc_slow_ho",
	[PAGE_POOL_STAT(alloc_stats.empty)] = "rx_pp_alloc_empty",
	[PAGE_POOL_STAT(alloc_stats.refill)] = "rx_pp_alloc_refill",
	[PAGE_POOL_STAT(alloc_stats.waive)] = "rx_pp_alloc_waive",
	[PAGE_POOL_STAT(recycle_stats.cached)] = "rx_pp_recycle_cached",
	[PAGE_POOL_STAT(recycle_stats.cache_full)] = "rx_pp_recycle_cache_full",
	[PAGE_POOL_STAT(recycle_stats.ring)] = "rx_pp_recycle_ring",
	[PAGE_POOL_STAT(recycle_stats.ring_full)] = "rx_pp_recycle_ring_full",
	[PAGE_POOL_STAT(recycle_stats.released_refcnt)] =
		"rx_pp_recycle_released_ref",
};

#define PAGE_POOL_STATS_NR	ARRAY_SIZE(page_pool_stat_names)

static_assert(PAGE_POOL_STATS_NR * sizeof(u64) ==
	      sizeof(struct page_pool_stats));
static_assert(NETDEV_A_PAGE_POOL_STATS_ALLOC_FAST + PAGE_POOL_STATS_NR - 1 ==
	      NETDEV_A_PAGE_POOL_STATS_RECYCLE_RELEASED_REFCNT);

/* On 64-bit, once for each counter of a CPU. On 32-bit always: a softirq which
 * counts on top of a task must not find a row half written, nor must a reader,
 * which would wait for the writer that it interrupted.
 */
void page_pool_stat_add_first(const struct page_pool *pool,
			      enum page_pool_stat stat, unsigned long n)
{
	struct page_pool_cpu_stats *stats;
	unsigned long flags;

	local_irq_save(flags);
	stats = this_cpu_ptr(pool->stats);
	if (!__this_cpu_read(pool->stats->row[stat]))
		pcpu_fold_mark_cpu(pool->stats_cpus);
	u64_stats_update_begin(&stats->syncp);
	__this_cpu_add(pool->stats->row[stat], n);
	u64_stats_update_end(&stats->syncp);
	local_irq_restore(flags);
}

static void page_pool_stats_add_words(const struct page_pool *pool,
				      struct page_pool_stats *stats)
{
	const struct pp_alloc_cache *alloc = &pool->alloc;
	unsigned int start;
	u64 fast, cached;

	do {
		start = u64_stats_fetch_begin(&alloc->syncp);
		fast = READ_ONCE(alloc->fast);
		cached = READ_ONCE(alloc->cached);
	} while (u64_stats_fetch_retry(&alloc->syncp, start));

	stats->alloc_stats.fast += fast;
	stats->recycle_stats.cached += cached;
}

/* Here and not by a fold, which adds up rows much longer than these. */
static void page_pool_stats_add_row(struct page_pool_stats *stats,
				    const u64 *row)
{
	struct page_pool_recycle_stats *recycle = &stats->recycle_stats;
	struct page_pool_alloc_stats *alloc = &stats->alloc_stats;

	alloc->slow += READ_ONCE(row[PP_STAT_ALLOC_SLOW]);
	alloc->slow_high_order += READ_ONCE(row[PP_STAT_ALLOC_SLOW_HIGH_ORDER]);
	alloc->empty += READ_ONCE(row[PP_STAT_ALLOC_EMPTY]);
	alloc->refill += READ_ONCE(row[PP_STAT_ALLOC_REFILL]);
	alloc->waive += READ_ONCE(row[PP_STAT_ALLOC_WAIVE]);
	recycle->cache_full += READ_ONCE(row[PP_STAT_RECYCLE_CACHE_FULL]);
	recycle->ring += READ_ONCE(row[PP_STAT_RECYCLE_RING]);
	recycle->ring_full += READ_ONCE(row[PP_STAT_RECYCLE_RING_FULL]);
	recycle->released_refcnt +=
		READ_ONCE(row[PP_STAT_RECYCLE_RELEASED_REFCNT]);
}

static void page_pool_stats_add_rows(const struct page_pool *pool,
				     struct page_pool_stats *stats)
{
	const struct cpumask *cpus = pool->stats_cpus;
	u64 sum[PP_STAT_NR] = {};
	int cpu;

	if (BITS_PER_LONG == 32) {
		pcpu_fold_u64_cpus(sum, pool->stats->row, PP_STAT_NR,
				   &pool->stats->syncp, cpus);
		page_pool_stats_add_row(stats, sum);
		return;
	}

	/* CPUs come into the mask meanwhile; pcpu_fold_mark_cpu() says why it
	 * does not matter.
	 */
	cpu = data_race(cpumask_first(cpus));
	while (cpu < nr_cpu_ids) {
		page_pool_stats_add_row(stats,
					per_cpu_ptr(pool->stats->row, cpu));
		/* as above */
		cpu = data_race(cpumask_next(cpu, cpus));
	}
}

bool __page_pool_get_stats_array(const void *queues, size_t size, size_t offset,
				 unsigned int n, struct page_pool_stats *stats)
{
	const struct page_pool *pool;
	bool found = false;
	unsigned int i;

	for (i = 0; i < n; i++) {
		pool = *(struct page_pool *const *)(queues + i * size + offset);
		if (!pool)
			continue;

		page_pool_stats_add_words(pool, stats);
		page_pool_stats_add_rows(pool, stats);
		found = true;
	}

	return found;
}
EXPORT_SYMBOL(__page_pool_get_stats_array);

/**
 * page_pool_get_stats() - add the statistics of a page pool to a sum
 * @pool:	page pool to read, NULL where a queue has none
 * @stats:	sum to add to, zeroed by the caller before the first call
 *
 * Deprecated where netlink can do the job: page pools linked to a netdev show
 * their statistics there one by one, without any code in the driver. This is
 * for a driver which reports totals, or whose page pools serve more than one
 * netdev. Call it once per page pool with the same @stats to get the sum, or
 * page_pool_get_stats_array() once for all.
 *
 * The page pool may be in use, the counters are then read while they change:
 * none of them is torn or ever goes back, and each has all events whose calls
 * have returned.
 * With CONFIG_PAGE_POOL_STATS=n this is a stub, so no caller needs an #ifdef.
 *
 * Context: Any context but NMI, does not sleep. The caller makes sure that
 *	    @pool is not destroyed meanwhile.
 * Return: true if the counters of @pool were added to @stats; false if there
 *	   is nothing to read, either because @pool is NULL or because the
 *	   kernel does not count, and @stats was left alone.
 */
bool page_pool_get_stats(const struct page_pool *pool,
			 struct page_pool_stats *stats)
{
	return __page_pool_get_stats_array(&pool, sizeof(pool), 0, 1, stats);
}
EXPORT_SYMBOL(page_pool_get_stats);

u8 *page_pool_ethtool_stats_get_strings(u8 *data)
{
	memcpy(data, page_pool_stat_names, sizeof(page_pool_stat_names));

	return data + sizeof(page_pool_stat_names);
}
EXPORT_SYMBOL(page_pool_ethtool_stats_get_strings);

int page_pool_ethtool_stats_get_count(void)
{
	return PAGE_POOL_STATS_NR;
}
EXPORT_SYMBOL(page_pool_ethtool_stats_get_count);

u64 *page_pool_ethtool_stats_get(u64 *data, const void *stats)
{
	memcpy(data, stats, sizeof(struct page_pool_stats));

	return data + PAGE_POOL_STATS_NR;
}
EXPORT_SYMBOL(page_pool_ethtool_stats_get);

int page_pool_stats_nl_put(struct sk_buff *rsp,
			   const struct page_pool_stats *stats)
{
	const u64 *values = (const u64 *)stats;
	unsigned int i;
	int err = 0;

	for (i = 0; i < PAGE_POOL_STATS_NR && !err; i++)
		err = nla_put_uint(rsp, NETDEV_A_PAGE_POOL_STATS_ALLOC_FAST + i,
				   values[i]);

	return err;
}

static int page_pool_stats_nl_put_cpu(struct sk_buff *rsp,
				      const struct page_pool *pool, int cpu)
{
	struct page_pool_stats stats = {};
	const u64 *values = (u64 *)&stats;
	u64 row[PP_STAT_NR] = {};
	struct nlattr *nest;
	unsigned int i;
	int err;

	pcpu_fold_u64_cpus(row, pool->stats->row, PP_STAT_NR,
			   &pool->stats->syncp, cpumask_of(cpu));
	page_pool_stats_add_row(&stats, row);

	nest = nla_nest_start(rsp, NETDEV_A_PAGE_POOL_STATS_CPU_STATS);
	if (!nest)
		return -EMSGSIZE;

	err = nla_put_u32(rsp, NETDEV_A_PAGE_POOL_STATS_CPU, cpu);
	for (i = 0; i < PAGE_POOL_STATS_NR && !err; i++) {
		/* These are words of the consumer */
		if (i == PAGE_POOL_STAT(alloc_stats.fast) ||
		    i == PAGE_POOL_STAT(recycle_stats.cached))
			continue;
		err = nla_put_uint(rsp, NETDEV_A_PAGE_POOL_STATS_ALLOC_FAST + i,
				   values[i]);
	}
	if (!err)
		nla_nest_end(rsp, nest);

	return err;
}

/* On an error the caller has to cancel the message. */
int page_pool_stats_nl_put_cpus(struct sk_buff *rsp,
				const struct page_pool *pool)
{
	int cpu, err;

	for_each_possible_cpu(cpu) {
		if (!cpumask_test_cpu(cpu, pool->stats_cpus))
			continue;
		err = page_pool_stats_nl_put_cpu(rsp, pool, cpu);
		if (err)
			return err;
	}

	return 0;
}

int page_pool_stats_init(struct page_pool *pool)
{
	int cpu;

	u64_stats_init(&pool->alloc.syncp);

	if (pool->slow.flags & PP_FLAG_SYSTEM_POOL) {
		pool->stats = &page_pool_system_stats;
		pool->stats_cpus = &page_pool_system_cpus;
		return 0;
	}

	pool->stats_cpus = kzalloc(cpumask_size(), GFP_KERNEL);
	if (!pool->stats_cpus)
		return -ENOMEM;

	pool->stats = alloc_percpu(struct page_pool_cpu_stats);
	if (!pool->stats) {
		kfree(pool->stats_cpus);
		return -ENOMEM;
	}

	if (BITS_PER_LONG == 32) {
		for_each_possible_cpu(cpu)
			u64_stats_init(&per_cpu_ptr(pool->stats, cpu)->syncp);
	}

	return 0;
}

void page_pool_stats_uninit(struct page_pool *pool)
{
	if (pool->stats == &page_pool_system_stats)
		return;

	free_percpu(pool->stats);
	kfree(pool->stats_cpus);
}
