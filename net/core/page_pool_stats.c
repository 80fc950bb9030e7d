// SPDX-License-Identifier: GPL-2.0

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/ethtool.h>
#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/seqlock.h>
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

/* What user space sees of a counter. The values in struct page_pool_stats are
 * an array to us; that each field has its place in it is checked here.
 */
struct page_pool_stat_desc {
	char name[ETH_GSTRING_LEN];
	u16 attr;
};

#define PAGE_POOL_STAT(_id, _name, _field)				\
	[PP_STAT_ ## _id] = {						\
		.name = "rx_pp_" _name,					\
		.attr = NETDEV_A_PAGE_POOL_STATS_ ## _id +		\
			BUILD_BUG_ON_ZERO(offsetof(struct page_pool_stats, \
						   _field) !=		\
					  PP_STAT_ ## _id * sizeof(u64)), \
	}

static const struct page_pool_stat_desc page_pool_stat_descs[] = {
	PAGE_POOL_STAT(ALLOC_FAST, "alloc_fast", alloc_stats.fast),
	PAGE_POOL_STAT(ALLOC_SLOW, "alloc_slow", alloc_stats.slow),
	PAGE_POOL_STAT(ALLOC_SLOW_HIGH_ORDER, "alloc_slow_ho",
		       alloc_stats.slow_high_order),
	PAGE_POOL_STAT(ALLOC_EMPTY, "alloc_empty", alloc_stats.empty),
	PAGE_POOL_STAT(ALLOC_REFILL, "alloc_refill", alloc_stats.refill),
	PAGE_POOL_STAT(ALLOC_WAIVE, "alloc_waive", alloc_stats.waive),
	PAGE_POOL_STAT(RECYCLE_CACHED, "recycle_cached", recycle_stats.cached),
	PAGE_POOL_STAT(RECYCLE_CACHE_FULL, "recycle_cache_full",
		       recycle_stats.cache_full),
	PAGE_POOL_STAT(RECYCLE_RING, "recycle_ring", recycle_stats.ring),
	PAGE_POOL_STAT(RECYCLE_RING_FULL, "recycle_ring_full",
		       recycle_stats.ring_full),
	PAGE_POOL_STAT(RECYCLE_RELEASED_REFCNT, "recycle_released_ref",
		       recycle_stats.released_refcnt),
};

static_assert(ARRAY_SIZE(page_pool_stat_descs) == PP_STAT_NR);
static_assert(sizeof(struct page_pool_stats) == PP_STAT_NR * sizeof(u64));

/* The slow half of __page_pool_stat_add() */
void page_pool_stats_mark_cpu(const struct page_pool *pool)
{
	pcpu_fold_mark_cpu(pool->stats_cpus);
	__this_cpu_write(pool->stats->marked, 1);
}

#if BITS_PER_LONG == 32
/* A softirq may count on top of a task, and must not find a row half written.
 * Neither must a reader, which would wait for a preempted task.
 */
void __page_pool_stat_add(const struct page_pool *pool,
			  enum page_pool_stat stat, unsigned long n)
{
	struct page_pool_cpu_stats *stats;
	unsigned long flags;

	local_irq_save(flags);
	stats = this_cpu_ptr(pool->stats);
	if (unlikely(!stats->marked))
		page_pool_stats_mark_cpu(pool);
	u64_stats_update_begin(&stats->syncp);
	stats->row[stat] += n;
	u64_stats_update_end(&stats->syncp);
	local_irq_restore(flags);
}
#endif

/**
 * page_pool_cache_set() - set the number of pages in the allocation cache
 * @pool:	page pool whose cache was filled or is to be emptied
 * @count:	number of pages in the cache from here on
 *
 * For all pages that neither come from nor go to a user of the pool: they are
 * not counted as put or taken.
 *
 * Context: Only for the consumer of the pool.
 */
void page_pool_cache_set(struct page_pool *pool, unsigned int count)
{
	struct page_pool_moved_stats *moved = &pool->moved;
	unsigned long top = pool->alloc.top;
	unsigned long taken, put;

	taken = top >> PP_CACHE_BITS;
	put = taken + (top & PP_CACHE_MASK) - moved->base;

	/* There is one writer, the consumer. But those of two pools may be in
	 * process and in softirq context, and lockdep must not mix them up.
	 */
	preempt_disable();
	raw_write_seqcount_begin(&moved->seq);
	moved->base = count;
	moved->fast += taken;
	moved->cached += put;
	WRITE_ONCE(pool->alloc.top, count);
	raw_write_seqcount_end(&moved->seq);

	__page_pool_stat_add(pool, PP_STAT_ALLOC_FAST, taken);
	__page_pool_stat_add(pool, PP_STAT_RECYCLE_CACHED, put);
	preempt_enable();
}

static void page_pool_cache_add_stats(const struct page_pool *pool, u64 *fast,
				      u64 *cached)
{
	const struct page_pool_moved_stats *moved = &pool->moved;
	u64 moved_fast, moved_cached;
	unsigned long top, taken;
	unsigned int seq;

	do {
		seq = read_seqcount_begin(&moved->seq);
		top = READ_ONCE(pool->alloc.top);
		moved_fast = moved->fast;
		moved_cached = moved->cached - moved->base;
	} while (read_seqcount_retry(&moved->seq, seq));

	taken = top >> PP_CACHE_BITS;
	*fast += moved_fast + taken;
	*cached += moved_cached + taken + (top & PP_CACHE_MASK);
}

bool __page_pool_get_stats_array(const void *queues, size_t size, size_t offset,
				 unsigned int n, struct page_pool_stats *stats)
{
	u64 fast = 0, cached = 0, sum[PP_STAT_NR] = {};
	const struct page_pool *pool;
	u64 *values = (u64 *)stats;
	bool found = false;
	unsigned int i;

	/* May have interrupted the writer it would wait for. */
	if (WARN_ON_ONCE(in_hardirq() || in_serving_softirq()))
		return false;

	for (i = 0; i < n; i++) {
		pool = *(struct page_pool *const *)(queues + i * size + offset);
		if (!pool)
			continue;

		page_pool_cache_add_stats(pool, &fast, &cached);
		pcpu_fold_u64_cpus(sum, pool->stats->row, PP_STAT_NR,
				   &pool->stats->syncp, pool->stats_cpus);
		found = true;
	}
	if (!found)
		return false;

	/* The rows do not have the latest of these two. */
	sum[PP_STAT_ALLOC_FAST] = fast;
	sum[PP_STAT_RECYCLE_CACHED] = cached;

	for (i = 0; i < PP_STAT_NR; i++)
		values[i] += sum[i];

	return true;
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
 * The page pool may be in use, the counters are then read while they change.
 * None of them ever goes back.
 * With CONFIG_PAGE_POOL_STATS=n this is a stub, so no caller needs an #ifdef.
 *
 * Context: Task context, does not sleep. The caller makes sure that @pool is
 *	    not destroyed meanwhile. In an interrupt it warns and returns false.
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
	unsigned int i;

	for (i = 0; i < PP_STAT_NR; i++) {
		memcpy(data, page_pool_stat_descs[i].name, ETH_GSTRING_LEN);
		data += ETH_GSTRING_LEN;
	}

	return data;
}
EXPORT_SYMBOL(page_pool_ethtool_stats_get_strings);

int page_pool_ethtool_stats_get_count(void)
{
	return PP_STAT_NR;
}
EXPORT_SYMBOL(page_pool_ethtool_stats_get_count);

u64 *page_pool_ethtool_stats_get(u64 *data, const void *stats)
{
	memcpy(data, stats, sizeof(struct page_pool_stats));

	return data + PP_STAT_NR;
}
EXPORT_SYMBOL(page_pool_ethtool_stats_get);

int page_pool_stats_nl_put(struct sk_buff *rsp,
			   const struct page_pool_stats *stats)
{
	const u64 *values = (const u64 *)stats;
	unsigned int i;
	int err;

	for (i = 0; i < PP_STAT_NR; i++) {
		err = nla_put_uint(rsp, page_pool_stat_descs[i].attr,
				   values[i]);
		if (err)
			return err;
	}

	return 0;
}

int page_pool_stats_init(struct page_pool *pool)
{
	int cpu;

	seqcount_init(&pool->moved.seq);

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
