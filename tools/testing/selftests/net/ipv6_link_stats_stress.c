// SPDX-License-Identifier: GPL-2.0
/* No event of a device is ever missing in its IPv6 counters.
 *
 * The kernel only sums up the CPUs which counted something for a device. That
 * a CPU did so is noted once in the life of the device, before the first
 * event. This test does first events, over and over: in each round all devices
 * are as good as new (IPv6 leaves a device whose MTU is too small, and starts
 * from zero when it is large enough again), and one packet is sent from each.
 *
 * The processes which send change the CPU all the time, in the middle of
 * sending, too. Who sent a packet looks at once whether it is counted. When a
 * round is over each counter is compared with what was sent.
 *
 * IPV6_STATS_SECONDS sets how long all tests together take.
 */

#define _GNU_SOURCE

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>

#include "ipv6_link_stats.h"
#include "kselftest_harness.h"

#define TESTS		4
#define SECONDS		40	/* all tests together */
#define MAX_SECONDS	(4 * 3600)

#define DEVICES		32
#define MAX_CPUS	64
#define MAX_WRITERS	8
#define MTU		1500
#define MTU_NO_IPV6	1000

#define DATA_LEN	100
#define PACKET_LEN	(40 + 8 + DATA_LEN)

/* The slots of IFLA_INET6_STATS */
#define SLOTS		38
enum {
	IN_RECEIVES	= 1,
	IN_OCTETS	= 2,
	IN_NO_ECT	= 4,
	OUT_REQUESTS	= 8,
	OUT_TRANSMITS	= 9,
	OUT_OCTETS	= 10,
	IN_MCAST	= 28,
	OUT_MCAST	= 29,
	IN_MCAST_OCTETS	= 32,
	OUT_MCAST_OCTETS = 33,
};

/* Between the processes of a test */
struct shared {
	sem_t start;		/* a writer may go through the devices */
	sem_t done;		/* a writer has no more to do */
	int next;		/* device that nobody has sent from */
	bool stop;
	bool failed;
	char why[128];		/* of who was the first to fail */
	unsigned long reads;
	unsigned long moves;
	unsigned long unplugs;
};

struct link {
	int ifindex;
	__u64 slots[SLOTS];
	bool seen;
};

struct nl_req {
	struct nlmsghdr nlh;
	struct ifinfomsg ifm;
	char attrs[256];
};

struct env {
	struct shared *shared;
	struct link links[DEVICES];
	pid_t writers[MAX_WRITERS];
	pid_t others[4];
	int n_writers;
	int n_others;
	int cpus[MAX_CPUS];
	int n_cpus;
	int nl;
	int ctl;
};

FIXTURE(ipv6_link_stats_stress) {
	struct env env;
};

FIXTURE_VARIANT(ipv6_link_stats_stress) {
	const char *kind;
	bool hotplug;
};

/* Only the process that sends counts. */
FIXTURE_VARIANT_ADD(ipv6_link_stats_stress, dummy) {
	.kind = "dummy",
};

/* Receives, too: a softirq counts on top of the process, maybe for the same
 * device, which another process sends to.
 */
FIXTURE_VARIANT_ADD(ipv6_link_stats_stress, veth) {
	.kind = "veth",
};

FIXTURE_VARIANT_ADD(ipv6_link_stats_stress, dummy_hotplug) {
	.kind = "dummy",
	.hotplug = true,
};

FIXTURE_VARIANT_ADD(ipv6_link_stats_stress, veth_hotplug) {
	.kind = "veth",
	.hotplug = true,
};

static void fail(struct shared *shared, const char *fmt, ...)
{
	va_list args;

	if (__atomic_exchange_n(&shared->failed, true, __ATOMIC_RELAXED))
		return;
	va_start(args, fmt);
	vsnprintf(shared->why, sizeof(shared->why), fmt, args);
	va_end(args);
}

static bool stopped(const struct shared *shared)
{
	return __atomic_load_n(&shared->stop, __ATOMIC_RELAXED);
}

static void add_one(unsigned long *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

static time_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

static int seconds(void)
{
	const char *str = getenv("IPV6_STATS_SECONDS");
	int all = str ? atoi(str) : SECONDS;

	return all > TESTS ? all / TESTS : 1;
}

static void dev_name(char *name, int i)
{
	snprintf(name, IFNAMSIZ, "st%d", i);
}

static struct nlattr *put_attr(struct nl_req *req, int type, const void *data,
			       int len)
{
	struct nlattr *nla = (void *)req + NLMSG_ALIGN(req->nlh.nlmsg_len);

	nla->nla_type = type;
	nla->nla_len = NLA_HDRLEN + len;
	if (len)
		memcpy((void *)nla + NLA_HDRLEN, data, len);
	req->nlh.nlmsg_len = NLMSG_ALIGN(req->nlh.nlmsg_len) +
			     NLA_ALIGN(nla->nla_len);

	return nla;
}

static void end_attr(struct nl_req *req, struct nlattr *nla)
{
	nla->nla_len = (void *)req + req->nlh.nlmsg_len - (void *)nla;
}

static void put_veth_peer(struct nl_req *req, const char *name)
{
	struct ifinfomsg ifm = {};
	struct nlattr *data, *peer;

	data = put_attr(req, IFLA_INFO_DATA, NULL, 0);
	peer = put_attr(req, VETH_INFO_PEER, &ifm, sizeof(ifm));
	put_attr(req, IFLA_IFNAME, name, strlen(name) + 1);
	end_attr(req, peer);
	end_attr(req, data);
}

/* Add device @i, for veth the next one as well. */
static int add_link(int nl, const char *kind, int i)
{
	struct nl_req req = {
		.nlh.nlmsg_len = NLMSG_LENGTH(sizeof(req.ifm)),
		.nlh.nlmsg_type = RTM_NEWLINK,
		.nlh.nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL |
				   NLM_F_ACK,
	};
	char buf[1024], name[IFNAMSIZ];
	const struct nlmsghdr *nlh = (void *)buf;
	struct nlattr *info;

	dev_name(name, i);
	put_attr(&req, IFLA_IFNAME, name, strlen(name) + 1);
	info = put_attr(&req, IFLA_LINKINFO, NULL, 0);
	put_attr(&req, IFLA_INFO_KIND, kind, strlen(kind));
	if (!strcmp(kind, "veth")) {
		dev_name(name, i + 1);
		put_veth_peer(&req, name);
	}
	end_attr(&req, info);

	if (send(nl, &req, req.nlh.nlmsg_len, 0) < 0 ||
	    recv(nl, buf, sizeof(buf), 0) < 0)
		return -errno;

	return nlh->nlmsg_type == NLMSG_ERROR ? *(int *)NLMSG_DATA(nlh) :
						-EPROTO;
}

static int set_mtu(int ctl, int i, int mtu)
{
	struct ifreq ifr = { .ifr_mtu = mtu };

	dev_name(ifr.ifr_name, i);
	return ioctl(ctl, SIOCSIFMTU, &ifr);
}

static int dev_up(int ctl, const char *name)
{
	struct ifreq ifr = { .ifr_flags = IFF_UP };

	snprintf(ifr.ifr_name, IFNAMSIZ, "%s", name);
	return ioctl(ctl, SIOCSIFFLAGS, &ifr);
}

static void parse_link(const struct nlmsghdr *nlh, struct link *links)
{
	const struct ifinfomsg *ifm = NLMSG_DATA(nlh);
	const struct nlattr *nla;
	int i;

	nla = find_attr(IFLA_RTA(ifm), IFLA_PAYLOAD(nlh), IFLA_PROTINFO);
	if (nla)
		nla = find_attr((const void *)nla + NLA_HDRLEN,
				nla->nla_len - NLA_HDRLEN, IFLA_INET6_STATS);
	if (!nla || nla->nla_len != NLA_HDRLEN + SLOTS * sizeof(__u64))
		return;

	for (i = 0; i < DEVICES; i++) {
		if (links[i].ifindex != ifm->ifi_index)
			continue;
		memcpy(links[i].slots, (const void *)nla + NLA_HDRLEN,
		       sizeof(links[i].slots));
		links[i].seen = true;
	}
}

/* The counters of all devices of which IPv6 knows */
static int dump(int nl, struct link *links)
{
	struct nl_req req = {
		.nlh.nlmsg_len = NLMSG_LENGTH(sizeof(req.ifm)),
		.nlh.nlmsg_type = RTM_GETLINK,
		.nlh.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		.ifm.ifi_family = AF_INET6,
	};
	const struct nlmsghdr *nlh;
	char buf[1 << 15];
	ssize_t len;
	int i;

	for (i = 0; i < DEVICES; i++)
		links[i].seen = false;
	if (send(nl, &req, req.nlh.nlmsg_len, 0) < 0)
		return -errno;

	for (;;) {
		len = recv(nl, buf, sizeof(buf), 0);
		if (len < 0)
			return -errno;
		for (nlh = (void *)buf; NLMSG_OK(nlh, len);
		     nlh = NLMSG_NEXT(nlh, len)) {
			if (nlh->nlmsg_type == NLMSG_ERROR ||
			    nlh->nlmsg_type == NLMSG_DONE)
				return *(int *)NLMSG_DATA(nlh);
			parse_link(nlh, links);
		}
	}
}

/* One counter of a device, which may come and go. */
static int read_proc(int i, const char *name, unsigned long *value)
{
	char path[64], buf[4096], *str;
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/net/dev_snmp6/st%d", i);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return -errno;
	len = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (len <= 0)
		return -ENOENT;
	buf[len] = '\0';
	str = strstr(buf, name);
	if (!str)
		return -EPROTO;
	*value = strtoul(str + strlen(name), NULL, 10);

	return 0;
}

/* Send from device @i, and look whether that was counted. The packet goes to
 * a group that nobody has joined, so there is no answer.
 */
static bool send_one(struct shared *shared, int fd, int i, int ifindex)
{
	struct sockaddr_in6 dst = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(9),
		.sin6_scope_id = ifindex,
	};
	static const char data[DATA_LEN];
	unsigned long value;
	int err;

	inet_pton(AF_INET6, "ff02::4321", &dst.sin6_addr);
	if (sendto(fd, data, sizeof(data), 0, (void *)&dst, sizeof(dst)) < 0) {
		fail(shared, "st%d: send: %m", i);
		return false;
	}
	err = read_proc(i, "Ip6OutTransmits", &value);
	if (err || value != 1) {
		fail(shared, "st%d: sent 1, counted %lu, error %d", i,
		     err ? 0 : value, err);
		return false;
	}

	return true;
}

/* The devices have no address, so that IPv6 sends nothing on its own. */
static int udp_socket(void)
{
	struct sockaddr_in6 src = { .sin6_family = AF_INET6 };
	int one = 1;
	int fd;

	inet_pton(AF_INET6, "fd00::1", &src.sin6_addr);
	fd = socket(AF_INET6, SOCK_DGRAM, 0);
	if (fd < 0)
		return -1;
	if (setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &one, sizeof(one)) ||
	    bind(fd, (void *)&src, sizeof(src)))
		return -1;

	return fd;
}

static void writer(struct shared *shared, const struct link *links)
{
	int fd, i;

	fd = udp_socket();
	if (fd < 0)
		fail(shared, "UDP socket: %m");

	while (!sem_wait(&shared->start) && !stopped(shared)) {
		do {
			i = __atomic_fetch_add(&shared->next, 1,
					       __ATOMIC_RELAXED);
		} while (i < DEVICES &&
			 send_one(shared, fd, i, links[i].ifindex));
		sem_post(&shared->done);
	}
}

/* No counter is ever higher than it can be. */
static void reader_netlink(struct shared *shared, const struct link *devices)
{
	struct link links[DEVICES];
	int nl, err, i;

	memcpy(links, devices, sizeof(links));
	nl = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	while (!stopped(shared)) {
		err = dump(nl, links);
		if (err)
			fail(shared, "dump: error %d", err);
		for (i = 0; i < DEVICES; i++) {
			if (!links[i].seen)
				continue;
			if (links[i].slots[0] != SLOTS)
				fail(shared, "slot 0: %llu", links[i].slots[0]);
			if (links[i].slots[OUT_TRANSMITS] > 1 ||
			    links[i].slots[OUT_OCTETS] > PACKET_LEN)
				fail(shared, "dump: more than was sent");
		}
		add_one(&shared->reads);
	}
}

static void reader_proc(struct shared *shared)
{
	unsigned long value;
	int i, err;

	while (!stopped(shared)) {
		for (i = 0; i < DEVICES; i++) {
			err = read_proc(i, "Ip6OutOctets", &value);
			if (!err && value > PACKET_LEN)
				fail(shared, "/proc: more than was sent");
			add_one(&shared->reads);
		}
	}
}

/* Push the writers from CPU to CPU, wherever they are. */
static void mover(struct shared *shared, const pid_t *pids, int n_pids,
		  const int *cpus, int n_cpus)
{
	while (!stopped(shared)) {
		/* Some CPUs may be offline. */
		if (!pin(pids[rand() % n_pids], cpus[rand() % n_cpus]))
			add_one(&shared->moves);
		usleep(rand() % 50);
	}
}

/* The first CPU stays, so that there is always one. */
static void unplugger(struct shared *shared, const int *cpus, int n_cpus)
{
	while (!stopped(shared)) {
		int cpu = cpus[1 + rand() % (n_cpus - 1)];

		if (cpu_online(cpu, 0))
			continue;
		usleep(rand() % 20000);
		if (cpu_online(cpu, 1))
			fail(shared, "CPU %d does not come back", cpu);
		add_one(&shared->unplugs);
	}
}

/* Fork a process which does not outlive the test. */
static pid_t child(void)
{
	pid_t pid = fork();

	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);

	return pid;
}

/* Without addresses and without routers, no device sends by itself. */
static int quiet_namespace(void)
{
	int fd, ret;

	if (unshare(CLONE_NEWNET))
		return -1;
	fd = open("/proc/sys/net/ipv6/conf/default/addr_gen_mode", O_WRONLY);
	if (fd < 0)
		return -1;
	ret = write(fd, "1", 1) == 1 ? 0 : -1;
	close(fd);

	return ret;
}

FIXTURE_SETUP(ipv6_link_stats_stress)
{
	bool veth = !strcmp(variant->kind, "veth");
	struct env *env = &self->env;
	char name[IFNAMSIZ];
	int i;

	env->n_cpus = allowed_cpus(env->cpus, MAX_CPUS);
	ASSERT_GT(env->n_cpus, 0);
	env->n_writers = env->n_cpus + 1 < MAX_WRITERS ? env->n_cpus + 1 :
							   MAX_WRITERS;

	ASSERT_EQ(quiet_namespace(), 0);
	env->nl = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	ASSERT_GE(env->nl, 0);
	env->ctl = socket(AF_INET6, SOCK_DGRAM, 0);
	ASSERT_GE(env->ctl, 0);

	ASSERT_EQ(dev_up(env->ctl, "lo"), 0);
	for (i = 0; i < DEVICES; i += veth ? 2 : 1)
		ASSERT_EQ(add_link(env->nl, variant->kind, i), 0);
	for (i = 0; i < DEVICES; i++) {
		dev_name(name, i);
		ASSERT_EQ(dev_up(env->ctl, name), 0);
		env->links[i].ifindex = if_nametoindex(name);
		ASSERT_NE(env->links[i].ifindex, 0);
	}

	env->shared = mmap(NULL, sizeof(*env->shared), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(env->shared != MAP_FAILED);
	ASSERT_EQ(sem_init(&env->shared->start, 1, 0), 0);
	ASSERT_EQ(sem_init(&env->shared->done, 1, 0), 0);
}

FIXTURE_TEARDOWN(ipv6_link_stats_stress)
{
	struct env *env = &self->env;
	int i;

	for (i = 0; i < env->n_writers; i++)
		if (env->writers[i] > 0)
			kill(env->writers[i], SIGKILL);
	for (i = 0; i < env->n_others; i++)
		if (env->others[i] > 0)
			kill(env->others[i], SIGKILL);
	if (variant->hotplug)
		for (i = 1; i < env->n_cpus; i++)
			cpu_online(env->cpus[i], 1);
}

static void start(struct __test_metadata *_metadata,
		  struct env *env, bool hotplug)
{
	struct shared *shared = env->shared;
	int i;

	for (i = 0; i < env->n_writers; i++) {
		env->writers[i] = child();
		ASSERT_GE(env->writers[i], 0);
		if (!env->writers[i]) {
			writer(shared, env->links);
			_exit(0);
		}
	}

	env->n_others = hotplug ? 4 : 3;
	for (i = 0; i < env->n_others; i++) {
		env->others[i] = child();
		ASSERT_GE(env->others[i], 0);
		if (env->others[i])
			continue;
		if (i == 0)
			mover(shared, env->writers, env->n_writers,
			      env->cpus, env->n_cpus);
		else if (i == 1)
			reader_netlink(shared, env->links);
		else if (i == 2)
			reader_proc(shared);
		else
			unplugger(shared, env->cpus, env->n_cpus);
		_exit(0);
	}
}

static void stop(struct __test_metadata *_metadata,
		 struct env *env)
{
	int i;

	__atomic_store_n(&env->shared->stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < env->n_writers; i++)
		sem_post(&env->shared->start);
	for (i = 0; i < env->n_writers; i++)
		EXPECT_EQ(waitpid(env->writers[i], NULL, 0), env->writers[i]);
	for (i = 0; i < env->n_others; i++)
		EXPECT_EQ(waitpid(env->others[i], NULL, 0), env->others[i]);
	env->n_writers = 0;
	env->n_others = 0;
}

/* What one packet sent, and for veth one received, count, and that nothing
 * else is counted.
 */
static bool as_expected(const struct link *link, bool veth)
{
	__u64 expected[SLOTS] = {};
	int i;

	expected[0] = SLOTS;
	expected[OUT_REQUESTS] = 1;
	expected[OUT_TRANSMITS] = 1;
	expected[OUT_OCTETS] = PACKET_LEN;
	expected[OUT_MCAST] = 1;
	expected[OUT_MCAST_OCTETS] = PACKET_LEN;
	if (veth) {
		expected[IN_RECEIVES] = 1;
		expected[IN_OCTETS] = PACKET_LEN;
		expected[IN_NO_ECT] = 1;
		expected[IN_MCAST] = 1;
		expected[IN_MCAST_OCTETS] = PACKET_LEN;
	}

	for (i = 0; i < SLOTS; i++)
		if (!link->seen || link->slots[i] != expected[i])
			return false;

	return true;
}

/* Return: the number of a device which is not as it should be, or -1 */
static int wrong_link(const struct link *links, bool veth)
{
	int i;

	for (i = 0; i < DEVICES; i++)
		if (!as_expected(&links[i], veth))
			return i;

	return -1;
}

static void log_link(struct __test_metadata *_metadata,
		     const struct link *link, int i)
{
	int slot;

	TH_LOG("st%d: %s", i, link->seen ? "wrong" : "missing");
	for (slot = 1; slot < SLOTS; slot++)
		if (link->slots[slot])
			TH_LOG("slot %d: %llu", slot, link->slots[slot]);
}

/* All that was sent is counted when sending returns. What is received may
 * take a softirq more.
 */
static bool check_round(struct __test_metadata *_metadata,
			struct env *env, bool veth)
{
	time_t end = now() + 10;
	int i;

	do {
		ASSERT_EQ(dump(env->nl, env->links), 0);
		i = wrong_link(env->links, veth);
	} while (i >= 0 && veth && now() < end);
	if (i >= 0)
		log_link(_metadata, &env->links[i], i);

	return i < 0;
}

static bool renew_links(struct env *env)
{
	int i;

	for (i = 0; i < DEVICES; i++)
		if (set_mtu(env->ctl, i, MTU_NO_IPV6) ||
		    set_mtu(env->ctl, i, MTU))
			return false;

	return true;
}

static bool run_writers(struct env *env)
{
	struct shared *shared = env->shared;
	struct timespec timeout;
	int i;

	clock_gettime(CLOCK_REALTIME, &timeout);
	timeout.tv_sec += 60;
	__atomic_store_n(&shared->next, 0, __ATOMIC_RELAXED);
	for (i = 0; i < env->n_writers; i++)
		sem_post(&shared->start);
	for (i = 0; i < env->n_writers; i++)
		if (sem_timedwait(&shared->done, &timeout))
			fail(shared, "no writer: %m");

	return !__atomic_load_n(&shared->failed, __ATOMIC_RELAXED);
}

static bool preempt_rt(void)
{
	struct utsname name;

	return !uname(&name) && strstr(name.version, "PREEMPT_RT");
}

TEST_F_TIMEOUT(ipv6_link_stats_stress, first_events, MAX_SECONDS)
{
	bool veth = !strcmp(variant->kind, "veth");
	struct env *env = &self->env;
	struct shared *shared = env->shared;
	time_t end = now() + seconds();
	unsigned long rounds = 0;
	bool ok;

	if (env->n_cpus < 2)
		SKIP(return, "needs two CPUs");
	if (variant->hotplug && cpu_online(env->cpus[1], 1))
		SKIP(return, "no CPU hotplug");
	/* As of 7.3, WARN_ON_ONCE(!pending) in affine_move_task() */
	if (variant->hotplug && preempt_rt())
		SKIP(return, "the scheduler of PREEMPT_RT warns about moves");

	start(_metadata, env, variant->hotplug);
	do {
		ok = renew_links(env);
		EXPECT_TRUE(ok)
			TH_LOG("MTU: %m");
		ok = ok && run_writers(env) &&
		     check_round(_metadata, env, veth);
		rounds++;
	} while (ok && now() < end);
	stop(_metadata, env);

	EXPECT_TRUE(ok);
	EXPECT_FALSE(shared->failed)
		TH_LOG("%s", shared->why);
	TH_LOG("%lu packets, %lu reads, %lu moves, %lu CPUs unplugged",
	       rounds * DEVICES, shared->reads, shared->moves, shared->unplugs);
	EXPECT_NE(shared->reads, 0UL);
	EXPECT_NE(shared->moves, 0UL);
	if (variant->hotplug)
		EXPECT_NE(shared->unplugs, 0UL);
}

TEST_HARNESS_MAIN
