/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PAGE_POOL_STATS_H
#define __PAGE_POOL_STATS_H

#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/u64_stats_sync.h>

#include <net/page_pool/types.h>

struct sk_buff;

/* The counters, in the order of struct page_pool_stats. */
enum page_pool_stat {
	PP_STAT_ALLOC_FAST,
	PP_STAT_ALLOC_SLOW,
	PP_STAT_ALLOC_SLOW_HIGH_ORDER,
	PP_STAT_ALLOC_EMPTY,
	PP_STAT_ALLOC_REFILL,
	PP_STAT_ALLOC_WAIVE,
	PP_STAT_RECYCLE_CACHED,
	PP_STAT_RECYCLE_CACHE_FULL,
	PP_STAT_RECYCLE_RING,
	PP_STAT_RECYCLE_RING_FULL,
	PP_STAT_RECYCLE_RELEASED_REFCNT,

	PP_STAT_NR
};

/* How pages are counted
 * ---------------------
 *
 * Every CPU has a row of all counters for every pool. Whatever happens on a
 * slow path, or may happen on any CPU, is added to this CPU's row. A reader
 * visits the rows of those CPUs which ever counted something for the pool.
 *
 * The two counters of the fast path, PP_STAT_ALLOC_FAST for a page taken from
 * the allocation cache and PP_STAT_RECYCLE_CACHED for one put there, cost no
 * instruction of their own. pool->alloc.top, which has to be written anyway,
 * holds the number of pages in the cache in its low bits, and the pages taken
 * above them:
 *
 *                     top
 *   put a page        + 1
 *   take a page       + PP_CACHE_FAST - 1
 *
 * The pages put follow from that: what is in the cache is what was there at
 * first, plus what was put, less what was taken. At first means the last time
 * that the cache was filled or emptied otherwise, page_pool_cache_set(). It
 * moves what top counted into pool->moved and this CPU's row, and starts over.
 *
 * So at any time, and not only at rest,
 *
 *   fast   = moved.fast + taken
 *   cached = moved.cached + taken + pages in the cache - moved.base
 *
 * Both come from a single load of top, and so never disagree, nor go back. A
 * seqcount is for the rare case that moved changes meanwhile. All this has one
 * writer at a time, the consumer of the pool.
 */
#ifdef CONFIG_PAGE_POOL_STATS

#define PP_CACHE_BITS		8
#define PP_CACHE_MASK		(BIT(PP_CACHE_BITS) - 1)
#define PP_CACHE_FAST		BIT(PP_CACHE_BITS)

static_assert(PP_ALLOC_CACHE_SIZE <= PP_CACHE_MASK);

/**
 * struct page_pool_cpu_stats - what one CPU counted of a pool
 * @row:	the counters, indexed by &enum page_pool_stat
 * @marked:	the CPU is in &page_pool.stats_cpus, see pcpu_fold_mark_cpu()
 * @syncp:	protects @row against a reader on 32-bit
 */
struct page_pool_cpu_stats {
	u64 row[PP_STAT_NR];
	unsigned long marked;
	struct u64_stats_sync syncp;
};

void page_pool_stats_mark_cpu(const struct page_pool *pool);

#if BITS_PER_LONG == 64
/* Where the CPU cannot change. Whoever interrupts counts on top, since adding
 * is one instruction where the CPU has one.
 */
static __always_inline void __page_pool_stat_add(const struct page_pool *pool,
						 enum page_pool_stat stat,
						 unsigned long n)
{
	if (unlikely(!__this_cpu_read(pool->stats->marked)))
		page_pool_stats_mark_cpu(pool);
	this_cpu_add(pool->stats->row[stat], n);
}
#else
void __page_pool_stat_add(const struct page_pool *pool,
			  enum page_pool_stat stat, unsigned long n);
#endif

/* In any context but NMI */
static __always_inline void page_pool_stat_add(const struct page_pool *pool,
					       enum page_pool_stat stat,
					       unsigned long n)
{
	preempt_disable();
	__page_pool_stat_add(pool, stat, n);
	preempt_enable();
}

void page_pool_cache_set(struct page_pool *pool, unsigned int count);

int page_pool_stats_init(struct page_pool *pool);
void page_pool_stats_uninit(struct page_pool *pool);
int page_pool_stats_nl_put(struct sk_buff *rsp,
			   const struct page_pool_stats *stats);

#else /* !CONFIG_PAGE_POOL_STATS */

#define PP_CACHE_MASK		ULONG_MAX
#define PP_CACHE_FAST		0

static inline void __page_pool_stat_add(const struct page_pool *pool,
					enum page_pool_stat stat,
					unsigned long n)
{
}

static inline void page_pool_stat_add(const struct page_pool *pool,
				      enum page_pool_stat stat, unsigned long n)
{
}

static inline void page_pool_cache_set(struct page_pool *pool,
				       unsigned int count)
{
	pool->alloc.top = count;
}

static inline int page_pool_stats_init(struct page_pool *pool)
{
	return 0;
}

static inline void page_pool_stats_uninit(struct page_pool *pool)
{
}

static inline int page_pool_stats_nl_put(struct sk_buff *rsp,
					 const struct page_pool_stats *stats)
{
	return 0;
}

#endif /* CONFIG_PAGE_POOL_STATS */

static __always_inline void page_pool_stat_inc(const struct page_pool *pool,
					       enum page_pool_stat stat)
{
	page_pool_stat_add(pool, stat, 1);
}

/* The allocation cache, only for the consumer of the pool.
 *
 * It looks at the number of pages first, then adds to top. Where the CPU can do
 * that in memory, it is what the compiler should do, so it must not keep the
 * top that it read (READ_ONCE), nor be told to write a new one (no WRITE_ONCE).
 */

static __always_inline unsigned long
page_pool_cache_count(const struct page_pool *pool)
{
	return READ_ONCE(pool->alloc.top) & PP_CACHE_MASK;
}

static __always_inline void page_pool_cache_add_top(struct page_pool *pool,
						    unsigned long n)
{
	/* Others only read it. An aligned word, they get it whole. */
	data_race(pool->alloc.top += n);
}

/* On 32-bit the pages taken overflow after 2^24. The sign tells in time. */
static __always_inline void page_pool_cache_check_top(struct page_pool *pool)
{
	if (BITS_PER_LONG == 32 && PP_CACHE_FAST &&
	    unlikely((long)pool->alloc.top < 0))
		page_pool_cache_set(pool, page_pool_cache_count(pool));
}

/* Take a page out of @count, which must not be 0. */
static __always_inline netmem_ref page_pool_cache_take(struct page_pool *pool,
						       unsigned long count)
{
	netmem_ref netmem = pool->alloc.cache[count - 1];

	page_pool_cache_add_top(pool, PP_CACHE_FAST - 1);
	page_pool_cache_check_top(pool);

	return netmem;
}

/* Put a page, or return false if there is no room for it. */
static __always_inline bool page_pool_cache_put(struct page_pool *pool,
						netmem_ref netmem)
{
	unsigned long count = page_pool_cache_count(pool);

	if (unlikely(count == PP_ALLOC_CACHE_SIZE))
		return false;

	pool->alloc.cache[count] = netmem;
	page_pool_cache_add_top(pool, 1);

	return true;
}

/* Count a page as put and taken again at once. */
static __always_inline void page_pool_cache_pass(struct page_pool *pool)
{
	page_pool_cache_add_top(pool, PP_CACHE_FAST);
	page_pool_cache_check_top(pool);
}

#endif /* __PAGE_POOL_STATS_H */
