// SPDX-License-Identifier: GPL-2.0
/* The IPv6 counters of a device, as netlink and /proc/net/dev_snmp6 show them.
 *
 * Everything runs on the loopback device of a namespace of its own. Nobody
 * else sends there, so each counter is known to the digit. A packet to ::1 is
 * received on the CPU that sent it: a test which pins itself decides in which
 * per-cpu row the packet is counted.
 */

#define _GNU_SOURCE

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <net/route.h>
#include <netinet/in.h>
#include <netinet/ip6.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "ipv6_link_stats.h"
#include "kselftest_harness.h"

#define LO_IFINDEX	1
#define PORT		20000

#define IP6_HDR_LEN	40
#define UDP_HDR_LEN	8

/* Length of the attributes, slot 0 included. New counters are added at the
 * end, what is there stays where it is.
 */
#define IP6_SLOTS	38
#define ICMP6_SLOTS	7

/* The slots are ABI. They are spelled out here, and not taken from
 * linux/snmp.h, to notice when that one changes.
 */
struct counter {
	const char *name;
	int slot;
};

static const struct counter ip6_counters[] = {
	{ "Ip6InReceives", 1 },
	{ "Ip6InOctets", 2 },
	{ "Ip6InDelivers", 3 },
	{ "Ip6InNoECTPkts", 4 },
	{ "Ip6InECT1Pkts", 5 },
	{ "Ip6InECT0Pkts", 6 },
	{ "Ip6InCEPkts", 7 },
	{ "Ip6OutRequests", 8 },
	{ "Ip6OutTransmits", 9 },
	{ "Ip6OutOctets", 10 },
	{ "Ip6OutForwDatagrams", 11 },
	{ "Ip6InHdrErrors", 12 },
	{ "Ip6InTooBigErrors", 13 },
	{ "Ip6InNoRoutes", 14 },
	{ "Ip6InAddrErrors", 15 },
	{ "Ip6InUnknownProtos", 16 },
	{ "Ip6InTruncatedPkts", 17 },
	{ "Ip6InDiscards", 18 },
	{ "Ip6OutDiscards", 19 },
	{ "Ip6OutNoRoutes", 20 },
	{ "Ip6ReasmTimeout", 21 },
	{ "Ip6ReasmReqds", 22 },
	{ "Ip6ReasmOKs", 23 },
	{ "Ip6ReasmFails", 24 },
	{ "Ip6FragOKs", 25 },
	{ "Ip6FragFails", 26 },
	{ "Ip6FragCreates", 27 },
	{ "Ip6InMcastPkts", 28 },
	{ "Ip6OutMcastPkts", 29 },
	{ "Ip6InMcastOctets", 32 },
	{ "Ip6OutMcastOctets", 33 },
	{ "Ip6InBcastOctets", 34 },
	{ "Ip6OutBcastOctets", 35 },
	/* /proc does not show InBcastPkts (30), OutBcastPkts (31),
	 * InCsumErrors (36) and ReasmOverlaps (37).
	 */
	{}
};

static const struct counter icmp6_counters[] = {
	{ "Icmp6InMsgs", 1 },
	{ "Icmp6InErrors", 2 },
	{ "Icmp6OutMsgs", 3 },
	{ "Icmp6OutErrors", 4 },
	{ "Icmp6InCsumErrors", 5 },
	/* 6 is OutRateLimitHost, which is not counted per device */
	{}
};

/* What a dump says about the loopback device. A length of -1 means that the
 * attribute is missing.
 */
struct link_stats {
	int ip6_len;
	int icmp6_len;
	__u64 ip6[IP6_SLOTS];
	__u64 icmp6[ICMP6_SLOTS];
	int msg_len;
};

struct dump_req {
	struct nlmsghdr nlh;
	struct ifinfomsg ifm;
	struct nlattr nla;
	__u32 value;
};

struct env {
	int nl;			/* without strict checking */
	int nl_strict;
	int tx;
	int rx;
	struct sockaddr_in6 dst;
	char buf[1 << 16];
};

FIXTURE(ipv6_link_stats) {
	struct env env;
};

/* The attributes within an attribute, or after a header of @skip bytes. */
static const void *attr_data(const struct nlattr *nla, int *len)
{
	*len = nla->nla_len - NLA_HDRLEN;
	return (const void *)nla + NLA_HDRLEN;
}

static int copy_slots(const struct nlattr *nla, __u64 *slots, int max)
{
	const void *data;
	int len;

	if (!nla)
		return -1;
	data = attr_data(nla, &len);
	memcpy(slots, data, len < max ? len : max);

	return len;
}

static void parse_inet6(const struct nlattr *inet6, struct link_stats *stats)
{
	const void *data;
	int len;

	data = attr_data(inet6, &len);
	stats->ip6_len = copy_slots(find_attr(data, len, IFLA_INET6_STATS),
				    stats->ip6, sizeof(stats->ip6));
	stats->icmp6_len = copy_slots(find_attr(data, len,
						IFLA_INET6_ICMP6STATS),
				      stats->icmp6, sizeof(stats->icmp6));
}

static bool parse_link(const struct nlmsghdr *nlh, int family,
		       struct link_stats *stats)
{
	const struct ifinfomsg *ifm = NLMSG_DATA(nlh);
	const struct nlattr *nla;
	const void *data;
	int len;

	if (ifm->ifi_index != LO_IFINDEX)
		return false;

	stats->msg_len = nlh->nlmsg_len;
	len = IFLA_PAYLOAD(nlh);
	data = IFLA_RTA(ifm);
	if (family == AF_INET6) {
		nla = find_attr(data, len, IFLA_PROTINFO);
	} else {
		nla = find_attr(data, len, IFLA_AF_SPEC);
		if (!nla)
			return false;
		data = attr_data(nla, &len);
		nla = find_attr(data, len, AF_INET6);
	}
	if (!nla)
		return false;
	parse_inet6(nla, stats);

	return true;
}

/* Dump the links. Attribute 0 stands for none.
 * Return: 0 when the loopback device was there, or a negative errno.
 */
static int dump(int nl, int family, int type, __u32 value,
		struct link_stats *stats)
{
	struct dump_req req = {
		.nlh.nlmsg_len = type ? sizeof(req) :
				 NLMSG_LENGTH(sizeof(req.ifm)),
		.nlh.nlmsg_type = RTM_GETLINK,
		.nlh.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		.ifm.ifi_family = family,
		.nla.nla_len = NLA_HDRLEN + sizeof(value),
		.nla.nla_type = type,
		.value = value,
	};
	const struct nlmsghdr *nlh;
	char buf[1 << 15];
	bool found = false;
	ssize_t len;

	memset(stats, 0, sizeof(*stats));
	if (send(nl, &req, req.nlh.nlmsg_len, 0) < 0)
		return -errno;

	for (;;) {
		len = recv(nl, buf, sizeof(buf), 0);
		if (len < 0)
			return -errno;
		for (nlh = (void *)buf; NLMSG_OK(nlh, len);
		     nlh = NLMSG_NEXT(nlh, len)) {
			if (nlh->nlmsg_type == NLMSG_ERROR)
				return *(int *)NLMSG_DATA(nlh) ?: -EPROTO;
			if (nlh->nlmsg_type == NLMSG_DONE)
				return *(int *)NLMSG_DATA(nlh) ?:
				       (found ? 0 : -ENODEV);
			found |= parse_link(nlh, family, stats);
		}
	}
}

/* One counter of a file with a name and a number on each line. */
static int read_proc(const char *path, const char *name, __u64 *value)
{
	char line[256], key[64];
	unsigned long long val;
	int ret = -ENOENT;
	FILE *f;

	f = fopen(path, "r");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%63s %llu", key, &val) == 2 &&
		    !strcmp(key, name)) {
			*value = val;
			ret = 0;
			break;
		}
	}
	fclose(f);

	return ret;
}

#define DEV_SNMP6	"/proc/self/net/dev_snmp6/lo"
#define SNMP6		"/proc/self/net/snmp6"

static int net_ioctl(int family, unsigned long cmd, void *arg)
{
	int fd, ret;

	fd = socket(family, SOCK_DGRAM, 0);
	if (fd < 0)
		return -1;
	ret = ioctl(fd, cmd, arg);
	close(fd);

	return ret;
}

static int lo_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP };

	return net_ioctl(AF_INET, SIOCSIFFLAGS, &ifr);
}

static int lo_set_mtu(int mtu)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_mtu = mtu };

	return net_ioctl(AF_INET, SIOCSIFMTU, &ifr);
}

static int lo_add_route(const struct in6_addr *dst, int dst_len)
{
	struct in6_rtmsg rtmsg = {
		.rtmsg_dst = *dst,
		.rtmsg_dst_len = dst_len,
		.rtmsg_ifindex = LO_IFINDEX,
		.rtmsg_metric = 1,
		.rtmsg_flags = RTF_UP,
	};

	return net_ioctl(AF_INET6, SIOCADDRT, &rtmsg);
}

FIXTURE_SETUP(ipv6_link_stats)
{
	struct timeval timeout = { .tv_sec = 10 };
	struct env *env = &self->env;
	int one = 1;

	ASSERT_EQ(unshare(CLONE_NEWNET), 0);
	ASSERT_EQ(lo_up(), 0);

	env->nl = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	ASSERT_GE(env->nl, 0);
	env->nl_strict = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	ASSERT_GE(env->nl_strict, 0);
	ASSERT_EQ(setsockopt(env->nl_strict, SOL_NETLINK,
			     NETLINK_GET_STRICT_CHK, &one, sizeof(one)), 0);

	memset(&env->dst, 0, sizeof(env->dst));
	env->dst.sin6_family = AF_INET6;
	env->dst.sin6_port = htons(PORT);

	env->rx = socket(AF_INET6, SOCK_DGRAM, 0);
	ASSERT_GE(env->rx, 0);
	ASSERT_EQ(bind(env->rx, (void *)&env->dst, sizeof(env->dst)), 0);
	env->dst.sin6_addr = in6addr_loopback;
	ASSERT_EQ(setsockopt(env->rx, SOL_SOCKET, SO_RCVTIMEO, &timeout,
			     sizeof(timeout)), 0);
	env->tx = socket(AF_INET6, SOCK_DGRAM, 0);
	ASSERT_GE(env->tx, 0);
}

FIXTURE_TEARDOWN(ipv6_link_stats)
{
	struct env *env = &self->env;

	close(env->tx);
	close(env->rx);
	close(env->nl_strict);
	close(env->nl);
}

/* Send packets of @len bytes of data, and wait until each one has come in. */
static int send_packets(struct env *env, int count, size_t len)
{
	int i;

	memset(env->buf, 0, len);
	for (i = 0; i < count; i++) {
		if (sendto(env->tx, env->buf, len, 0, (void *)&env->dst,
			   sizeof(env->dst)) != (ssize_t)len)
			return -1;
		if (recv(env->rx, env->buf, sizeof(env->buf), 0) !=
		    (ssize_t)len)
			return -1;
	}

	return 0;
}

/* Netlink says what it is asked for: slot 0 holds the number of slots, and
 * every counter is the one of /proc.
 */
static void expect_agreement(struct __test_metadata *_metadata,
			     const struct env *env, struct link_stats *stats)
{
	const struct counter *c;
	__u64 value;

	ASSERT_EQ(dump(env->nl, AF_INET6, 0, 0, stats), 0);
	ASSERT_GE(stats->ip6_len, (int)sizeof(stats->ip6));
	EXPECT_EQ(stats->ip6[0] * sizeof(__u64), stats->ip6_len);
	ASSERT_GE(stats->icmp6_len, (int)sizeof(stats->icmp6));
	EXPECT_EQ(stats->icmp6[0] * sizeof(__u64), stats->icmp6_len);

	for (c = ip6_counters; c->name; c++) {
		ASSERT_EQ(read_proc(DEV_SNMP6, c->name, &value), 0)
			TH_LOG("%s", c->name);
		EXPECT_EQ(stats->ip6[c->slot], value)
			TH_LOG("%s", c->name);
		/* There is no other device in this namespace. */
		ASSERT_EQ(read_proc(SNMP6, c->name, &value), 0)
			TH_LOG("%s", c->name);
		EXPECT_EQ(stats->ip6[c->slot], value)
			TH_LOG("%s of the namespace", c->name);
	}
	for (c = icmp6_counters; c->name; c++) {
		ASSERT_EQ(read_proc(DEV_SNMP6, c->name, &value), 0)
			TH_LOG("%s", c->name);
		EXPECT_EQ(stats->icmp6[c->slot], value)
			TH_LOG("%s", c->name);
	}
}

/* What a packet from ::1 to ::1 counts, and that it counts nothing else. */
static void expect_udp(struct __test_metadata *_metadata,
		       const struct link_stats *now,
		       const struct link_stats *before, __u64 packets,
		       __u64 bytes)
{
	struct link_stats expected = *before;
	int i;

	bytes += packets * (IP6_HDR_LEN + UDP_HDR_LEN);
	expected.ip6[1] += packets;	/* InReceives */
	expected.ip6[2] += bytes;	/* InOctets */
	expected.ip6[3] += packets;	/* InDelivers */
	expected.ip6[4] += packets;	/* InNoECTPkts */
	expected.ip6[8] += packets;	/* OutRequests */
	expected.ip6[9] += packets;	/* OutTransmits */
	expected.ip6[10] += bytes;	/* OutOctets */

	for (i = 0; i < IP6_SLOTS; i++)
		EXPECT_EQ(now->ip6[i], expected.ip6[i])
			TH_LOG("slot %d", i);
	for (i = 0; i < ICMP6_SLOTS; i++)
		EXPECT_EQ(now->icmp6[i], expected.icmp6[i])
			TH_LOG("ICMPv6 slot %d", i);
}

/* The number of slots, and where each one is. */
TEST_F(ipv6_link_stats, layout)
{
	struct link_stats stats;

	expect_agreement(_metadata, &self->env, &stats);
	EXPECT_EQ(stats.ip6[0], IP6_SLOTS);
	EXPECT_EQ(stats.ip6_len, IP6_SLOTS * sizeof(__u64));
	EXPECT_EQ(stats.icmp6[0], ICMP6_SLOTS);
	EXPECT_EQ(stats.icmp6_len, ICMP6_SLOTS * sizeof(__u64));
}

/* A packet is counted once, whichever CPU it is sent on. */
TEST_F(ipv6_link_stats, traffic_on_each_cpu)
{
	struct link_stats before, now;
	int cpus[8], n, i;

	n = allowed_cpus(cpus, ARRAY_SIZE(cpus));
	ASSERT_GT(n, 0);

	for (i = 0; i < n; i++) {
		expect_agreement(_metadata, &self->env, &before);
		ASSERT_EQ(pin(0, cpus[i]), 0);
		ASSERT_EQ(send_packets(&self->env, 10 + i, 100 + i), 0);
		expect_agreement(_metadata, &self->env, &now);
		expect_udp(_metadata, &now, &before, 10 + i,
			   (10 + i) * (100 + i));
	}
}

/* Move more than the counters of plain packets. */
TEST_F(ipv6_link_stats, other_counters)
{
	const struct sockaddr_in6 raw_dst = {
		.sin6_family = AF_INET6,
		.sin6_addr = IN6ADDR_LOOPBACK_INIT,
	};
	const struct ip6_hdr unknown = {
		.ip6_flow = htonl(6 << 28),
		.ip6_nxt = 253,		/* for experiments, RFC 3692 */
		.ip6_hlim = 64,
		.ip6_src = IN6ADDR_LOOPBACK_INIT,
		.ip6_dst = IN6ADDR_LOOPBACK_INIT,
	};
	struct link_stats before, now;
	struct ipv6_mreq mreq = {};
	struct sockaddr_in6 dst;
	int tclass, raw;

	expect_agreement(_metadata, &self->env, &before);

	/* Each codepoint of ECN another number of times */
	for (tclass = 1; tclass <= 3; tclass++) {
		ASSERT_EQ(setsockopt(self->env.tx, IPPROTO_IPV6, IPV6_TCLASS,
				     &tclass, sizeof(tclass)), 0);
		ASSERT_EQ(send_packets(&self->env, tclass, 10), 0);
	}
	tclass = 0;
	ASSERT_EQ(setsockopt(self->env.tx, IPPROTO_IPV6, IPV6_TCLASS, &tclass,
			     sizeof(tclass)), 0);

	/* One packet in several fragments, and put together again */
	ASSERT_EQ(lo_set_mtu(1280), 0);
	ASSERT_EQ(send_packets(&self->env, 1, 3000), 0);

	/* To a group, of which this socket is a member */
	ASSERT_EQ(inet_pton(AF_INET6, "ff01::1234", &mreq.ipv6mr_multiaddr), 1);
	ASSERT_EQ(lo_add_route(&mreq.ipv6mr_multiaddr, 128), 0);
	mreq.ipv6mr_interface = LO_IFINDEX;
	ASSERT_EQ(setsockopt(self->env.rx, IPPROTO_IPV6, IPV6_JOIN_GROUP, &mreq,
			     sizeof(mreq)), 0);
	dst = self->env.dst;
	self->env.dst.sin6_addr = mreq.ipv6mr_multiaddr;
	self->env.dst.sin6_scope_id = LO_IFINDEX;
	ASSERT_EQ(send_packets(&self->env, 4, 10), 0);
	self->env.dst = dst;

	/* A protocol that nobody speaks, and the ICMPv6 error it earns */
	raw = socket(AF_INET6, SOCK_RAW, IPPROTO_RAW);
	ASSERT_GE(raw, 0);
	ASSERT_EQ(sendto(raw, &unknown, sizeof(unknown), 0, (void *)&raw_dst,
			 sizeof(raw_dst)), sizeof(unknown));
	close(raw);

	expect_agreement(_metadata, &self->env, &now);
	EXPECT_EQ(now.ip6[5] - before.ip6[5], 1);	/* InECT1Pkts */
	EXPECT_EQ(now.ip6[6] - before.ip6[6], 2);	/* InECT0Pkts */
	EXPECT_EQ(now.ip6[7] - before.ip6[7], 3);	/* InCEPkts */
	EXPECT_EQ(now.ip6[16] - before.ip6[16], 1);	/* InUnknownProtos */
	EXPECT_EQ(now.ip6[22] - before.ip6[22], 3);	/* ReasmReqds */
	EXPECT_EQ(now.ip6[23] - before.ip6[23], 1);	/* ReasmOKs */
	EXPECT_EQ(now.ip6[25] - before.ip6[25], 1);	/* FragOKs */
	EXPECT_EQ(now.ip6[27] - before.ip6[27], 3);	/* FragCreates */
	EXPECT_EQ(now.ip6[28] - before.ip6[28], 4);	/* InMcastPkts */
	EXPECT_EQ(now.ip6[29] - before.ip6[29], 4);	/* OutMcastPkts */
	EXPECT_EQ(now.ip6[32] - before.ip6[32],		/* InMcastOctets */
		  4 * (IP6_HDR_LEN + UDP_HDR_LEN + 10));
	EXPECT_EQ(now.ip6[33] - before.ip6[33],		/* OutMcastOctets */
		  4 * (IP6_HDR_LEN + UDP_HDR_LEN + 10));
	EXPECT_EQ(now.icmp6[1] - before.icmp6[1], 1);	/* InMsgs */
	EXPECT_EQ(now.icmp6[3] - before.icmp6[3], 1);	/* OutMsgs */
}

/* What a CPU counted stays when the CPU goes. */
TEST_F(ipv6_link_stats, cpu_offline)
{
	struct link_stats before, now;
	int cpus[8], n, last;

	n = allowed_cpus(cpus, ARRAY_SIZE(cpus));
	if (n < 2)
		SKIP(return, "needs two CPUs");
	last = cpus[n - 1];

	expect_agreement(_metadata, &self->env, &before);
	ASSERT_EQ(pin(0, last), 0);
	ASSERT_EQ(send_packets(&self->env, 21, 300), 0);
	ASSERT_EQ(pin(0, cpus[0]), 0);
	if (cpu_online(last, 0))
		SKIP(return, "cannot take CPU %d offline", last);

	expect_agreement(_metadata, &self->env, &now);
	expect_udp(_metadata, &now, &before, 21, 21 * 300);

	EXPECT_EQ(cpu_online(last, 1), 0);
	expect_agreement(_metadata, &self->env, &now);
	expect_udp(_metadata, &now, &before, 21, 21 * 300);
}

/* Reads the counters until @stop is set. They never go back, and the bytes
 * are at any time those of whole packets.
 * Return: 0, or the exit code that tells what was wrong.
 */
static int reader(const int *stop, bool proc, __u64 packet)
{
	__u64 value, packets = 0, bytes = 0;
	struct link_stats stats;
	int nl;

	nl = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	if (nl < 0)
		return 2;

	do {
		if (proc) {
			if (read_proc(DEV_SNMP6, "Ip6OutOctets", &value))
				return 3;
			stats.ip6[10] = value;
			if (read_proc(DEV_SNMP6, "Ip6OutTransmits", &value))
				return 3;
			stats.ip6[9] = value;
		} else if (dump(nl, AF_INET6, 0, 0, &stats)) {
			return 4;
		}
		if (stats.ip6[9] < packets || stats.ip6[10] < bytes)
			return 5;
		if (stats.ip6[10] % packet)
			return 6;
		packets = stats.ip6[9];
		bytes = stats.ip6[10];
	} while (!__atomic_load_n(stop, __ATOMIC_RELAXED));

	return 0;
}

/* Two readers, one of netlink and one of /proc, and a writer which changes
 * the CPU all the time.
 */
TEST_F_TIMEOUT(ipv6_link_stats, readers_and_writer, 300)
{
	const size_t len = 1000;
	const __u64 packet = IP6_HDR_LEN + UDP_HDR_LEN + len;
	struct link_stats before, now;
	int cpus[8], n, i, status;
	int *stop;
	pid_t pid[2];

	n = allowed_cpus(cpus, ARRAY_SIZE(cpus));
	ASSERT_GT(n, 0);
	stop = mmap(NULL, sizeof(*stop), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(stop != MAP_FAILED);

	expect_agreement(_metadata, &self->env, &before);
	for (i = 0; i < 2; i++) {
		pid[i] = fork();
		ASSERT_GE(pid[i], 0);
		if (!pid[i])
			_exit(reader(stop, i, packet));
	}
	for (i = 0; i < 2000; i++) {
		EXPECT_EQ(pin(0, cpus[i / 10 % n]), 0);
		EXPECT_EQ(send_packets(&self->env, 1, len), 0)
			break;
	}
	__atomic_store_n(stop, 1, __ATOMIC_RELAXED);
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(waitpid(pid[i], &status, 0), pid[i]);
		EXPECT_EQ(status, 0)
			TH_LOG("%s reader: exit %d", i ? "/proc" : "netlink",
			       WEXITSTATUS(status));
	}

	expect_agreement(_metadata, &self->env, &now);
	expect_udp(_metadata, &now, &before, 2000, 2000 * len);
}

/* Who does not want the counters does not get them, nor anything else less. */
TEST_F(ipv6_link_stats, skip_stats)
{
	const int len = NLA_ALIGN(NLA_HDRLEN + IP6_SLOTS * sizeof(__u64)) +
			NLA_ALIGN(NLA_HDRLEN + ICMP6_SLOTS * sizeof(__u64));
	struct link_stats stats, full;
	int i;

	ASSERT_EQ(dump(self->env.nl, AF_INET6, 0, 0, &full), 0);
	for (i = 0; i < 2; i++) {
		int nl = i ? self->env.nl_strict : self->env.nl;

		ASSERT_EQ(dump(nl, AF_INET6, IFLA_EXT_MASK,
			       RTEXT_FILTER_SKIP_STATS, &stats), 0);
		EXPECT_EQ(stats.ip6_len, -1);
		EXPECT_EQ(stats.icmp6_len, -1);
		EXPECT_EQ(stats.msg_len, full.msg_len - len);

		/* Other filters, or none, leave them where they are. */
		ASSERT_EQ(dump(nl, AF_INET6, IFLA_EXT_MASK, RTEXT_FILTER_VF,
			       &stats), 0);
		EXPECT_EQ(stats.ip6_len, full.ip6_len);
		EXPECT_EQ(stats.icmp6_len, full.icmp6_len);
		EXPECT_EQ(stats.msg_len, full.msg_len);
		ASSERT_EQ(dump(nl, AF_INET6, 0, 0, &stats), 0);
		EXPECT_EQ(stats.msg_len, full.msg_len);
	}
}

/* The same in a dump of all families. */
TEST_F(ipv6_link_stats, skip_stats_unspec)
{
	struct link_stats stats;

	ASSERT_EQ(dump(self->env.nl, AF_UNSPEC, IFLA_EXT_MASK,
		       RTEXT_FILTER_SKIP_STATS, &stats), 0);
	EXPECT_EQ(stats.ip6_len, -1);
	EXPECT_EQ(stats.icmp6_len, -1);
	ASSERT_EQ(dump(self->env.nl, AF_UNSPEC, 0, 0, &stats), 0);
	EXPECT_EQ(stats.ip6_len, IP6_SLOTS * sizeof(__u64));
	EXPECT_EQ(stats.icmp6_len, ICMP6_SLOTS * sizeof(__u64));
}

/* Strict checking still refuses what an IPv6 dump cannot do. */
TEST_F(ipv6_link_stats, strict_checking)
{
	struct link_stats stats;

	EXPECT_EQ(dump(self->env.nl_strict, AF_INET6, IFLA_MASTER, LO_IFINDEX,
		       &stats), -EINVAL);
	EXPECT_EQ(dump(self->env.nl_strict, AF_INET6, IFLA_MAX, 0, &stats),
		  -EINVAL);
	EXPECT_EQ(dump(self->env.nl, AF_INET6, IFLA_MASTER, LO_IFINDEX, &stats),
		  0);
}

TEST_HARNESS_MAIN
