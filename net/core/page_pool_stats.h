/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PAGE_POOL_STATS_H
#define __PAGE_POOL_STATS_H

#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/u64_stats_sync.h>

#include <net/page_pool/types.h>
#include <net/pcpu_fold.h>

struct sk_buff;

/* The counters but for fast and cached. That of the ring is first: its address
 * is that of the row, which saves the busiest of them an instruction.
 *
 * Any CPU may count these, so every CPU has a row of them for every pool. Only
 * the consumer of the pool counts fast and cached, which are in pool->alloc.
 */
enum page_pool_stat {
	PP_STAT_RECYCLE_RING,
	PP_STAT_ALLOC_SLOW,
	PP_STAT_ALLOC_SLOW_HIGH_ORDER,
	PP_STAT_ALLOC_EMPTY,
	PP_STAT_ALLOC_REFILL,
	PP_STAT_ALLOC_WAIVE,
	PP_STAT_RECYCLE_CACHE_FULL,
	PP_STAT_RECYCLE_RING_FULL,
	PP_STAT_RECYCLE_RELEASED_REFCNT,

	PP_STAT_NR
};

/* Count, and mark this CPU first if the counter is still 0. */
void page_pool_stat_add_first(const struct page_pool *pool,
			      enum page_pool_stat stat, unsigned long n);

#ifdef CONFIG_PAGE_POOL_STATS

/**
 * struct page_pool_cpu_stats - what one CPU counted of a pool
 * @row:	the counters, indexed by &enum page_pool_stat
 * @syncp:	protects @row against a reader on 32-bit
 */
struct page_pool_cpu_stats {
	u64 row[PP_STAT_NR];
	struct u64_stats_sync syncp;
};

/* Count what this CPU has counted before, in any context but NMI. Returns
 * false, and has done nothing, if it has not.
 */
static __always_inline bool
page_pool_stat_add_more(const struct page_pool *pool, enum page_pool_stat stat,
			unsigned long n)
{
	bool marked;

	if (BITS_PER_LONG == 32)
		return false;

	preempt_disable();
	marked = __this_cpu_read(pool->stats->row[stat]);
	if (likely(marked))
		this_cpu_add(pool->stats->row[stat], n);
	preempt_enable();

	return marked;
}

/* Under the producer lock, with BH off. This counter is only written there, so
 * nobody can come in between, but on PREEMPT_RT the holder of another system
 * page pool's lock, which counts in the same row.
 */
static __always_inline void
page_pool_stat_add_ring(const struct page_pool *pool, unsigned long n)
{
	u64 __percpu *ring = &pool->stats->row[PP_STAT_RECYCLE_RING];

	if (BITS_PER_LONG == 64 && !IS_ENABLED(CONFIG_PREEMPT_RT) &&
	    likely(__this_cpu_read(*ring)))
		__this_cpu_add(*ring, n);
	else
		page_pool_stat_add_first(pool, PP_STAT_RECYCLE_RING, n);
}

static __always_inline void page_pool_stat_inc_word(struct page_pool *pool,
						    u64 *word)
{
	unsigned long flags;

	flags = u64_stats_update_begin_irqsave(&pool->alloc.syncp);
	/* There is one writer. On 64-bit others read the aligned word whole;
	 * on 32-bit none can interrupt the two writes and wait for them.
	 */
	data_race(*word += 1);
	u64_stats_update_end_irqrestore(&pool->alloc.syncp, flags);
}

static __always_inline void page_pool_stat_inc_fast(struct page_pool *pool)
{
	page_pool_stat_inc_word(pool, &pool->alloc.fast);
}

static __always_inline void page_pool_stat_inc_cached(struct page_pool *pool)
{
	page_pool_stat_inc_word(pool, &pool->alloc.cached);
}

int page_pool_stats_init(struct page_pool *pool);
void page_pool_stats_uninit(struct page_pool *pool);

#else /* !CONFIG_PAGE_POOL_STATS */

static inline bool page_pool_stat_add_more(const struct page_pool *pool,
					   enum page_pool_stat stat,
					   unsigned long n)
{
	return true;
}

static inline void page_pool_stat_add_ring(const struct page_pool *pool,
					   unsigned long n)
{
}

static inline void page_pool_stat_inc_fast(struct page_pool *pool)
{
}

static inline void page_pool_stat_inc_cached(struct page_pool *pool)
{
}

static inline int page_pool_stats_init(struct page_pool *pool)
{
	return 0;
}

static inline void page_pool_stats_uninit(struct page_pool *pool)
{
}

#endif /* CONFIG_PAGE_POOL_STATS */

static __always_inline void page_pool_stat_add(const struct page_pool *pool,
					       enum page_pool_stat stat,
					       unsigned long n)
{
	if (unlikely(!page_pool_stat_add_more(pool, stat, n)))
		page_pool_stat_add_first(pool, stat, n);
}

static __always_inline void page_pool_stat_inc(const struct page_pool *pool,
					       enum page_pool_stat stat)
{
	page_pool_stat_add(pool, stat, 1);
}

int page_pool_stats_nl_put(struct sk_buff *rsp,
			   const struct page_pool_stats *stats);
int page_pool_stats_nl_put_cpus(struct sk_buff *rsp,
				const struct page_pool *pool);

#endif /* __PAGE_POOL_STATS_H */
