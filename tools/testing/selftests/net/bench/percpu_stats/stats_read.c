// SPDX-License-Identifier: GPL-2.0
/* What it costs to read IPv6 statistics: of many links in a dump and from
 * /proc, and the counters of a network namespace.
 *
 *   stats_read [-l links] [-w writers] [-r runs] [-c]
 *
 * Every link has counted a packet on each of the first -w CPUs. -c counts
 * cycles.
 */

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common.h"

static unsigned int links = 1000, writers = 2, runs = 15;
static unsigned int first_index;
static char buf[1 << 20];

static void create_links(int fd)
{
	struct rtnl_req req;
	char name[IFNAMSIZ];
	unsigned int i;

	for (i = 0; i < links; i++) {
		snprintf(name, sizeof(name), "d%u", i);
		link_init(&req, IFF_UP, name, "dummy");
		rtnl_talk(fd, &req);
	}
	first_index = link_index("d0");
	for (i = 0; i < links; i++)
		address_add(fd, first_index + i, "fe80::1");
}

/* Let each link send one multicast packet from each of the CPUs. */
static void write_stats(void)
{
	struct sockaddr_in6 to = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(9),
	};
	unsigned int cpu, i;
	int fd, off = 0;

	fd = socket(AF_INET6, SOCK_DGRAM, 0);
	if (fd < 0)
		fail("socket");
	setsockopt(fd, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, &off, sizeof(off));
	inet_pton(AF_INET6, "ff02::1", &to.sin6_addr);
	for (cpu = 0; cpu < writers; cpu++) {
		pin(cpu);
		for (i = 0; i < links; i++) {
			to.sin6_scope_id = first_index + i;
			if (sendto(fd, "", 1, 0, (struct sockaddr *)&to,
				   sizeof(to)) != 1)
				fail("sendto");
		}
	}
	pin(0);
	close(fd);
}

static unsigned long dump(int fd, unsigned int ext_mask,
			  void (*seen)(struct nlmsghdr *nlh))
{
	struct ifinfomsg ifm = { .ifi_family = AF_INET6 };
	struct rtnl_req req;
	unsigned long n = 0;

	rtnl_init(&req, RTM_GETLINK, NLM_F_DUMP, &ifm, sizeof(ifm));
	if (ext_mask)
		rtnl_put(&req, IFLA_EXT_MASK, &ext_mask, sizeof(ext_mask));
	if (send(fd, &req, req.nlh.nlmsg_len, 0) < 0)
		fail("dump");
	for (;;) {
		struct nlmsghdr *nlh = (struct nlmsghdr *)buf;
		ssize_t len = recv(fd, buf, sizeof(buf), 0);

		if (len < 0)
			fail("dump");
		for (; NLMSG_OK(nlh, len); nlh = NLMSG_NEXT(nlh, len)) {
			if (nlh->nlmsg_type == NLMSG_DONE)
				return n;
			if (nlh->nlmsg_type != RTM_NEWLINK)
				return 0;
			if (seen)
				seen(nlh);
			n++;
		}
	}
}

static unsigned long with_stats, right_stats;

static void check_stats(struct nlmsghdr *nlh)
{
	const u64 *unaligned = inet6_stats(nlh);
	struct ifinfomsg *ifm = NLMSG_DATA(nlh);
	u64 n, value, sum = 0;

	if (!unaligned || ifm->ifi_index < (int)first_index)
		return;
	with_stats++;

	/* Slot 0 is how many there are. */
	memcpy(&n, unaligned, sizeof(n));
	while (--n) {
		memcpy(&value, unaligned + n, sizeof(value));
		sum += value;
	}
	right_stats += sum >= writers;
}

static void bench_dump(int fd, const char *name, unsigned int ext_mask)
{
	struct bench_case bench = { .loops = links + 1 };
	unsigned int i;
	char test[64];

	snprintf(test, sizeof(test), "dump.%s links=%u", name, links);
	bench.test = test;

	/* This one warms up, and is not measured as it looks inside. */
	with_stats = 0;
	right_stats = 0;
	dump(fd, ext_mask, check_stats);
	if (with_stats != (ext_mask ? 0 : links))
		bench.invalid = ext_mask ? "stats" : "no_stats";
	else if (right_stats != with_stats)
		bench.invalid = "sum";

	bench_start(&bench, runs);
	for (i = 0; i < runs && !bench.invalid; i++) {
		u64 start = bench_clock();

		if (dump(fd, ext_mask, NULL) != bench.loops)
			bench.invalid = "links";
		bench_add(&bench, bench_clock() - start);
	}
	bench_report(&bench);
}

static ssize_t read_file(const char *path)
{
	ssize_t n, len = 0;
	int fd;

	fd = open(path, O_RDONLY);
	if (fd < 0)
		return -1;
	while ((n = read(fd, buf + len, sizeof(buf) - len - 1)) > 0)
		len += n;
	close(fd);
	buf[len] = 0;

	return len;
}

static bool read_right(const char *path, const char *counter,
		       unsigned long least)
{
	const char *at;

	if (read_file(path) <= 0)
		return false;
	at = strstr(buf, counter);

	return at && strtoul(at + strlen(counter), NULL, 10) >= least;
}

static void bench_dev_snmp6(void)
{
	struct bench_case bench = { .loops = links };
	char path[64], test[64];
	unsigned int i, run;

	snprintf(test, sizeof(test), "proc.dev_snmp6 links=%u", links);
	bench.test = test;
	bench_start(&bench, runs);
	for (run = 0; run < runs && !bench.invalid; run++) {
		u64 start = bench_clock();

		for (i = 0; i < links; i++) {
			snprintf(path, sizeof(path), "/proc/net/dev_snmp6/d%u",
				 i);
			if (read_file(path) <= 0)
				bench.invalid = "no_file";
		}
		bench_add(&bench, bench_clock() - start);
	}
	if (!read_right(path, "Ip6OutMcastPkts", writers))
		bench.invalid = "sum";
	bench_report(&bench);
}

static void bench_proc(const char *name, const char *path,
		       const char *counter, unsigned long least)
{
	struct bench_case bench = { .test = name, .loops = 100 };
	unsigned int i, run;

	if (!read_right(path, counter, least))
		bench.invalid = "sum";
	bench_start(&bench, runs);
	for (run = 0; run < runs && !bench.invalid; run++) {
		u64 start = bench_clock();

		for (i = 0; i < bench.loops; i++)
			if (read_file(path) <= 0)
				bench.invalid = "no_file";
		bench_add(&bench, bench_clock() - start);
	}
	bench_report(&bench);
}

int main(int argc, char **argv)
{
	int c, fd;

	while ((c = getopt(argc, argv, "l:w:r:c")) != -1) {
		if (c == 'l')
			links = atoi(optarg);
		else if (c == 'w')
			writers = atoi(optarg);
		else if (c == 'r')
			runs = atoi(optarg);
		else if (c == 'c')
			bench_cycles = true;
		else
			return 2;
	}

	netns();
	fd = rtnl_open(0);
	create_links(fd);
	write_stats();

	bench_dump(fd, "inet6", 0);
	bench_dump(fd, "inet6_skip_stats", RTEXT_FILTER_SKIP_STATS);
	bench_dev_snmp6();
	bench_proc("proc.snmp6", "/proc/net/snmp6", "Ip6OutMcastPkts",
		   links * writers);
	bench_proc("proc.snmp", "/proc/net/snmp", "Udp:", 0);
	bench_proc("proc.netstat", "/proc/net/netstat", "TcpExt:", 0);

	return 0;
}
