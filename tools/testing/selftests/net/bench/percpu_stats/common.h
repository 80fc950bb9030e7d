/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_PERCPU_STATS_COMMON_H
#define BENCH_PERCPU_STATS_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

typedef unsigned long long u64;

struct rtnl_req {
	struct nlmsghdr nlh;
	char buf[1024];
};

struct bench_case {
	const char *test;
	const char *invalid;	/* why there is no figure */
	unsigned int loops;	/* elements of each run */
	unsigned int runs;
	unsigned int max;
	u64 *took;
};

/* Set by option -c: count cycles, not nanoseconds */
extern bool bench_cycles;

u64 bench_clock(void);
void bench_start(struct bench_case *bench, unsigned int max_runs);
void bench_add(struct bench_case *bench, u64 took);
void bench_report(struct bench_case *bench);

void fail(const char *what);
void pin(unsigned int cpu);
void sysctl(const char *name, const char *value);
int netns(void);
void enter(int ns);

int rtnl_open(unsigned int groups);
void rtnl_init(struct rtnl_req *req, int type, int flags, const void *hdr,
	       size_t len);
struct rtattr *rtnl_put(struct rtnl_req *req, int type, const void *data,
			size_t len);
void rtnl_end(struct rtnl_req *req, struct rtattr *nest);
void rtnl_talk(int fd, struct rtnl_req *req);

void link_init(struct rtnl_req *req, int flags, const char *name,
	       const char *kind);
void veth_create(int fd, const char *name, const char *peer, int peer_ns,
		 unsigned int queues);
unsigned int link_index(const char *name);
void link_up(int fd, unsigned int index);
void address_add(int fd, unsigned int index, const char *address);

const u64 *inet6_stats(struct nlmsghdr *nlh);

#endif /* BENCH_PERCPU_STATS_COMMON_H */
