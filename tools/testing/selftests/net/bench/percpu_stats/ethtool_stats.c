// SPDX-License-Identifier: GPL-2.0
/* What it costs to read the statistics of a device, with the page pools of all
 * its queues, by ethtool: veth with 1 to 64 queues.
 *
 *   ethtool_stats [-r runs] [-c]
 */

#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>

#include "common.h"

#define QUEUES	64
#define READS	100

static unsigned int runs = 15;
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

/* GRO makes veth use NAPI, and a page pool for each queue. */
static bool has_pools(const char *name, unsigned int n)
{
	struct ethtool_value gro = { .cmd = ETHTOOL_SGRO, .data = 1 };
	struct ethtool_gstrings *strings;
	bool found = false;
	unsigned int i;

	ethtool(name, &gro);
	gro.cmd = ETHTOOL_GGRO;
	ethtool(name, &gro);

	strings = calloc(1, sizeof(*strings) + n * ETH_GSTRING_LEN);
	if (!strings)
		fail("calloc");
	strings->cmd = ETHTOOL_GSTRINGS;
	strings->string_set = ETH_SS_STATS;
	strings->len = n;
	ethtool(name, strings);
	for (i = 0; i < n; i++)
		found |= !strncmp((char *)strings->data + i * ETH_GSTRING_LEN,
				  "rx_pp_", 6);
	free(strings);

	return gro.data && found;
}

static void bench_queues(int fd, int peer_ns, unsigned int queues)
{
	struct ethtool_stats *stats;
	struct bench_case bench = { .loops = READS };
	char name[IFNAMSIZ], test[64];
	unsigned int i, n, run;

	snprintf(name, sizeof(name), "v%u", queues);
	snprintf(test, sizeof(test), "ethtool queues=%u", queues);
	bench.test = test;
	veth_create(fd, name, name, peer_ns, queues);
	link_up(fd, link_index(name));
	n = n_stats(name);
	if (!has_pools(name, n))
		bench.invalid = "no_pools";

	stats = calloc(1, sizeof(*stats) + n * sizeof(u64));
	if (!stats)
		fail("calloc");
	bench_start(&bench, runs);
	for (run = 0; run < runs && !bench.invalid; run++) {
		u64 start = bench_clock();

		for (i = 0; i < READS; i++) {
			stats->cmd = ETHTOOL_GSTATS;
			stats->n_stats = n;
			ethtool(name, stats);
		}
		bench_add(&bench, bench_clock() - start);
	}
	free(stats);
	bench_report(&bench);
}

int main(int argc, char **argv)
{
	unsigned int queues;
	int c, fd, here, there;

	while ((c = getopt(argc, argv, "r:c")) != -1) {
		if (c == 'r')
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
	for (queues = 1; queues <= QUEUES; queues *= 2)
		bench_queues(fd, there, queues);

	return 0;
}
