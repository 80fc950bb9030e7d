// SPDX-License-Identifier: GPL-2.0
/* What the programs have in common: the clock, the result line, rtnetlink. */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <linux/if_addr.h>
#include <linux/veth.h>

#include "common.h"

#ifdef __has_builtin
#if __has_builtin(__builtin_ia32_rdtsc)
#define HAVE_CYCLES
#endif
#endif

bool bench_cycles;

void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

u64 bench_clock(void)
{
	struct timespec ts;

#ifdef HAVE_CYCLES
	if (bench_cycles)
		return __builtin_ia32_rdtsc();
#endif
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

void bench_start(struct bench_case *bench, unsigned int max_runs)
{
	bench->max = max_runs;
	bench->runs = 0;
	bench->took = calloc(max_runs, sizeof(*bench->took));
	if (!bench->took)
		fail("calloc");
}

void bench_add(struct bench_case *bench, u64 took)
{
	if (bench->runs < bench->max)
		bench->took[bench->runs++] = took;
}

static int bench_cmp(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static double bench_per_element(const struct bench_case *bench,
				unsigned int run)
{
	return (double)bench->took[run] / bench->loops;
}

/* The line that the module prints, too */
void bench_report(struct bench_case *bench)
{
	const char *unit = "ns";

	if (bench_cycles) {
		unit = "cycles";
#ifndef HAVE_CYCLES
		bench->invalid = "no_cycles";
#endif
	}

	if (!bench->invalid && (!bench->runs || !bench->loops))
		bench->invalid = "no_run";
	printf("test=%s unit=%s ", bench->test, unit);
	if (bench->invalid) {
		printf("void=%s ", bench->invalid);
	} else {
		qsort(bench->took, bench->runs, sizeof(u64), bench_cmp);
		printf("value=%.2f min=%.2f max=%.2f ",
		       bench_per_element(bench, bench->runs / 2),
		       bench_per_element(bench, 0),
		       bench_per_element(bench, bench->runs - 1));
	}
	printf("runs=%u loops=%u\n", bench->runs, bench->loops);
	fflush(stdout);
	free(bench->took);
	bench->took = NULL;
}

void pin(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("sched_setaffinity");
}

/* A kernel without CONFIG_SYSCTL measures with more noise. */
void sysctl(const char *name, const char *value)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/proc/sys/net/%s", name);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return;
	if (write(fd, value, strlen(value)) < 0)
		fail(path);
	close(fd);
}

/* Make a network namespace, go there, and be quiet: IPv6 sends nothing of its
 * own which would come in between.
 */
int netns(void)
{
	int fd;

	if (unshare(CLONE_NEWNET))
		fail("unshare");
	fd = open("/proc/thread-self/ns/net", O_RDONLY);
	if (fd < 0)
		fail("/proc/thread-self/ns/net");
	sysctl("ipv6/conf/default/accept_ra", "0");
	sysctl("ipv6/conf/default/accept_dad", "0");
	sysctl("ipv6/conf/default/addr_gen_mode", "1");

	return fd;
}

void enter(int ns)
{
	if (setns(ns, CLONE_NEWNET))
		fail("setns");
}

int rtnl_open(unsigned int groups)
{
	struct sockaddr_nl addr = {
		.nl_family = AF_NETLINK,
		.nl_groups = groups,
	};
	int fd, size = 4 << 20;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
		fail("rtnetlink");
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));

	return fd;
}

void rtnl_init(struct rtnl_req *req, int type, int flags, const void *hdr,
	       size_t len)
{
	memset(req, 0, sizeof(*req));
	req->nlh.nlmsg_len = NLMSG_LENGTH(len);
	req->nlh.nlmsg_type = type;
	req->nlh.nlmsg_flags = NLM_F_REQUEST | flags;
	memcpy(NLMSG_DATA(&req->nlh), hdr, len);
}

struct rtattr *rtnl_put(struct rtnl_req *req, int type, const void *data,
			size_t len)
{
	size_t at = NLMSG_ALIGN(req->nlh.nlmsg_len);
	struct rtattr *rta = (struct rtattr *)((char *)req + at);

	if (at + RTA_SPACE(len) > sizeof(*req)) {
		errno = EMSGSIZE;
		fail("rtnl_put");
	}
	rta->rta_type = type;
	rta->rta_len = RTA_LENGTH(len);
	if (data)
		memcpy(RTA_DATA(rta), data, len);
	req->nlh.nlmsg_len = at + RTA_ALIGN(rta->rta_len);

	return rta;
}

void rtnl_end(struct rtnl_req *req, struct rtattr *nest)
{
	nest->rta_len = (char *)req + req->nlh.nlmsg_len - (char *)nest;
}

/* Have the request carried out, or end. */
void rtnl_talk(int fd, struct rtnl_req *req)
{
	union {
		struct nlmsghdr nlh;
		char buf[4096];
	} answer;
	struct nlmsgerr *err = NLMSG_DATA(&answer.nlh);

	req->nlh.nlmsg_flags |= NLM_F_ACK;
	if (send(fd, req, req->nlh.nlmsg_len, 0) < 0 ||
	    recv(fd, &answer, sizeof(answer), 0) < 0)
		fail("rtnetlink");
	if (answer.nlh.nlmsg_type != NLMSG_ERROR)
		errno = EPROTO;
	else
		errno = -err->error;
	if (errno)
		fail("rtnetlink");
}

/* The nests for a kind's own data stay with the caller. */
void link_init(struct rtnl_req *req, int flags, const char *name,
	       const char *kind)
{
	struct ifinfomsg ifm = { .ifi_flags = flags, .ifi_change = flags };
	struct rtattr *info;

	rtnl_init(req, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &ifm,
		  sizeof(ifm));
	rtnl_put(req, IFLA_IFNAME, name, strlen(name) + 1);
	info = rtnl_put(req, IFLA_LINKINFO, NULL, 0);
	rtnl_put(req, IFLA_INFO_KIND, kind, strlen(kind));
	rtnl_end(req, info);
}

static void veth_queues(struct rtnl_req *req, unsigned int queues)
{
	rtnl_put(req, IFLA_NUM_TX_QUEUES, &queues, sizeof(queues));
	rtnl_put(req, IFLA_NUM_RX_QUEUES, &queues, sizeof(queues));
}

void veth_create(int fd, const char *name, const char *peer, int peer_ns,
		 unsigned int queues)
{
	struct ifinfomsg ifm = {};
	struct rtattr *info, *data, *other;
	struct rtnl_req req;

	rtnl_init(&req, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &ifm,
		  sizeof(ifm));
	rtnl_put(&req, IFLA_IFNAME, name, strlen(name) + 1);
	if (queues)
		veth_queues(&req, queues);
	info = rtnl_put(&req, IFLA_LINKINFO, NULL, 0);
	rtnl_put(&req, IFLA_INFO_KIND, "veth", 4);
	data = rtnl_put(&req, IFLA_INFO_DATA, NULL, 0);
	other = rtnl_put(&req, VETH_INFO_PEER, &ifm, sizeof(ifm));
	rtnl_put(&req, IFLA_IFNAME, peer, strlen(peer) + 1);
	rtnl_put(&req, IFLA_NET_NS_FD, &peer_ns, sizeof(peer_ns));
	if (queues)
		veth_queues(&req, queues);
	rtnl_end(&req, other);
	rtnl_end(&req, data);
	rtnl_end(&req, info);
	rtnl_talk(fd, &req);
}

unsigned int link_index(const char *name)
{
	unsigned int index = if_nametoindex(name);

	if (!index)
		fail(name);

	return index;
}

void link_up(int fd, unsigned int index)
{
	struct ifinfomsg ifm = {
		.ifi_index = index,
		.ifi_flags = IFF_UP,
		.ifi_change = IFF_UP,
	};
	struct rtnl_req req;

	rtnl_init(&req, RTM_NEWLINK, 0, &ifm, sizeof(ifm));
	rtnl_talk(fd, &req);
}

void address_add(int fd, unsigned int index, const char *address)
{
	struct ifaddrmsg ifa = {
		.ifa_family = AF_INET6,
		.ifa_prefixlen = 64,
		.ifa_flags = IFA_F_NODAD,
		.ifa_index = index,
	};
	struct in6_addr addr;
	struct rtnl_req req;

	inet_pton(AF_INET6, address, &addr);
	rtnl_init(&req, RTM_NEWADDR, NLM_F_CREATE, &ifa, sizeof(ifa));
	rtnl_put(&req, IFA_LOCAL, &addr, sizeof(addr));
	rtnl_talk(fd, &req);
}

static struct rtattr *find(struct rtattr *rta, int len, int type)
{
	for (; RTA_OK(rta, len); rta = RTA_NEXT(rta, len))
		if ((rta->rta_type & NLA_TYPE_MASK) == type)
			return rta;

	return NULL;
}

static struct rtattr *find_in(struct rtattr *nest, int type)
{
	return nest ? find(RTA_DATA(nest), RTA_PAYLOAD(nest), type) : NULL;
}

/* The IPv6 counters that a link message carries, in the one place or in the
 * other. What they point to is only aligned to 4 bytes.
 */
const u64 *inet6_stats(struct nlmsghdr *nlh)
{
	struct ifinfomsg *ifm = NLMSG_DATA(nlh);
	struct rtattr *rta;

	rta = find(IFLA_RTA(ifm), IFLA_PAYLOAD(nlh),
		   ifm->ifi_family == AF_INET6 ? IFLA_PROTINFO : IFLA_AF_SPEC);
	if (ifm->ifi_family != AF_INET6)
		rta = find_in(rta, AF_INET6);
	rta = find_in(rta, IFLA_INET6_STATS);

	return rta ? RTA_DATA(rta) : NULL;
}
