// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests for the one-pass sums of per-cpu counter rows */

#include <kunit/test.h>

#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/u64_stats_sync.h>

#include <net/pcpu_fold.h>

/* Longer than two sections, so that a row can end in any of three. */
#define FOLD_TEST_MAX		(2 * PCPU_FOLD_SECTION + 2)
/* What the sums hold before, and behind the row for good. */
#define FOLD_TEST_BEFORE	1000
#define FOLD_TEST_GUARD		0x5a5a5a5a5a5a5a5aULL

struct fold_test_row {
	u64			counters[FOLD_TEST_MAX];
	struct u64_stats_sync	syncp;
};

struct fold_test {
	struct fold_test_row __percpu *rows;
	unsigned long __percpu *ulongs;
	u64 sum[FOLD_TEST_MAX + 1];
	u64 prev[PCPU_FOLD_SECTION];
	unsigned long ulong_sum[FOLD_TEST_MAX + 1];
};

static void fold_test_free_percpu(void *data)
{
	free_percpu((void __percpu *)(__force unsigned long)data);
}

static void __percpu *fold_test_alloc_percpu(struct kunit *test, size_t size)
{
	void __percpu *rows = __alloc_percpu(size, __alignof__(u64));
	void *data = (void *)(__force unsigned long)rows;

	KUNIT_ASSERT_NOT_NULL(test, data);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, fold_test_free_percpu,
						  data));
	return rows;
}

static int fold_test_init(struct kunit *test)
{
	struct fold_test *ft;
	int cpu;

	ft = kunit_kzalloc(test, sizeof(*ft), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ft);
	ft->rows = fold_test_alloc_percpu(test, sizeof(*ft->rows));
	ft->ulongs = fold_test_alloc_percpu(test, FOLD_TEST_MAX *
						  sizeof(*ft->ulongs));
	for_each_possible_cpu(cpu)
		u64_stats_init(&per_cpu_ptr(ft->rows, cpu)->syncp);
	test->priv = ft;

	return 0;
}

/* No two counters are alike, and any two of them add up to over 32 bits. */
static u64 fold_test_value(int cpu, int i)
{
	return ((u64)(cpu + 1) << 32) + U32_MAX - i;
}

static void fold_test_fill(struct fold_test *ft)
{
	int cpu, i;

	for_each_possible_cpu(cpu) {
		for (i = 0; i < FOLD_TEST_MAX; i++) {
			per_cpu_ptr(ft->rows, cpu)->counters[i] =
				fold_test_value(cpu, i);
			per_cpu_ptr(ft->ulongs, cpu)[i] =
				fold_test_value(cpu, i);
		}
	}
}

static void fold_test_prepare_sums(struct fold_test *ft, unsigned int n)
{
	int i;

	for (i = 0; i < n; i++)
		ft->sum[i] = FOLD_TEST_BEFORE + i;
	ft->sum[n] = FOLD_TEST_GUARD;
}

static void fold_test_expect_sums(struct kunit *test, unsigned int n,
				  const struct cpumask *cpus)
{
	struct fold_test *ft = test->priv;
	int cpu, i;

	for (i = 0; i < n; i++) {
		u64 expected = FOLD_TEST_BEFORE + i;

		for_each_cpu(cpu, cpus)
			expected += fold_test_value(cpu, i);
		KUNIT_EXPECT_EQ_MSG(test, expected, ft->sum[i],
				    "counter %d of %u", i, n);
	}
	KUNIT_EXPECT_EQ(test, FOLD_TEST_GUARD, ft->sum[n]);
}

static const unsigned int fold_test_lengths[] = {
	0, 1, 2, 37,
	PCPU_FOLD_SECTION - 1, PCPU_FOLD_SECTION, PCPU_FOLD_SECTION + 1,
	2 * PCPU_FOLD_SECTION, FOLD_TEST_MAX,
};

static void fold_test_length_desc(const unsigned int *n, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u counters", *n);
}

KUNIT_ARRAY_PARAM(fold_test_length, fold_test_lengths, fold_test_length_desc);

/* The sums of all CPUs are added to what was there, and nothing is written
 * behind the last counter.
 */
static void fold_adds_rows(struct kunit *test)
{
	const unsigned int n = *(const unsigned int *)test->param_value;
	struct fold_test *ft = test->priv;

	fold_test_fill(ft);
	fold_test_prepare_sums(ft, n);
	pcpu_fold_u64(ft->sum, ft->rows->counters, n, NULL);
	fold_test_expect_sums(test, n, pcpu_fold_cpus());
}

/* The same through a seqcount, where a row can take several sections. */
static void fold_adds_rows_with_seqcount(struct kunit *test)
{
	const unsigned int n = *(const unsigned int *)test->param_value;
	struct fold_test *ft = test->priv;

	fold_test_fill(ft);
	fold_test_prepare_sums(ft, n);
	pcpu_fold_u64(ft->sum, ft->rows->counters, n, &ft->rows->syncp);
	fold_test_expect_sums(test, n, pcpu_fold_cpus());
}

/* Rows of unsigned long wrap at their own size. */
static void fold_adds_ulongs(struct kunit *test)
{
	const unsigned int n = *(const unsigned int *)test->param_value;
	struct fold_test *ft = test->priv;
	unsigned long *sum = ft->ulong_sum;
	unsigned long expected;
	int cpu, i;

	fold_test_fill(ft);
	for (i = 0; i < n; i++)
		sum[i] = FOLD_TEST_BEFORE + i;
	sum[n] = (unsigned long)FOLD_TEST_GUARD;

	pcpu_fold_ulong(sum, ft->ulongs, n);

	for (i = 0; i < n; i++) {
		expected = FOLD_TEST_BEFORE + i;
		for_each_cpu(cpu, pcpu_fold_cpus())
			expected += fold_test_value(cpu, i);
		KUNIT_EXPECT_EQ(test, expected, sum[i]);
	}
	KUNIT_EXPECT_EQ(test, (unsigned long)FOLD_TEST_GUARD, sum[n]);
}

/* What goes up on one CPU may go down on another, see TcpCurrEstab. */
static void fold_adds_decrements(struct kunit *test)
{
	int first = cpumask_first(pcpu_fold_cpus());
	int last = cpumask_last(pcpu_fold_cpus());
	struct fold_test *ft = test->priv;
	unsigned long sum[2] = {};

	per_cpu_ptr(ft->ulongs, first)[0] += 5;
	per_cpu_ptr(ft->ulongs, last)[0] -= 2;
	per_cpu_ptr(ft->ulongs, last)[1] -= 7;

	pcpu_fold_ulong(sum, ft->ulongs, ARRAY_SIZE(sum));

	KUNIT_EXPECT_EQ(test, 3, sum[0]);
	KUNIT_EXPECT_EQ(test, -7, (long)sum[1]);
}

static void fold_test_given_cpus(struct kunit *test,
				 const struct cpumask *cpus)
{
	struct fold_test *ft = test->priv;

	fold_test_prepare_sums(ft, FOLD_TEST_MAX);
	pcpu_fold_u64_cpus(ft->sum, ft->rows->counters, FOLD_TEST_MAX,
			   &ft->rows->syncp, cpus);
	fold_test_expect_sums(test, FOLD_TEST_MAX, cpus);
}

/* A caller who knows which CPUs wrote gets the sum of just these: of none, of
 * the first few, and of each one alone. Rows are added in batches, so every
 * number of CPUs is another case.
 */
static void fold_visits_given_cpus(struct kunit *test)
{
	struct cpumask *one, *first;
	int cpu;

	one = kunit_kzalloc(test, sizeof(*one), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, one);
	first = kunit_kzalloc(test, sizeof(*first), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, first);
	fold_test_fill(test->priv);

	fold_test_given_cpus(test, first);
	for_each_possible_cpu(cpu) {
		cpumask_set_cpu(cpu, first);
		fold_test_given_cpus(test, first);

		cpumask_clear(one);
		cpumask_set_cpu(cpu, one);
		fold_test_given_cpus(test, one);
	}
}

/* All that is online counts, and nothing that cannot come online. */
static void fold_visits_online_cpus(struct kunit *test)
{
	const struct cpumask *cpus = pcpu_fold_cpus();

	KUNIT_EXPECT_TRUE(test, cpumask_subset(cpu_online_mask, cpus));
	KUNIT_EXPECT_TRUE(test, cpumask_subset(cpus, cpu_possible_mask));
	kunit_info(test, "%u of %u CPUs are visited", cpumask_weight(cpus),
		   num_possible_cpus());
}

/* The row of a CPU that never came online is not read. */
static void fold_skips_cpus_never_online(struct kunit *test)
{
	struct fold_test *ft = test->priv;
	unsigned long ulong_sum = 0;
	u64 sum = 0;
	int cpu;

	if (cpumask_equal(pcpu_fold_cpus(), cpu_possible_mask))
		kunit_skip(test, "every CPU was online");

	for_each_cpu_andnot(cpu, cpu_possible_mask, pcpu_fold_cpus()) {
		per_cpu_ptr(ft->rows, cpu)->counters[0] = 1;
		per_cpu_ptr(ft->ulongs, cpu)[0] = 1;
	}
	pcpu_fold_u64(&sum, ft->rows->counters, 1, &ft->rows->syncp);
	pcpu_fold_ulong(&ulong_sum, ft->ulongs, 1);

	KUNIT_EXPECT_EQ(test, 0, sum);
	KUNIT_EXPECT_EQ(test, 0, ulong_sum);
}

/* Writes as much of the row as fits in a section, by a step that changes both
 * halves of each counter, over and over.
 */
static int fold_test_writer(void *data)
{
	struct fold_test *ft = data;
	struct fold_test_row *row;
	int i;

	while (!kthread_should_stop()) {
		preempt_disable();
		row = this_cpu_ptr(ft->rows);
		u64_stats_update_begin(&row->syncp);
		for (i = 0; i < PCPU_FOLD_SECTION; i++)
			WRITE_ONCE(row->counters[i],
				   row->counters[i] + U32_MAX);
		u64_stats_update_end(&row->syncp);
		preempt_enable();
		cond_resched();
	}

	return 0;
}

static void fold_test_stop_writer(void *task)
{
	kthread_stop(task);
}

static void fold_test_start_writer(struct kunit *test)
{
	struct task_struct *task;
	int cpu;

	cpu = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());
	if (cpu >= nr_cpu_ids)
		kunit_skip(test, "needs two CPUs");

	task = kthread_create(fold_test_writer, test->priv, "pcpu_fold_kunit");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, fold_test_stop_writer,
						  task));
	kthread_bind(task, cpu);
	wake_up_process(task);
}

/* No counter goes back, or is half old and half new. On 32-bit the counters
 * that are written together are also read together.
 */
static void fold_meets_writer(struct kunit *test)
{
	unsigned long torn = 0, back = 0, apart = 0, end;
	struct fold_test *ft = test->priv;
	u64 *prev = ft->prev;
	int i;

	fold_test_start_writer(test);

	for (end = jiffies + HZ; time_before(jiffies, end); cond_resched()) {
		memset(ft->sum, 0, sizeof(ft->sum));
		pcpu_fold_u64(ft->sum, ft->rows->counters, PCPU_FOLD_SECTION,
			      &ft->rows->syncp);
		for (i = 0; i < PCPU_FOLD_SECTION; i++) {
			torn += ft->sum[i] != div_u64(ft->sum[i], U32_MAX) *
					      (u64)U32_MAX;
			back += ft->sum[i] < prev[i];
			apart += ft->sum[i] != ft->sum[0];
		}
		memcpy(prev, ft->sum, sizeof(ft->prev));
	}

	KUNIT_EXPECT_GT(test, prev[0], 0);
	KUNIT_EXPECT_EQ(test, 0, torn);
	KUNIT_EXPECT_EQ(test, 0, back);
	if (BITS_PER_LONG == 32)
		KUNIT_EXPECT_EQ(test, 0, apart);
}

/* As struct ipstats_mib, of as many devices as do not fit into small caches */
#define FOLD_BENCH_LEN		38
#define FOLD_BENCH_ROWS		1000
#define FOLD_BENCH_ROUNDS	20

typedef void fold_bench_fn(u64 *sum, const u64 __percpu *row, unsigned int n);

/* What the fold replaced: first one counter of all CPUs, then the next */
static noinline void fold_bench_by_counter(u64 *sum, const u64 __percpu *row,
					   unsigned int n)
{
	unsigned int i;
	int cpu;

	for (i = 0; i < n; i++)
		for_each_possible_cpu(cpu)
			sum[i] += *per_cpu_ptr(row + i, cpu);
}

/* ... and first all counters of one CPU, then the next */
static noinline void fold_bench_by_cpu(u64 *sum, const u64 __percpu *row,
				       unsigned int n)
{
	unsigned int i;
	int cpu;

	for_each_possible_cpu(cpu)
		for (i = 0; i < n; i++)
			sum[i] += *per_cpu_ptr(row + i, cpu);
}

static void fold_bench_fold(u64 *sum, const u64 __percpu *row, unsigned int n)
{
	pcpu_fold_u64(sum, row, n, NULL);
}

/* Nanoseconds for one row, in the best of some rounds. */
static u64 fold_bench_row(u64 __percpu **rows, fold_bench_fn *fn, bool cold)
{
	u64 sum[FOLD_BENCH_LEN], best = U64_MAX;
	ktime_t start;
	int i, j;

	for (i = 0; i < FOLD_BENCH_ROUNDS; i++) {
		start = ktime_get();
		for (j = 0; j < FOLD_BENCH_ROWS; j++) {
			memset(sum, 0, sizeof(sum));
			fn(sum, rows[cold ? j : 0], FOLD_BENCH_LEN);
		}
		best = min_t(u64, best, ktime_to_ns(ktime_sub(ktime_get(),
							      start)));
		cond_resched();
	}

	return div_u64(best, FOLD_BENCH_ROWS);
}

/* Not a check, but figures to compare. */
static void fold_benchmark(struct kunit *test)
{
	static const struct {
		const char *name;
		fold_bench_fn *fn;
	} ways[] = {
		{ "counter by counter", fold_bench_by_counter },
		{ "cpu by cpu", fold_bench_by_cpu },
		{ "fold", fold_bench_fold },
	};
	u64 __percpu **rows;
	int i;

	rows = kunit_kcalloc(test, FOLD_BENCH_ROWS, sizeof(*rows), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rows);
	for (i = 0; i < FOLD_BENCH_ROWS; i++)
		rows[i] = fold_test_alloc_percpu(test, FOLD_BENCH_LEN *
						       sizeof(u64));

	for (i = 0; i < ARRAY_SIZE(ways); i++)
		kunit_info(test,
			   "%s: %llu ns warm, %llu ns cold for %u counters, %u of %u CPUs",
			   ways[i].name,
			   fold_bench_row(rows, ways[i].fn, false),
			   fold_bench_row(rows, ways[i].fn, true),
			   FOLD_BENCH_LEN, cpumask_weight(pcpu_fold_cpus()),
			   num_possible_cpus());
}

static struct kunit_case fold_test_cases[] = {
	KUNIT_CASE_PARAM(fold_adds_rows, fold_test_length_gen_params),
	KUNIT_CASE_PARAM(fold_adds_rows_with_seqcount,
			 fold_test_length_gen_params),
	KUNIT_CASE_PARAM(fold_adds_ulongs, fold_test_length_gen_params),
	KUNIT_CASE(fold_adds_decrements),
	KUNIT_CASE(fold_visits_given_cpus),
	KUNIT_CASE(fold_visits_online_cpus),
	KUNIT_CASE(fold_skips_cpus_never_online),
	KUNIT_CASE_SLOW(fold_meets_writer),
	KUNIT_CASE_SLOW(fold_benchmark),
	{}
};

static struct kunit_suite fold_test_suite = {
	.name = "net_pcpu_fold",
	.init = fold_test_init,
	.test_cases = fold_test_cases,
};

kunit_test_suite(fold_test_suite);

MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
MODULE_DESCRIPTION("KUnit tests for the one-pass sums of per-cpu counter rows");
MODULE_LICENSE("GPL");
