// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unit tests for the statistics of page_pool
 *
 * Two laws hold for every pool, on every path and at any moment nobody is in
 * the middle of a call:
 *
 *   given out = fast + slow + slow_high_order + refill
 *   taken back = cached + ring + ring_full + released_refcnt
 *
 * and what was given out and not taken back is what the users still hold.
 * Each case provokes one counter, says what all eleven have to be afterwards,
 * and leaves the pool in balance.
 */
#include <kunit/device.h>
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/math.h>
#include <linux/mm.h>
#include <linux/nodemask.h>
#include <linux/sched.h>
#include <net/page_pool/helpers.h>
#include <net/page_pool/memory_provider.h>

#include "../page_pool_stats.h"

#define PP_TEST_RING_SIZE	128
#define PP_TEST_NIOVS		4

DECLARE_STATIC_KEY_FALSE(page_pool_mem_providers);

static const char * const pp_test_names[] = {
	"fast", "slow", "slow_high_order", "empty", "refill", "waive",
	"cached", "cache_full", "ring", "ring_full", "released_refcnt",
};

#define PP_TEST_COUNTERS	ARRAY_SIZE(pp_test_names)

static_assert(sizeof(struct page_pool_stats) ==
	      PP_TEST_COUNTERS * sizeof(u64));

/* One pool with room for what a test holds of it. */
struct pp_test {
	struct page_pool *pool;
	netmem_ref held[PP_ALLOC_CACHE_SIZE + 2 * PP_TEST_RING_SIZE];
	unsigned int nr_held;
};

static void pp_test_read(const struct page_pool *pool,
			 struct page_pool_stats *stats)
{
	memset(stats, 0, sizeof(*stats));
	page_pool_get_stats(pool, stats);
}

static u64 pp_test_given(const struct page_pool_stats *stats)
{
	return stats->alloc_stats.fast + stats->alloc_stats.slow +
	       stats->alloc_stats.slow_high_order + stats->alloc_stats.refill;
}

static u64 pp_test_taken(const struct page_pool_stats *stats)
{
	return stats->recycle_stats.cached + stats->recycle_stats.ring +
	       stats->recycle_stats.ring_full +
	       stats->recycle_stats.released_refcnt;
}

/* All eleven counters are what the case says, and the books balance. */
static void pp_test_expect(struct kunit *test, const struct pp_test *pt,
			   const struct page_pool_stats *expected)
{
	struct page_pool_stats stats;
	const u64 *want = (const u64 *)expected;
	const u64 *got = (const u64 *)&stats;
	unsigned int i;

	pp_test_read(pt->pool, &stats);
	for (i = 0; i < PP_TEST_COUNTERS; i++)
		KUNIT_EXPECT_EQ_MSG(test, want[i], got[i], "counter %s",
				    pp_test_names[i]);

	KUNIT_EXPECT_EQ(test, pt->nr_held,
			pp_test_given(&stats) - pp_test_taken(&stats));
}

/* Take @n pages out of the pool. */
static void pp_test_alloc(struct kunit *test, struct pp_test *pt,
			  unsigned int n)
{
	netmem_ref netmem;

	KUNIT_ASSERT_LE(test, pt->nr_held + n, ARRAY_SIZE(pt->held));
	while (n--) {
		netmem = page_pool_alloc_netmems(pt->pool, GFP_KERNEL);
		KUNIT_ASSERT_NE(test, 0, (__force unsigned long)netmem);
		pt->held[pt->nr_held++] = netmem;
	}
}

/* Put @n pages back, straight into the cache or by way of the ring. */
static void pp_test_put(struct kunit *test, struct pp_test *pt,
			unsigned int n, bool direct)
{
	KUNIT_ASSERT_LE(test, n, pt->nr_held);
	while (n--)
		page_pool_put_full_netmem(pt->pool, pt->held[--pt->nr_held],
					  direct);
}

static void pp_test_destroy(void *pool)
{
	page_pool_destroy(pool);
}

static struct pp_test *
pp_test_create(struct kunit *test, const struct page_pool_params *params)
{
	struct pp_test *pt;
	int err;

	pt = kunit_kzalloc(test, sizeof(*pt), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pt);

	pt->pool = page_pool_create(params);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pt->pool);

	err = kunit_add_action_or_reset(test, pp_test_destroy, pt->pool);
	KUNIT_ASSERT_EQ(test, 0, err);

	return pt;
}

static struct pp_test *pp_test_create_order(struct kunit *test,
					    unsigned int order)
{
	struct page_pool_params params = {
		.order = order,
		.pool_size = PP_TEST_RING_SIZE,
		.nid = NUMA_NO_NODE,
	};

	return pp_test_create(test, &params);
}

/* The first page of a bulk allocation is slow, the others come out of the
 * cache which it filled.
 */
static void pp_test_slow_then_fast(struct kunit *test)
{
	struct pp_test *pt = pp_test_create_order(test, 0);
	struct page_pool_stats want = {};

	pp_test_expect(test, pt, &want);

	pp_test_alloc(test, pt, 1);
	want.alloc_stats.empty = 1;
	want.alloc_stats.slow = 1;
	pp_test_expect(test, pt, &want);

	pp_test_alloc(test, pt, PP_ALLOC_CACHE_REFILL - 1);
	want.alloc_stats.fast = PP_ALLOC_CACHE_REFILL - 1;
	pp_test_expect(test, pt, &want);

	pp_test_alloc(test, pt, 1);
	want.alloc_stats.empty = 2;
	want.alloc_stats.slow = 2;
	pp_test_expect(test, pt, &want);

	pp_test_put(test, pt, pt->nr_held, false);
	want.recycle_stats.ring = PP_ALLOC_CACHE_REFILL + 1;
	pp_test_expect(test, pt, &want);
}

/* A page that goes back and forth over the cache counts on both sides. */
static void pp_test_cached(struct kunit *test)
{
	struct pp_test *pt = pp_test_create_order(test, 0);
	struct page_pool_stats want = {};
	unsigned int i;

	pp_test_alloc(test, pt, 1);
	for (i = 0; i < 1000; i++) {
		pp_test_put(test, pt, 1, true);
		pp_test_alloc(test, pt, 1);
	}
	want.alloc_stats.empty = 1;
	want.alloc_stats.slow = 1;
	want.alloc_stats.fast = 1000;
	want.recycle_stats.cached = 1000;
	pp_test_expect(test, pt, &want);

	pp_test_put(test, pt, 1, true);
	want.recycle_stats.cached++;
	pp_test_expect(test, pt, &want);
}

/* Page by page, so that no step of the cache is missed: a full cache turns
 * the page away, which then goes into the ring. The page counts once, in
 * ring; cache_full says how it got there.
 */
static void pp_test_cache_full(struct kunit *test)
{
	struct pp_test *pt = pp_test_create_order(test, 0);
	struct page_pool_stats want;
	unsigned int i, in_cache;

	pp_test_alloc(test, pt, PP_ALLOC_CACHE_SIZE + 3);
	in_cache = pt->pool->alloc.count;
	pp_test_read(pt->pool, &want);

	for (i = in_cache; i < PP_ALLOC_CACHE_SIZE; i++) {
		pp_test_put(test, pt, 1, true);
		want.recycle_stats.cached++;
		pp_test_expect(test, pt, &want);
	}

	for (i = 0; i < 3; i++) {
		pp_test_put(test, pt, 1, true);
		want.recycle_stats.cache_full++;
		want.recycle_stats.ring++;
		pp_test_expect(test, pt, &want);
	}

	pp_test_put(test, pt, pt->nr_held, false);
}

/* An empty cache is refilled from the ring: one allocation is the refill, the
 * others find their page in the cache.
 */
static void pp_test_refill(struct kunit *test)
{
	struct pp_test *pt = pp_test_create_order(test, 0);
	struct page_pool_stats want;
	unsigned int i;

	pp_test_alloc(test, pt, 2 * PP_ALLOC_CACHE_REFILL);
	pp_test_put(test, pt, PP_ALLOC_CACHE_REFILL + 1, false);
	pp_test_read(pt->pool, &want);

	pp_test_alloc(test, pt, 1);
	want.alloc_stats.refill++;
	pp_test_expect(test, pt, &want);

	for (i = 1; i < PP_ALLOC_CACHE_REFILL; i++) {
		pp_test_alloc(test, pt, 1);
		want.alloc_stats.fast++;
		pp_test_expect(test, pt, &want);
	}

	/* One page is left in the ring, none in the cache. */
	pp_test_alloc(test, pt, 1);
	want.alloc_stats.refill++;
	pp_test_expect(test, pt, &want);

	pp_test_put(test, pt, pt->nr_held, false);
}

/* Pages which come one by one to a full ring. */
static void pp_test_ring_full(struct kunit *test)
{
	struct pp_test *pt = pp_test_create_order(test, 0);
	struct page_pool_stats want;

	pp_test_alloc(test, pt, PP_TEST_RING_SIZE + 5);
	pp_test_read(pt->pool, &want);

	pp_test_put(test, pt, pt->nr_held, false);
	want.recycle_stats.ring += PP_TEST_RING_SIZE;
	want.recycle_stats.ring_full += 5;
	pp_test_expect(test, pt, &want);
}

static void pp_test_put_bulk(struct kunit *test, struct pp_test *pt,
			     unsigned int n)
{
	KUNIT_ASSERT_LE(test, n, pt->nr_held);
	pt->nr_held -= n;
	page_pool_put_netmem_bulk(&pt->held[pt->nr_held], n);
}

/* A bulk of pages which all find room in the ring. */
static void pp_test_ring_bulk(struct kunit *test)
{
	struct pp_test *pt = pp_test_create_order(test, 0);
	struct page_pool_stats want;

	pp_test_alloc(test, pt, 16);
	pp_test_read(pt->pool, &want);

	pp_test_put_bulk(test, pt, 16);
	want.recycle_stats.ring += 16;
	pp_test_expect(test, pt, &want);
}

/* The ring has room for some pages of a bulk, and then for none. Each page
 * which is turned away counts, not each bulk.
 */
static void pp_test_ring_full_bulk(struct kunit *test)
{
	struct pp_test *pt = pp_test_create_order(test, 0);
	struct page_pool_stats want;

	pp_test_alloc(test, pt, PP_TEST_RING_SIZE + 20);
	pp_test_put(test, pt, PP_TEST_RING_SIZE - 6, false);
	pp_test_read(pt->pool, &want);

	pp_test_put_bulk(test, pt, 16);
	want.recycle_stats.ring += 6;
	want.recycle_stats.ring_full += 10;
	pp_test_expect(test, pt, &want);

	pp_test_put_bulk(test, pt, 10);
	want.recycle_stats.ring_full += 10;
	pp_test_expect(test, pt, &want);
}

/* Somebody else still holds a reference: the page leaves the pool. */
static void pp_test_released_refcnt(struct kunit *test)
{
	struct pp_test *pt = pp_test_create_order(test, 0);
	struct page_pool_stats want;
	struct page *page[3];
	unsigned int i;

	pp_test_alloc(test, pt, 3);
	pp_test_read(pt->pool, &want);
	for (i = 0; i < 3; i++) {
		page[i] = netmem_to_page(pt->held[i]);
		get_page(page[i]);
	}

	pp_test_put(test, pt, 1, true);
	want.recycle_stats.released_refcnt++;
	pp_test_expect(test, pt, &want);

	pp_test_put(test, pt, 1, false);
	want.recycle_stats.released_refcnt++;
	pp_test_expect(test, pt, &want);

	pp_test_put_bulk(test, pt, 1);
	want.recycle_stats.released_refcnt++;
	pp_test_expect(test, pt, &want);

	for (i = 0; i < 3; i++)
		put_page(page[i]);
}

/* High order pages are never allocated in bulk, each one is slow. Back in the
 * cache they are like any other page.
 */
static void pp_test_high_order(struct kunit *test)
{
	struct pp_test *pt = pp_test_create_order(test, 1);
	struct page_pool_stats want = {};

	pp_test_alloc(test, pt, 3);
	want.alloc_stats.empty = 3;
	want.alloc_stats.slow_high_order = 3;
	pp_test_expect(test, pt, &want);

	pp_test_put(test, pt, 2, true);
	want.recycle_stats.cached = 2;
	pp_test_expect(test, pt, &want);

	pp_test_alloc(test, pt, 1);
	want.alloc_stats.fast = 1;
	pp_test_expect(test, pt, &want);

	pp_test_put(test, pt, pt->nr_held, false);
	want.recycle_stats.ring = 2;
	pp_test_expect(test, pt, &want);
}

/* A page from another node: one is given back to the page allocator, and the
 * allocation goes on as if the ring had been empty. A flush of the cache, as
 * the change of the node does, counts nothing.
 */
static void pp_test_waive(struct kunit *test)
{
	int near = numa_mem_id(), far = next_online_node(near);
	struct pp_test *pt = pp_test_create_order(test, 0);
	struct page_pool_stats want;

	if (!IS_ENABLED(CONFIG_NUMA))
		kunit_skip(test, "needs CONFIG_NUMA");
	if (far == MAX_NUMNODES)
		far = first_online_node;
	if (far == near)
		kunit_skip(test, "needs two NUMA nodes");

	page_pool_update_nid(pt->pool, near);
	pp_test_alloc(test, pt, 4);
	pp_test_put(test, pt, 4, false);
	pp_test_read(pt->pool, &want);

	page_pool_update_nid(pt->pool, far);
	pp_test_expect(test, pt, &want);
	KUNIT_EXPECT_EQ(test, 0, pt->pool->alloc.count);

	pp_test_alloc(test, pt, 1);
	want.alloc_stats.waive++;
	want.alloc_stats.slow++;
	pp_test_expect(test, pt, &want);

	/* Near page in the cache, then a far one: both happen in a refill. */
	page_pool_update_nid(pt->pool, near);
	pp_test_put(test, pt, 1, false);
	pp_test_read(pt->pool, &want);

	pp_test_alloc(test, pt, 1);
	want.alloc_stats.waive++;
	want.alloc_stats.refill++;
	pp_test_expect(test, pt, &want);

	pp_test_put(test, pt, pt->nr_held, true);
}

/* Cut up to @n fragments of half a page, and count those which took a page
 * out of the pool.
 */
static void pp_test_frags(struct kunit *test, struct pp_test *pt,
			  struct page **frag, unsigned int n)
{
	unsigned int i, offset;

	for (i = 0; i < n; i++) {
		frag[i] = page_pool_alloc_frag(pt->pool, &offset, PAGE_SIZE / 2,
					       GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, frag[i]);
	}
}

/* The users of a page's fragments are done before the next one is cut: the
 * pool takes the page back and gives it out again in one step.
 */
static void pp_test_frag_reused(struct kunit *test)
{
	struct pp_test *pt = pp_test_create_order(test, 0);
	struct page_pool_stats want;
	struct page *frag[3];

	pp_test_frags(test, pt, frag, 2);
	pt->nr_held = 1;
	pp_test_read(pt->pool, &want);
	KUNIT_EXPECT_PTR_EQ(test, frag[0], frag[1]);

	page_pool_put_full_page(pt->pool, frag[0], false);
	page_pool_put_full_page(pt->pool, frag[1], false);
	pp_test_expect(test, pt, &want);

	pp_test_frags(test, pt, &frag[2], 1);
	want.alloc_stats.fast++;
	want.recycle_stats.cached++;
	pp_test_expect(test, pt, &want);
	KUNIT_EXPECT_PTR_EQ(test, frag[0], frag[2]);

	page_pool_put_full_page(pt->pool, frag[2], false);
}

/* Its users are not done: the last one of them puts the page. */
static void pp_test_frag_in_use(struct kunit *test)
{
	struct pp_test *pt = pp_test_create_order(test, 0);
	struct page_pool_stats want;
	struct page *frag[3];

	pp_test_frags(test, pt, frag, 2);
	pp_test_read(pt->pool, &want);

	pp_test_frags(test, pt, &frag[2], 1);
	pt->nr_held = 2;
	want.alloc_stats.fast++;
	pp_test_expect(test, pt, &want);

	page_pool_put_full_page(pt->pool, frag[0], false);
	pp_test_expect(test, pt, &want);

	page_pool_put_full_page(pt->pool, frag[1], false);
	pt->nr_held = 1;
	want.recycle_stats.ring++;
	pp_test_expect(test, pt, &want);

	page_pool_put_full_page(pt->pool, frag[2], false);
}

/* The pool is the last one to let go of a page cut into fragments, and finds
 * that it cannot be recycled. It is released like by any other last user.
 */
static void pp_test_frag_drained_refcnt(struct kunit *test)
{
	struct pp_test *pt = pp_test_create_order(test, 0);
	struct page_pool_stats want;
	struct page *frag[3];

	pp_test_frags(test, pt, frag, 2);
	pp_test_read(pt->pool, &want);

	get_page(frag[0]);
	page_pool_put_full_page(pt->pool, frag[0], false);
	page_pool_put_full_page(pt->pool, frag[1], false);

	pp_test_frags(test, pt, &frag[2], 1);
	pt->nr_held = 1;
	want.alloc_stats.fast++;
	want.recycle_stats.released_refcnt++;
	pp_test_expect(test, pt, &want);
	KUNIT_EXPECT_PTR_NE(test, frag[0], frag[2]);

	put_page(frag[0]);
	page_pool_put_full_page(pt->pool, frag[2], false);
}

/* A pool which is destroyed gives up the page it was cutting fragments from.
 * It waits for its last page, and all that time its counters can be read and
 * say how many pages are missing.
 */
static void pp_test_frag_destroyed(struct kunit *test)
{
	struct pp_test *pt = pp_test_create_order(test, 0);
	struct page_pool_stats stats;
	struct page *frag;

	pp_test_alloc(test, pt, 1);
	pp_test_frags(test, pt, &frag, 1);
	page_pool_put_full_page(pt->pool, frag, false);

	kunit_remove_action(test, pp_test_destroy, pt->pool);
	page_pool_destroy(pt->pool);

	pp_test_read(pt->pool, &stats);
	KUNIT_EXPECT_EQ(test, 1,
			pp_test_given(&stats) - pp_test_taken(&stats));

	pp_test_put(test, pt, 1, false);
}

struct pp_test_provider {
	struct net_iov_area area;
	struct net_iov niovs[PP_TEST_NIOVS];
	unsigned long free;
	bool bulk;
};

static netmem_ref pp_test_mp_take(struct page_pool *pool,
				  struct pp_test_provider *mp)
{
	unsigned long i = find_first_bit(&mp->free, PP_TEST_NIOVS);

	if (i == PP_TEST_NIOVS)
		return 0;

	__clear_bit(i, &mp->free);
	net_mp_niov_set_page_pool(pool, &mp->niovs[i]);

	return net_iov_to_netmem(&mp->niovs[i]);
}

static netmem_ref pp_test_mp_alloc(struct page_pool *pool, gfp_t gfp)
{
	struct pp_test_provider *mp = pool->mp_priv;
	netmem_ref first = pp_test_mp_take(pool, mp);
	netmem_ref netmem;

	while (mp->bulk && (netmem = pp_test_mp_take(pool, mp)))
		net_mp_netmem_place_in_cache(pool, netmem);

	return first;
}

static bool pp_test_mp_release(struct page_pool *pool, netmem_ref netmem)
{
	struct net_iov *niov = netmem_to_net_iov(netmem);
	struct pp_test_provider *mp = pool->mp_priv;

	net_mp_niov_clear_page_pool(niov);
	__set_bit(net_iov_idx(niov), &mp->free);

	return false;
}

static void pp_test_mp_destroy(struct page_pool *pool)
{
}

static const struct memory_provider_ops pp_test_mp_ops = {
	.alloc_netmems	= pp_test_mp_alloc,
	.release_netmem	= pp_test_mp_release,
	.destroy	= pp_test_mp_destroy,
};

/* page_pool_create() takes its provider from a receive queue, and only one
 * that is built into the kernel. Put ours in by hand; the pool takes it away.
 */
static struct pp_test *pp_test_create_provider(struct kunit *test,
					       unsigned int order)
{
	struct pp_test *pt = pp_test_create_order(test, order);
	struct pp_test_provider *mp;
	unsigned int i;

	mp = kunit_kzalloc(test, sizeof(*mp), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, mp);

	mp->area.niovs = mp->niovs;
	mp->area.num_niovs = PP_TEST_NIOVS;
	mp->free = GENMASK(PP_TEST_NIOVS - 1, 0);
	for (i = 0; i < PP_TEST_NIOVS; i++)
		net_iov_init(&mp->niovs[i], &mp->area, NET_IOV_DMABUF);

	pt->pool->mp_priv = mp;
	pt->pool->mp_ops = &pp_test_mp_ops;
	static_branch_inc(&page_pool_mem_providers);

	/* The pool must let go of the provider before its memory goes. */
	kunit_remove_action(test, pp_test_destroy, pt->pool);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, pp_test_destroy,
						  pt->pool));

	return pt;
}

/* What a memory provider hands out is a slow allocation like that of a page,
 * by the size which the pool asked for. A provider without memory counts
 * nothing.
 */
static void pp_test_provider(struct kunit *test)
{
	struct pp_test *pt = pp_test_create_provider(test, 0);
	struct page_pool_stats want = {};

	pp_test_alloc(test, pt, PP_TEST_NIOVS);
	want.alloc_stats.empty = PP_TEST_NIOVS;
	want.alloc_stats.slow = PP_TEST_NIOVS;
	pp_test_expect(test, pt, &want);

	KUNIT_EXPECT_EQ(test, 0, (__force unsigned long)
			page_pool_alloc_netmems(pt->pool, GFP_KERNEL));
	want.alloc_stats.empty++;
	pp_test_expect(test, pt, &want);

	pp_test_put(test, pt, 1, true);
	pp_test_put(test, pt, 1, false);
	want.recycle_stats.cached++;
	want.recycle_stats.ring++;
	pp_test_expect(test, pt, &want);

	pp_test_alloc(test, pt, 2);
	want.alloc_stats.fast++;
	want.alloc_stats.refill++;
	pp_test_expect(test, pt, &want);

	pp_test_put(test, pt, pt->nr_held, false);
}

/* A provider which fills the cache as well: one allocation is slow, the others
 * are fast, and each gets a net_iov of its own.
 */
static void pp_test_provider_bulk(struct kunit *test)
{
	struct pp_test *pt = pp_test_create_provider(test, 0);
	struct pp_test_provider *mp = pt->pool->mp_priv;
	struct page_pool_stats want = {};
	unsigned int i, j;

	mp->bulk = true;
	pp_test_alloc(test, pt, PP_TEST_NIOVS);
	want.alloc_stats.empty = 1;
	want.alloc_stats.slow = 1;
	want.alloc_stats.fast = PP_TEST_NIOVS - 1;
	pp_test_expect(test, pt, &want);

	for (i = 0; i < PP_TEST_NIOVS; i++)
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_NE(test,
					(__force unsigned long)pt->held[i],
					(__force unsigned long)pt->held[j]);

	pp_test_put(test, pt, pt->nr_held, false);
}

/* There is nothing to cut the next fragment from. The page before is given up
 * all the same, and must not be found again.
 */
static void pp_test_frag_alloc_fails(struct kunit *test)
{
	struct pp_test *pt = pp_test_create_provider(test, 0);
	netmem_ref frag[2 * PP_TEST_NIOVS], none;
	unsigned int i, offset;
	long users;

	for (i = 0; i < ARRAY_SIZE(frag); i++) {
		frag[i] = page_pool_alloc_frag_netmem(pt->pool, &offset,
						      PAGE_SIZE / 2,
						      GFP_KERNEL);
		KUNIT_ASSERT_NE(test, 0, (__force unsigned long)frag[i]);
	}

	none = page_pool_alloc_frag_netmem(pt->pool, &offset, PAGE_SIZE / 2,
					   GFP_KERNEL);
	KUNIT_EXPECT_EQ(test, 0, (__force unsigned long)none);
	KUNIT_EXPECT_EQ(test, 0, (__force unsigned long)pt->pool->frag_page);

	/* Nobody but us has a part of the last one. */
	users = atomic_long_read(netmem_get_pp_ref_count_ref(frag[i - 1]));
	KUNIT_EXPECT_EQ(test, 2, users);

	for (i = 0; i < ARRAY_SIZE(frag); i++)
		page_pool_put_full_netmem(pt->pool, frag[i], false);
}

static void pp_test_provider_high_order(struct kunit *test)
{
	struct pp_test *pt = pp_test_create_provider(test, 2);
	struct page_pool_stats want = {};

	pp_test_alloc(test, pt, 2);
	want.alloc_stats.empty = 2;
	want.alloc_stats.slow_high_order = 2;
	pp_test_expect(test, pt, &want);

	pp_test_put(test, pt, pt->nr_held, false);
}

/* Pages that cannot be mapped for DMA are not handed out, and not counted.
 * A device without a DMA mask can map nothing, and warns about it once.
 */
static void pp_test_map_fails(struct kunit *test)
{
	struct page_pool_params params = {
		.pool_size = PP_TEST_RING_SIZE,
		.nid = NUMA_NO_NODE,
		.flags = PP_FLAG_DMA_MAP,
		.dma_dir = DMA_FROM_DEVICE,
	};
	struct page_pool_stats want = {};
	struct pp_test *pt;
	netmem_ref netmem;

	params.dev = kunit_device_register(test, "page_pool_kunit");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, params.dev);
	params.dev->dma_mask = NULL;

	for (params.order = 0; params.order < 2; params.order++) {
		pt = pp_test_create(test, &params);
		kunit_warning_suppress(test)
			netmem = page_pool_alloc_netmems(pt->pool, GFP_KERNEL);
		KUNIT_EXPECT_EQ(test, 0, (__force unsigned long)netmem);
		want.alloc_stats.empty = 1;
		pp_test_expect(test, pt, &want);
		KUNIT_EXPECT_EQ(test, 0, pt->pool->pages_state_hold_cnt);
	}
}

static int pp_test_in_flight(const struct page_pool *pool)
{
	return pool->pages_state_hold_cnt -
	       atomic_read(&pool->pages_state_release_cnt);
}

/* A pool whose device can map anything, and needs a sync unless told not to. */
static struct pp_test *pp_test_create_mapped(struct kunit *test)
{
	struct page_pool_params params = {
		.pool_size = PP_TEST_RING_SIZE,
		.nid = NUMA_NO_NODE,
		.flags = PP_FLAG_DMA_MAP | PP_FLAG_DMA_SYNC_DEV,
		.dma_dir = DMA_FROM_DEVICE,
		.max_len = PAGE_SIZE,
	};

	params.dev = kunit_device_register(test, "page_pool_kunit");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, params.dev);
	params.dev->dma_mask = &params.dev->coherent_dma_mask;
	params.dev->coherent_dma_mask = DMA_BIT_MASK(64);

	return pp_test_create(test, &params);
}

/* On its way through the sync, too, a page goes into the cache or into the
 * ring, never both.
 */
static void pp_test_dma_sync(struct kunit *test)
{
	struct pp_test *pt = pp_test_create_mapped(test);
	struct page_pool_stats want;

	pp_test_alloc(test, pt, PP_ALLOC_CACHE_SIZE + 3);
	pp_test_read(pt->pool, &want);

	pp_test_put(test, pt, 2, true);
	want.recycle_stats.cached += 2;
	pp_test_expect(test, pt, &want);

	pp_test_put(test, pt, 3, false);
	want.recycle_stats.ring += 3;
	pp_test_expect(test, pt, &want);

	pp_test_alloc(test, pt, 1);
	want.alloc_stats.fast++;
	pp_test_expect(test, pt, &want);

	pp_test_put(test, pt, pt->nr_held, false);
}

/* A page which leaves a pool is unmapped. */
static void pp_test_dma_unmap(struct kunit *test)
{
	struct pp_test *pt = pp_test_create_mapped(test);
	struct page *page;

	pp_test_alloc(test, pt, 1);
	page = netmem_to_page(pt->held[0]);
	KUNIT_EXPECT_NE(test, 0, page_pool_get_dma_addr(page));

	get_page(page);
	pp_test_put(test, pt, 1, false);
	KUNIT_EXPECT_EQ(test, 0, page_pool_get_dma_addr(page));
	put_page(page);

	/* The rest of the bulk is in the cache. */
	KUNIT_EXPECT_EQ(test, PP_ALLOC_CACHE_REFILL - 1,
			pp_test_in_flight(pt->pool));
}

/* A pool which is destroyed while one page is out lets go of all others, those
 * in the cache and those in the ring.
 */
static void pp_test_destroyed_empty(struct kunit *test)
{
	struct pp_test *pt = pp_test_create_mapped(test);

	pp_test_alloc(test, pt, PP_ALLOC_CACHE_REFILL - 1);
	pp_test_put(test, pt, 5, true);
	pp_test_put(test, pt, pt->nr_held - 1, false);

	kunit_remove_action(test, pp_test_destroy, pt->pool);
	page_pool_destroy(pt->pool);
	KUNIT_EXPECT_EQ(test, 1, pp_test_in_flight(pt->pool));
	KUNIT_EXPECT_EQ(test, 0, pt->pool->alloc.count);

	pp_test_put(test, pt, 1, false);
}

/* Where the pool is local, pages go into its cache without being told to: one
 * by one and as a bulk, of which only those that find no room go on to the
 * ring. None must be found in both.
 */
static void pp_test_local(struct kunit *test)
{
	struct pp_test *pt = pp_test_create_mapped(test);
	struct page_pool_stats want;
	unsigned int left;

	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		kunit_skip(test, "never local on PREEMPT_RT");

	pp_test_alloc(test, pt, PP_ALLOC_CACHE_SIZE + 16);
	pp_test_read(pt->pool, &want);
	left = PP_ALLOC_CACHE_SIZE - pt->pool->alloc.count;

	local_bh_disable();
	pt->pool->cpuid = smp_processor_id();
	pp_test_put(test, pt, left - 2, false);
	pp_test_put_bulk(test, pt, 16);
	local_bh_enable();

	want.recycle_stats.cached += left;
	want.recycle_stats.cache_full += 14;
	want.recycle_stats.ring += 14;
	pp_test_expect(test, pt, &want);
	KUNIT_EXPECT_EQ(test, PP_ALLOC_CACHE_SIZE, pt->pool->alloc.count);

	pp_test_put(test, pt, pt->nr_held, false);
}

/* An allocation which the page allocator refuses counts as nothing but an
 * empty ring. Fault injection leaves single pages alone unless told otherwise,
 * so ask for two.
 */
static void pp_test_alloc_fails(struct kunit *test)
{
#ifdef CONFIG_FAIL_PAGE_ALLOC
	struct pp_test *pt = pp_test_create_order(test, 1);
	struct page_pool_stats want = {};
	netmem_ref netmem;

	current->fail_nth = 1;
	netmem = page_pool_alloc_netmems(pt->pool, GFP_ATOMIC | __GFP_NOWARN);
	current->fail_nth = 0;

	KUNIT_EXPECT_EQ(test, 0, (__force unsigned long)netmem);
	want.alloc_stats.empty = 1;
	pp_test_expect(test, pt, &want);
#else
	kunit_skip(test, "needs CONFIG_FAIL_PAGE_ALLOC");
#endif
}

/* What the system page pools put into their rings counts for all of them. */
static void pp_test_system_pools_share(struct kunit *test)
{
	struct page_pool_params params = {
		.pool_size = PP_TEST_RING_SIZE,
		.nid = NUMA_NO_NODE,
		.flags = PP_FLAG_SYSTEM_POOL,
	};
	struct page_pool_stats before, after;
	struct pp_test *one, *two;

	one = pp_test_create(test, &params);
	two = pp_test_create(test, &params);

	pp_test_read(two->pool, &before);
	pp_test_alloc(test, one, 5);
	pp_test_put(test, one, 5, false);
	pp_test_read(two->pool, &after);

	KUNIT_EXPECT_GE(test, after.recycle_stats.ring,
			before.recycle_stats.ring + 5);
}

/* The caller's numbers are added to, so that pools can be summed up. */
static void pp_test_stats_add_up(struct kunit *test)
{
	struct pp_test *one = pp_test_create_order(test, 0);
	struct pp_test *two = pp_test_create_order(test, 0);
	struct page_pool_stats stats = {};

	pp_test_alloc(test, one, 2);
	pp_test_alloc(test, two, 3);
	page_pool_get_stats(one->pool, &stats);
	page_pool_get_stats(two->pool, &stats);

	KUNIT_EXPECT_EQ(test, 2, stats.alloc_stats.slow);
	KUNIT_EXPECT_EQ(test, 3, stats.alloc_stats.fast);

	pp_test_put(test, one, one->nr_held, false);
	pp_test_put(test, two, two->nr_held, false);
}

/* One call for the page pools of many queues, some of which have none */
static void pp_test_stats_array(struct kunit *test)
{
	struct {
		unsigned long before;
		struct page_pool *pool;
		char after[24];
	} queues[20] = {};
	struct page_pool_stats sum = {}, want = {};
	struct pp_test *pt;
	unsigned int i;

	KUNIT_EXPECT_FALSE(test,
			   page_pool_get_stats_array(queues, ARRAY_SIZE(queues),
						     pool, &sum));
	KUNIT_EXPECT_FALSE(test, page_pool_get_stats(NULL, &sum));
	KUNIT_EXPECT_MEMEQ(test, &sum, &want, sizeof(sum));

	for (i = 0; i < ARRAY_SIZE(queues); i++) {
		if (i % 8 == 5)
			continue;

		pt = pp_test_create_order(test, 0);
		queues[i].pool = pt->pool;
		pp_test_alloc(test, pt, 2 * i + 1);
		pp_test_put(test, pt, i, i % 2);
		pp_test_put(test, pt, pt->nr_held, true);
		KUNIT_EXPECT_TRUE(test, page_pool_get_stats(pt->pool, &want));
	}

	KUNIT_EXPECT_TRUE(test,
			  page_pool_get_stats_array(queues, ARRAY_SIZE(queues),
						    pool, &sum));
	KUNIT_EXPECT_MEMEQ(test, &sum, &want, sizeof(sum));
}

/* Pretend that this CPU, which allocates and recycles, has counted to @val
 * everywhere. Nobody else may use the pool meanwhile.
 */
static void pp_test_preset(struct page_pool *pool, u64 val)
{
	struct page_pool_cpu_stats *stats;
	unsigned int i, cpu;

	for_each_possible_cpu(cpu) {
		stats = per_cpu_ptr(pool->stats, cpu);
		memset(stats->row, 0, sizeof(stats->row));
	}

	cpu = get_cpu();
	stats = per_cpu_ptr(pool->stats, cpu);
	for (i = 0; i < PP_STAT_NR; i++)
		stats->row[i] = val;
	cpumask_set_cpu(cpu, pool->stats_cpus);
	put_cpu();

	pool->alloc.fast = val;
	pool->alloc.cached = val;
}

static void pp_test_fill(struct page_pool_stats *stats, u64 val)
{
	unsigned int i;

	for (i = 0; i < PP_TEST_COUNTERS; i++)
		((u64 *)stats)[i] = val;
}

/* Each counter goes past 2^32 as if nothing were there. */
static void pp_test_beyond_32_bits(struct kunit *test)
{
	const unsigned int pages = PP_TEST_RING_SIZE + 16;
	const unsigned int bulks = DIV_ROUND_UP(pages, PP_ALLOC_CACHE_REFILL);
	struct pp_test *pt = pp_test_create_order(test, 0);
	struct page_pool_stats want;
	struct page *page;

	pp_test_fill(&want, U32_MAX);
	pp_test_preset(pt->pool, U32_MAX);
	pp_test_expect(test, pt, &want);

	pp_test_alloc(test, pt, pages);
	want.alloc_stats.slow += bulks;
	want.alloc_stats.empty += bulks;
	want.alloc_stats.fast += pages - bulks;
	pp_test_expect(test, pt, &want);

	page = netmem_to_page(pt->held[pt->nr_held - 1]);
	get_page(page);
	pp_test_put(test, pt, 1, false);
	put_page(page);
	pp_test_put(test, pt, 2, true);
	pp_test_put(test, pt, PP_TEST_RING_SIZE, false);
	pp_test_put_bulk(test, pt, 4);
	want.recycle_stats.released_refcnt++;
	want.recycle_stats.cached += 2;
	want.recycle_stats.ring += PP_TEST_RING_SIZE;
	want.recycle_stats.ring_full += 4;
	pp_test_expect(test, pt, &want);

	pp_test_put(test, pt, pt->nr_held, true);
}

static void pp_test_unpin(void *unused)
{
	set_cpus_allowed_ptr(current, cpu_possible_mask);
}

/* The CPUs which a reader visits are those that counted something: wherever a
 * page comes from, and goes to.
 */
static void pp_test_cpus_that_counted(struct kunit *test)
{
	struct pp_test *pt = pp_test_create_order(test, 0);
	static struct cpumask want;
	struct page_pool_stats stats;
	unsigned int cpu, n = 0;

	cpumask_clear(&want);
	KUNIT_EXPECT_TRUE(test, cpumask_empty(pt->pool->stats_cpus));
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, pp_test_unpin, NULL));

	for_each_online_cpu(cpu) {
		if (n == 3)
			break;
		KUNIT_ASSERT_EQ(test, 0, set_cpus_allowed_ptr(current,
							      cpumask_of(cpu)));
		/* The first one gets many at once, the others count one. */
		pp_test_alloc(test, pt, 1);
		pp_test_put(test, pt, 1, false);
		cpumask_set_cpu(cpu, &want);
		KUNIT_EXPECT_TRUE(test, cpumask_equal(&want,
						      pt->pool->stats_cpus));

		pp_test_read(pt->pool, &stats);
		KUNIT_EXPECT_EQ(test, ++n, stats.recycle_stats.ring);
	}
}

/* A second CPU reads all the time, and notes what goes back or too far. */
struct pp_test_reader {
	struct page_pool *pool;
	struct task_struct *task;
	u64 limit;
	unsigned int reads;
	unsigned int backwards[PP_TEST_COUNTERS];
	unsigned int too_far[PP_TEST_COUNTERS];
};

static int pp_test_reader_fn(void *data)
{
	struct pp_test_reader *rd = data;
	struct page_pool_stats stats, last = {};
	u64 *now = (u64 *)&stats;
	u64 *old = (u64 *)&last;
	unsigned int i;

	while (!kthread_should_stop()) {
		if (kthread_should_park()) {
			kthread_parkme();
			memset(&last, 0, sizeof(last));
		}

		pp_test_read(rd->pool, &stats);
		for (i = 0; i < PP_TEST_COUNTERS; i++) {
			if (now[i] < old[i])
				rd->backwards[i]++;
			if (now[i] > rd->limit)
				rd->too_far[i]++;
		}
		last = stats;
		WRITE_ONCE(rd->reads, rd->reads + 1);
		if (rd->reads % 1000 == 0)
			usleep_range(10, 20);
	}

	return 0;
}

static void pp_test_reader_stop(void *data)
{
	struct pp_test_reader *rd = data;

	kthread_stop(rd->task);
}

/* Keep the test on the CPU it runs on, so that the reader has another one. */
static unsigned int pp_test_pin(struct kunit *test)
{
	unsigned int here = get_cpu(), other;

	put_cpu();
	other = cpumask_any_but(cpu_online_mask, here);
	if (other >= nr_cpu_ids)
		kunit_skip(test, "needs two CPUs");

	KUNIT_ASSERT_EQ(test, 0,
			set_cpus_allowed_ptr(current, cpumask_of(here)));
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, pp_test_unpin, NULL));

	return other;
}

static struct pp_test_reader *
pp_test_reader_start(struct kunit *test, struct page_pool *pool, u64 limit,
		     unsigned int cpu)
{
	struct pp_test_reader *rd;

	rd = kunit_kzalloc(test, sizeof(*rd), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rd);

	rd->pool = pool;
	rd->limit = limit;
	rd->task = kthread_create_on_cpu(pp_test_reader_fn, rd, cpu,
					 "pp_test_reader/%u");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, rd->task);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, pp_test_reader_stop,
						  rd));
	wake_up_process(rd->task);

	return rd;
}

/* Returns when the reader has gone round at least @n times more. */
static void pp_test_reader_wait(const struct pp_test_reader *rd,
				unsigned int n)
{
	unsigned int start = READ_ONCE(rd->reads);

	while (READ_ONCE(rd->reads) - start < n)
		cond_resched();
}

static void pp_test_reader_expect(struct kunit *test,
				  const struct pp_test_reader *rd)
{
	unsigned int i;

	KUNIT_EXPECT_GT(test, rd->reads, 0);
	for (i = 0; i < PP_TEST_COUNTERS; i++) {
		KUNIT_EXPECT_EQ_MSG(test, 0, rd->backwards[i],
				    "%s went back", pp_test_names[i]);
		KUNIT_EXPECT_EQ_MSG(test, 0, rd->too_far[i],
				    "%s went too far", pp_test_names[i]);
	}
	kunit_info(test, "%u reads", rd->reads);
}

/* A reader while every counter passes 2^32, again and again. A 32-bit machine
 * has to carry from one word into the next, and must not show it.
 */
static void pp_test_carry_is_not_seen(struct kunit *test)
{
	struct pp_test *pt = pp_test_create_order(test, 0);
	const u64 start = U32_MAX - 20;
	struct pp_test_reader *rd;
	unsigned int round, i;

	rd = pp_test_reader_start(test, pt->pool, start + 200,
				  pp_test_pin(test));

	for (round = 0; round < 2000; round++) {
		KUNIT_ASSERT_EQ(test, 0, kthread_park(rd->task));
		pp_test_preset(pt->pool, start);
		kthread_unpark(rd->task);
		pp_test_reader_wait(rd, 1);

		for (i = 0; i < 40; i++) {
			pp_test_alloc(test, pt, 2);
			pp_test_put(test, pt, 1, true);
			pp_test_put(test, pt, 1, false);
		}
	}

	pp_test_reader_expect(test, rd);
}

/* Returns what it is given to the pool, from a CPU that does not allocate. */
struct pp_test_returner {
	struct page_pool *pool;
	struct task_struct *task;
	struct ptr_ring ring;
};

static void pp_test_returner_empty(struct pp_test_returner *rt)
{
	netmem_ref netmem;

	while ((netmem = (__force netmem_ref)ptr_ring_consume(&rt->ring)))
		page_pool_put_full_netmem(rt->pool, netmem, false);
}

static int pp_test_returner_fn(void *data)
{
	struct pp_test_returner *rt = data;

	while (!kthread_should_stop()) {
		pp_test_returner_empty(rt);
		usleep_range(10, 20);
	}

	return 0;
}

static void pp_test_returner_start(struct kunit *test,
				   struct pp_test_returner *rt,
				   struct page_pool *pool, unsigned int cpu)
{
	rt->pool = pool;
	KUNIT_ASSERT_EQ(test, 0, ptr_ring_init(&rt->ring, 64, GFP_KERNEL));

	rt->task = kthread_create_on_cpu(pp_test_returner_fn, rt, cpu,
					 "pp_test_return/%u");
	if (IS_ERR(rt->task)) {
		ptr_ring_cleanup(&rt->ring, NULL);
		KUNIT_FAIL_AND_ABORT(test, "no thread: %pe", rt->task);
	}
	wake_up_process(rt->task);
}

static void pp_test_returner_stop(struct pp_test_returner *rt)
{
	kthread_stop(rt->task);
	pp_test_returner_empty(rt);
	ptr_ring_cleanup(&rt->ring, NULL);
}

/* One CPU allocates and recycles, others return, one reads: no total ever goes
 * back, and none gets lost.
 */
static void pp_test_concurrent(struct kunit *test)
{
	struct pp_test *pt = pp_test_create_order(test, 0);
	struct pp_test_returner rt[2] = {};
	struct page_pool_stats stats;
	struct pp_test_reader *rd;
	unsigned int cpu, given;
	netmem_ref netmem;

	cpu = pp_test_pin(test);
	rd = pp_test_reader_start(test, pt->pool, U64_MAX, cpu);
	pp_test_returner_start(test, &rt[0], pt->pool, cpu);
	cpu = cpumask_next_wrap(cpu, cpu_online_mask);
	pp_test_returner_start(test, &rt[1], pt->pool, cpu);

	for (given = 1; given <= 500000; given++) {
		netmem = page_pool_alloc_netmems(pt->pool, GFP_KERNEL);
		if (!netmem)
			break;

		if (given % 4 == 0 || ptr_ring_produce(&rt[given % 2].ring,
						       (__force void *)netmem))
			page_pool_put_full_netmem(pt->pool, netmem, true);
		if (given % 1000 == 0)
			pp_test_reader_wait(rd, 1);
	}
	given--;

	pp_test_returner_stop(&rt[0]);
	pp_test_returner_stop(&rt[1]);

	pp_test_read(pt->pool, &stats);
	KUNIT_EXPECT_EQ(test, given, pp_test_given(&stats));
	KUNIT_EXPECT_EQ(test, given, pp_test_taken(&stats));
	pp_test_reader_expect(test, rd);
	kunit_info(test, "%u pages", given);
}

static struct kunit_case page_pool_test_cases[] = {
	KUNIT_CASE(pp_test_slow_then_fast),
	KUNIT_CASE(pp_test_cached),
	KUNIT_CASE(pp_test_cache_full),
	KUNIT_CASE(pp_test_refill),
	KUNIT_CASE(pp_test_ring_full),
	KUNIT_CASE(pp_test_ring_bulk),
	KUNIT_CASE(pp_test_ring_full_bulk),
	KUNIT_CASE(pp_test_released_refcnt),
	KUNIT_CASE(pp_test_high_order),
	KUNIT_CASE(pp_test_waive),
	KUNIT_CASE(pp_test_frag_reused),
	KUNIT_CASE(pp_test_frag_in_use),
	KUNIT_CASE(pp_test_frag_drained_refcnt),
	KUNIT_CASE(pp_test_frag_destroyed),
	KUNIT_CASE(pp_test_provider),
	KUNIT_CASE(pp_test_provider_high_order),
	KUNIT_CASE(pp_test_provider_bulk),
	KUNIT_CASE(pp_test_frag_alloc_fails),
	KUNIT_CASE(pp_test_map_fails),
	KUNIT_CASE(pp_test_dma_sync),
	KUNIT_CASE(pp_test_dma_unmap),
	KUNIT_CASE(pp_test_destroyed_empty),
	KUNIT_CASE(pp_test_local),
	KUNIT_CASE(pp_test_alloc_fails),
	KUNIT_CASE(pp_test_system_pools_share),
	KUNIT_CASE(pp_test_stats_add_up),
	KUNIT_CASE(pp_test_stats_array),
	KUNIT_CASE(pp_test_beyond_32_bits),
	KUNIT_CASE(pp_test_cpus_that_counted),
	KUNIT_CASE_SLOW(pp_test_carry_is_not_seen),
	KUNIT_CASE_SLOW(pp_test_concurrent),
	{}
};

static struct kunit_suite page_pool_test_suite = {
	.name = "page_pool",
	.test_cases = page_pool_test_cases,
};

kunit_test_suite(page_pool_test_suite);

MODULE_DESCRIPTION("KUnit tests for the statistics of page_pool");
MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
MODULE_LICENSE("GPL");
