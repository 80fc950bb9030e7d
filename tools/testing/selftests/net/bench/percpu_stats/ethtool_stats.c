// SPDX-License-Identifier: GPL-2.0
/* What it costs to read the statistics of a device, with the page pools of all
 * its queues, by ethtool: veth with 1 to 64 queues, each with a page pool that
 * has counted on the first -w CPUs.
 *
 *   ethtool_stats [-w writers] [-r runs] [-c]
 */

#include <arpa/inet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>

#include "common.h"

#define QUEUES	64
#define READS	100
#define PACKETS	4096	/* to hit each queue by chance, no doubt */

static unsigned int writers = 1, runs = 15;
static int sock;

static void ethtool(const char *name, void *data)
{
	struct ifreq ifr = { .ifr_data = data };

	snprintf(ifr.ifr_name, IFNAMSIZ, "%s", name);
	if (ioctl(sock, SIOCETHTOOL, &ifr))
		fail("SIOCETHTOOL");
}

static unsigned int n_stats(const char *name)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };

	ethtool(name, &info);

	return info.n_stats;
}

/* A program for XDP makes veth copy packets into pages of its page pools. */
static int xdp_program(void)
{
	static const struct bpf_insn pass[] = {
		{
			.code = BPF_ALU64 | BPF_MOV | BPF_K,
			.dst_reg = BPF_REG_0,
			.imm = XDP_PASS,
		},
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_XDP,
		.insns = (unsigned long)pass,
		.insn_cnt = sizeof(pass) / sizeof(*pass),
		.license = (unsigned long)"GPL",
	};
	int fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));

	if (fd < 0)
		fail("BPF_PROG_LOAD");

	return fd;
}

static void xdp_attach(int fd, unsigned int index, int program)
{
	struct ifinfomsg ifm = { .ifi_index = index };
	struct rtnl_req req;
	struct rtattr *xdp;

	rtnl_init(&req, RTM_SETLINK, 0, &ifm, sizeof(ifm));
	xdp = rtnl_put(&req, IFLA_XDP | NLA_F_NESTED, NULL, 0);
	rtnl_put(&req, IFLA_XDP_FD, &program, sizeof(program));
	rtnl_end(&req, xdp);
	rtnl_talk(fd, &req);
}

/* From the peer: each packet is a flow of its own, so they go to all queues. */
static void send_packets(unsigned int index)
{
	struct sockaddr_in6 to = {
		.sin6_family = AF_INET6,
		.sin6_scope_id = index,
	};
	unsigned int cpu, i;
	int fd;

	inet_pton(AF_INET6, "ff02::1", &to.sin6_addr);
	fd = socket(AF_INET6, SOCK_DGRAM, 0);
	if (fd < 0)
		fail("socket");
	for (cpu = 0; cpu < writers; cpu++) {
		pin(cpu);
		for (i = 1; i <= PACKETS; i++) {
			to.sin6_port = htons(i);
			if (sendto(fd, "", 1, 0, (struct sockaddr *)&to,
				   sizeof(to)) != 1)
				fail("sendto");
		}
	}
	pin(0);
	close(fd);
}

/* The first page of each page pool comes from the slow path. */
static bool all_counted(const char *name, const struct ethtool_stats *stats,
			unsigned int queues)
{
	struct ethtool_gstrings *strings;
	bool counted = false;
	unsigned int i;

	strings = calloc(1, sizeof(*strings) +
			    stats->n_stats * ETH_GSTRING_LEN);
	if (!strings)
		fail("calloc");
	strings->cmd = ETHTOOL_GSTRINGS;
	strings->string_set = ETH_SS_STATS;
	strings->len = stats->n_stats;
	ethtool(name, strings);
	for (i = 0; i < stats->n_stats; i++)
		counted |= !strcmp((char *)strings->data + i * ETH_GSTRING_LEN,
				   "rx_pp_alloc_slow") &&
			   stats->data[i] >= queues;
	free(strings);

	return counted;
}

static void bench_queues(int fd, int here, int there, int program,
			 unsigned int queues)
{
	struct ethtool_stats *stats;
	struct bench_case bench = { .loops = READS };
	char name[IFNAMSIZ], test[64];
	unsigned int i, n, run;
	int peer;

	snprintf(name, sizeof(name), "v%u", queues);
	snprintf(test, sizeof(test), "ethtool queues=%u", queues);
	bench.test = test;
	veth_create(fd, name, name, there, queues);
	xdp_attach(fd, link_index(name), program);
	link_up(fd, link_index(name));

	enter(there);
	peer = rtnl_open(0);
	link_up(peer, link_index(name));
	address_add(peer, link_index(name), "fe80::1");
	send_packets(link_index(name));
	close(peer);
	enter(here);

	n = n_stats(name);
	stats = calloc(1, sizeof(*stats) + n * sizeof(u64));
	if (!stats)
		fail("calloc");
	bench_start(&bench, runs);
	for (run = 0; run < runs; run++) {
		u64 start = bench_clock();

		for (i = 0; i < READS; i++) {
			stats->cmd = ETHTOOL_GSTATS;
			stats->n_stats = n;
			ethtool(name, stats);
		}
		bench_add(&bench, bench_clock() - start);
	}
	if (!all_counted(name, stats, queues))
		bench.invalid = "no_pools";
	free(stats);
	bench_report(&bench);
}

int main(int argc, char **argv)
{
	unsigned int queues;
	int c, fd, here, there, program;

	while ((c = getopt(argc, argv, "w:r:c")) != -1) {
		if (c == 'w')
			writers = atoi(optarg);
		else if (c == 'r')
			runs = atoi(optarg);
		else if (c == 'c')
			bench_cycles = true;
		else
			return 2;
	}

	there = netns();
	here = netns();
	enter(here);
	fd = rtnl_open(0);
	sock = socket(AF_INET, SOCK_DGRAM, 0);
	if (sock < 0)
		fail("socket");
	program = xdp_program();
	for (queues = 1; queues <= QUEUES; queues *= 2)
		bench_queues(fd, here, there, program, queues);

	return 0;
}
