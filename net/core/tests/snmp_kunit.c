// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests for the macros which count the events of the IP MIBs */

#include <kunit/test.h>

#include <linux/bits.h>
#include <linux/bottom_half.h>
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/u64_stats_sync.h>

#include <net/if_inet6.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <net/snmp.h>

/* As much as one call can add on 32-bit. Whenever it is added the upper half
 * of a counter changes, and no multiple of it has the upper half of one
 * multiple and the lower half of the next.
 */
#define SNMP_TEST_STEP		((u64)U32_MAX)

struct snmp_test {
	struct net *net;
	struct inet6_dev *idev;
};

struct snmp_test_mib {
	u64 pkts;
	u64 octets;
};

static void snmp_test_free_percpu(void *data)
{
	free_percpu((void __percpu *)(__force unsigned long)data);
}

static struct ipstats_mib __percpu *snmp_test_alloc_mib(struct kunit *test)
{
	struct ipstats_mib __percpu *mib = alloc_percpu(struct ipstats_mib);
	void *data = (void *)(__force unsigned long)mib;
	int cpu;

	KUNIT_ASSERT_NOT_NULL(test, data);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, snmp_test_free_percpu,
						  data));
	for_each_possible_cpu(cpu)
		u64_stats_init(&per_cpu_ptr(mib, cpu)->syncp);

	return mib;
}

/* The macros need no more of a namespace and a device than their counters. */
static int snmp_test_init(struct kunit *test)
{
	struct snmp_test *st;

	st = kunit_kzalloc(test, sizeof(*st), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, st);
	st->net = kunit_kzalloc(test, sizeof(*st->net), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, st->net);
	st->idev = kunit_kzalloc(test, sizeof(*st->idev), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, st->idev);
	st->idev->stats.ipv6_cpus = kunit_kzalloc(test, cpumask_size(),
						  GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, st->idev->stats.ipv6_cpus);

	st->net->mib.ip_statistics = snmp_test_alloc_mib(test);
	st->net->mib.ipv6_statistics = snmp_test_alloc_mib(test);
	st->idev->stats.ipv6 = snmp_test_alloc_mib(test);
	test->priv = st;

	return 0;
}

static void snmp_test_ip_inc(struct snmp_test *st)
{
	IP_INC_STATS(st->net, IPSTATS_MIB_INPKTS);
}

static void snmp_test_ip_inc_bh(struct snmp_test *st)
{
	__IP_INC_STATS(st->net, IPSTATS_MIB_INPKTS);
}

static void snmp_test_ip_add(struct snmp_test *st)
{
	IP_ADD_STATS(st->net, IPSTATS_MIB_INOCTETS, SNMP_TEST_STEP);
}

static void snmp_test_ip_add_bh(struct snmp_test *st)
{
	__IP_ADD_STATS(st->net, IPSTATS_MIB_INOCTETS, SNMP_TEST_STEP);
}

static void snmp_test_ip_upd_po(struct snmp_test *st)
{
	IP_UPD_PO_STATS(st->net, IPSTATS_MIB_IN, SNMP_TEST_STEP);
}

static void snmp_test_ip_upd_po_bh(struct snmp_test *st)
{
	__IP_UPD_PO_STATS(st->net, IPSTATS_MIB_IN, SNMP_TEST_STEP);
}

static void snmp_test_ip6_inc(struct snmp_test *st)
{
	IP6_INC_STATS(st->net, st->idev, IPSTATS_MIB_INPKTS);
}

static void snmp_test_ip6_inc_bh(struct snmp_test *st)
{
	__IP6_INC_STATS(st->net, st->idev, IPSTATS_MIB_INPKTS);
}

static void snmp_test_ip6_inc_pkt(struct snmp_test *st)
{
	IP6_INC_PKT_STATS(st->net, st->idev, IPSTATS_MIB_INPKTS);
}

static void snmp_test_ip6_inc_pkt_bh(struct snmp_test *st)
{
	__IP6_INC_PKT_STATS(st->net, st->idev, IPSTATS_MIB_INPKTS);
}

static void snmp_test_ip6_add(struct snmp_test *st)
{
	IP6_ADD_STATS(st->net, st->idev, IPSTATS_MIB_INOCTETS, SNMP_TEST_STEP);
}

static void snmp_test_ip6_add_bh(struct snmp_test *st)
{
	__IP6_ADD_STATS(st->net, st->idev, IPSTATS_MIB_INOCTETS,
			SNMP_TEST_STEP);
}

static void snmp_test_ip6_upd_po(struct snmp_test *st)
{
	IP6_UPD_PO_STATS(st->net, st->idev, IPSTATS_MIB_IN, SNMP_TEST_STEP);
}

static void snmp_test_ip6_upd_po_bh(struct snmp_test *st)
{
	__IP6_UPD_PO_STATS(st->net, st->idev, IPSTATS_MIB_IN, SNMP_TEST_STEP);
}

struct snmp_test_param {
	const char *name;
	void (*count)(struct snmp_test *st);
	bool ipv6;
	u64 pkts;
	u64 octets;
};

static const struct snmp_test_param snmp_test_params[] = {
	{ "IP_INC_STATS", snmp_test_ip_inc, false, 1, 0 },
	{ "__IP_INC_STATS", snmp_test_ip_inc_bh, false, 1, 0 },
	{ "IP_ADD_STATS", snmp_test_ip_add, false, 0, SNMP_TEST_STEP },
	{ "__IP_ADD_STATS", snmp_test_ip_add_bh, false, 0, SNMP_TEST_STEP },
	{ "IP_UPD_PO_STATS", snmp_test_ip_upd_po, false, 1, SNMP_TEST_STEP },
	{ "__IP_UPD_PO_STATS", snmp_test_ip_upd_po_bh, false,
	  1, SNMP_TEST_STEP },
	{ "IP6_INC_STATS", snmp_test_ip6_inc, true, 1, 0 },
	{ "__IP6_INC_STATS", snmp_test_ip6_inc_bh, true, 1, 0 },
	{ "IP6_INC_PKT_STATS", snmp_test_ip6_inc_pkt, true, 1, 0 },
	{ "__IP6_INC_PKT_STATS", snmp_test_ip6_inc_pkt_bh, true, 1, 0 },
	{ "IP6_ADD_STATS", snmp_test_ip6_add, true, 0, SNMP_TEST_STEP },
	{ "__IP6_ADD_STATS", snmp_test_ip6_add_bh, true, 0, SNMP_TEST_STEP },
	{ "IP6_UPD_PO_STATS", snmp_test_ip6_upd_po, true, 1, SNMP_TEST_STEP },
	{ "__IP6_UPD_PO_STATS", snmp_test_ip6_upd_po_bh, true,
	  1, SNMP_TEST_STEP },
};

KUNIT_ARRAY_PARAM_DESC(snmp_test, snmp_test_params, name);

/* What one CPU counted, as a reader on another one gets it. */
static struct snmp_test_mib
snmp_test_read(const struct ipstats_mib __percpu *pcpu, int cpu)
{
	const struct ipstats_mib *mib = per_cpu_ptr(pcpu, cpu);
	struct snmp_test_mib ret;
	unsigned int start;

	do {
		start = u64_stats_fetch_begin(&mib->syncp);
		ret.pkts = READ_ONCE(mib->mibs[IPSTATS_MIB_INPKTS]);
		ret.octets = READ_ONCE(mib->mibs[IPSTATS_MIB_INOCTETS]);
	} while (u64_stats_fetch_retry(&mib->syncp, start));

	return ret;
}

static struct snmp_test_mib
snmp_test_sum(const struct ipstats_mib __percpu *pcpu)
{
	struct snmp_test_mib sum = {}, mib;
	int cpu;

	for_each_possible_cpu(cpu) {
		mib = snmp_test_read(pcpu, cpu);
		sum.pkts += mib.pkts;
		sum.octets += mib.octets;
	}

	return sum;
}

static struct ipstats_mib __percpu *
snmp_test_netns_mib(const struct snmp_test *st,
		    const struct snmp_test_param *param)
{
	return param->ipv6 ? st->net->mib.ipv6_statistics :
			     st->net->mib.ip_statistics;
}

/* Every macro counts in the namespace, the IPv6 ones in the device as well,
 * and a counter does not end at 32 bits.
 */
static void snmp_counts_past_32_bits(struct kunit *test)
{
	const struct snmp_test_param *param = test->param_value;
	struct snmp_test *st = test->priv;
	struct snmp_test_mib sum;
	int i;

	local_bh_disable();
	for (i = 0; i < 3; i++)
		param->count(st);
	local_bh_enable();

	sum = snmp_test_sum(snmp_test_netns_mib(st, param));
	KUNIT_EXPECT_EQ(test, 3 * param->pkts, sum.pkts);
	KUNIT_EXPECT_EQ(test, 3 * param->octets, sum.octets);

	sum = snmp_test_sum(st->idev->stats.ipv6);
	KUNIT_EXPECT_EQ(test, param->ipv6 ? 3 * param->pkts : 0, sum.pkts);
	KUNIT_EXPECT_EQ(test, param->ipv6 ? 3 * param->octets : 0, sum.octets);
}

/* A device without IPv6 is no reason to lose the namespace's count. */
static void snmp_counts_without_a_device(struct kunit *test)
{
	struct snmp_test *st = test->priv;
	struct snmp_test_mib sum;

	local_bh_disable();
	IP6_UPD_PO_STATS(st->net, NULL, IPSTATS_MIB_IN, SNMP_TEST_STEP);
	__IP6_UPD_PO_STATS(st->net, NULL, IPSTATS_MIB_IN, SNMP_TEST_STEP);
	local_bh_enable();

	sum = snmp_test_sum(st->net->mib.ipv6_statistics);
	KUNIT_EXPECT_EQ(test, 2, sum.pkts);
	KUNIT_EXPECT_EQ(test, 2 * SNMP_TEST_STEP, sum.octets);
}

/* The IPv6 macros mark the CPU that they count on, and only that one, and what
 * the marked CPUs counted is all there is.
 */
static void snmp_marks_its_cpu(struct kunit *test)
{
	const struct snmp_test_param *param = test->param_value;
	struct snmp_test *st = test->priv;
	u64 sum[IPSTATS_MIB_MAX] = {};
	const struct cpumask *cpus;
	int cpu, n = 0;

	cpus = st->idev->stats.ipv6_cpus;
	for_each_online_cpu(cpu) {
		KUNIT_ASSERT_EQ(test, 0,
				set_cpus_allowed_ptr(current, cpumask_of(cpu)));
		local_bh_disable();
		param->count(st);
		KUNIT_EXPECT_EQ(test, param->ipv6, cpumask_test_cpu(cpu, cpus));
		param->count(st);
		local_bh_enable();
		n++;
		KUNIT_EXPECT_EQ(test, param->ipv6 ? n : 0,
				cpumask_weight(cpus));
	}
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	if (!param->ipv6)
		n = 0;

	inet6_dev_fold_ipstats(st->idev, sum);
	KUNIT_EXPECT_EQ(test, 2 * n * param->pkts, sum[IPSTATS_MIB_INPKTS]);
	KUNIT_EXPECT_EQ(test, 2 * n * param->octets, sum[IPSTATS_MIB_INOCTETS]);
}

/* On 32-bit a counter is 0 only if both its halves are: with 2^32 packets
 * counted, the CPU is taken to be marked.
 */
static void snmp_marks_by_the_whole_counter(struct kunit *test)
{
	struct snmp_test *st = test->priv;
	const struct cpumask *cpus = st->idev->stats.ipv6_cpus;
	u64 *counter;

	local_bh_disable();
	counter = &this_cpu_ptr(st->idev->stats.ipv6)->mibs[IPSTATS_MIB_INPKTS];
	*counter = BIT_ULL(32);
	IP6_INC_STATS(st->net, st->idev, IPSTATS_MIB_INPKTS);
	KUNIT_EXPECT_EQ(test, 0, cpumask_weight(cpus));

	/* A counter that wraps is no reason to miss what comes next. */
	*counter = U64_MAX;
	IP6_INC_STATS(st->net, st->idev, IPSTATS_MIB_INPKTS);
	KUNIT_EXPECT_EQ(test, 0, *counter);
	IP6_INC_STATS(st->net, st->idev, IPSTATS_MIB_INPKTS);
	KUNIT_EXPECT_TRUE(test, cpumask_test_cpu(smp_processor_id(), cpus));
	local_bh_enable();
}

struct snmp_test_irq {
	struct hrtimer timer;
	const struct inet6_dev *idev;
	unsigned long counted;
	unsigned long unmarked;
};

/* Nobody but the macro runs on this CPU, and it is interrupted anywhere. */
static enum hrtimer_restart snmp_test_irq(struct hrtimer *timer)
{
	const struct ipstats_mib *mib;
	struct snmp_test_irq *irq;

	irq = container_of(timer, struct snmp_test_irq, timer);
	mib = this_cpu_ptr(irq->idev->stats.ipv6);
	if (mib->mibs[IPSTATS_MIB_INPKTS] || mib->mibs[IPSTATS_MIB_INOCTETS]) {
		irq->counted++;
		irq->unmarked += !cpumask_test_cpu(smp_processor_id(),
						   irq->idev->stats.ipv6_cpus);
	}
	hrtimer_forward_now(timer, us_to_ktime(50));

	return HRTIMER_RESTART;
}

/* First the mark, then the counter, for who comes in between: it must not find
 * a counter that is not 0 on a CPU which is not marked.
 */
static void snmp_marks_before_it_counts(struct kunit *test)
{
	const struct snmp_test_param *param = test->param_value;
	struct snmp_test *st = test->priv;
	struct snmp_test_irq irq = { .idev = st->idev };
	unsigned long end, flags;
	struct ipstats_mib *mib;

	/* IPv4 has no marks. */
	if (!param->ipv6)
		return;

	hrtimer_setup_on_stack(&irq.timer, snmp_test_irq, CLOCK_MONOTONIC,
			       HRTIMER_MODE_REL_PINNED_HARD);
	migrate_disable();
	hrtimer_start(&irq.timer, us_to_ktime(50),
		      HRTIMER_MODE_REL_PINNED_HARD);
	for (end = jiffies + HZ / 4; time_before(jiffies, end); ) {
		local_irq_save(flags);
		mib = this_cpu_ptr(st->idev->stats.ipv6);
		memset(mib->mibs, 0, sizeof(mib->mibs));
		cpumask_clear(st->idev->stats.ipv6_cpus);
		local_irq_restore(flags);
		local_bh_disable();
		param->count(st);
		local_bh_enable();
	}
	hrtimer_cancel(&irq.timer);
	migrate_enable();
	destroy_hrtimer_on_stack(&irq.timer);

	KUNIT_EXPECT_GT(test, irq.counted, 0);
	KUNIT_EXPECT_EQ(test, 0, irq.unmarked);
}

static unsigned int
snmp_test_sequence(const struct ipstats_mib __percpu *pcpu)
{
	const struct ipstats_mib *mib;
	unsigned int sequence = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		mib = per_cpu_ptr(pcpu, cpu);
		sequence += u64_stats_fetch_begin(&mib->syncp);
	}

	return sequence;
}

/* On 32-bit, a reader can only tell that it met a writer half-way when the
 * writer was in a section of the sequence counter. A section counts two.
 */
static void snmp_writes_in_a_section(struct kunit *test)
{
	const struct snmp_test_param *param = test->param_value;
	struct snmp_test *st = test->priv;
	struct ipstats_mib __percpu *mib;

	if (BITS_PER_LONG != 32)
		kunit_skip(test, "64-bit writes its counters whole");

	mib = snmp_test_netns_mib(st, param);
	local_bh_disable();
	param->count(st);
	local_bh_enable();

	KUNIT_EXPECT_EQ(test, 2, snmp_test_sequence(mib));
	KUNIT_EXPECT_EQ(test, param->ipv6 ? 2 : 0,
			snmp_test_sequence(st->idev->stats.ipv6));
}

static int snmp_test_writer(void *data)
{
	struct snmp_test *st = data;

	while (!kthread_should_stop()) {
		local_bh_disable();
		__IP6_UPD_PO_STATS(st->net, st->idev, IPSTATS_MIB_IN,
				   SNMP_TEST_STEP);
		local_bh_enable();
		IP6_UPD_PO_STATS(st->net, st->idev, IPSTATS_MIB_IN,
				 SNMP_TEST_STEP);
		cond_resched();
	}

	return 0;
}

static void snmp_test_stop_writer(void *task)
{
	kthread_stop(task);
}

static int snmp_test_start_writer(struct kunit *test)
{
	struct task_struct *task;
	int cpu;

	cpu = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());
	if (cpu >= nr_cpu_ids)
		kunit_skip(test, "needs two CPUs");

	task = kthread_create(snmp_test_writer, test->priv, "snmp_kunit");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, snmp_test_stop_writer,
						  task));
	kthread_bind(task, cpu);
	wake_up_process(task);

	return cpu;
}

/* Read what another CPU writes all the time. A value must be one that was
 * written, and not older than the one before. Where there are sections, the
 * packets and the bytes of one update show up together.
 */
static void snmp_reader_meets_writer(struct kunit *test)
{
	unsigned long torn = 0, back = 0, apart = 0, reads = 0, end;
	struct snmp_test *st = test->priv;
	struct snmp_test_mib mib, prev = {};
	int cpu;

	cpu = snmp_test_start_writer(test);

	for (end = jiffies + HZ; time_before(jiffies, end); reads++) {
		mib = snmp_test_read(st->idev->stats.ipv6, cpu);
		torn += mib.octets != div_u64(mib.octets, SNMP_TEST_STEP) *
				      SNMP_TEST_STEP;
		back += mib.octets < prev.octets;
		apart += mib.octets != mib.pkts * SNMP_TEST_STEP;
		prev = mib;
	}

	kunit_info(test, "%lu reads of %llu updates", reads, prev.pkts);
	KUNIT_EXPECT_GT(test, prev.pkts, 0);
	KUNIT_EXPECT_EQ(test, 0, torn);
	KUNIT_EXPECT_EQ(test, 0, back);
	if (BITS_PER_LONG == 32)
		KUNIT_EXPECT_EQ(test, 0, apart);
}

static struct kunit_case snmp_test_cases[] = {
	KUNIT_CASE_PARAM(snmp_counts_past_32_bits, snmp_test_gen_params),
	KUNIT_CASE(snmp_counts_without_a_device),
	KUNIT_CASE_PARAM(snmp_marks_its_cpu, snmp_test_gen_params),
	KUNIT_CASE(snmp_marks_by_the_whole_counter),
	KUNIT_CASE_PARAM_ATTR(snmp_marks_before_it_counts,
			      snmp_test_gen_params,
			      {.speed = KUNIT_SPEED_SLOW}),
	KUNIT_CASE_PARAM(snmp_writes_in_a_section, snmp_test_gen_params),
	KUNIT_CASE_SLOW(snmp_reader_meets_writer),
	{}
};

static struct kunit_suite snmp_test_suite = {
	.name = "net_snmp",
	.init = snmp_test_init,
	.test_cases = snmp_test_cases,
};

kunit_test_suite(snmp_test_suite);

MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
MODULE_DESCRIPTION("KUnit tests for the SNMP counter macros");
MODULE_LICENSE("GPL");
