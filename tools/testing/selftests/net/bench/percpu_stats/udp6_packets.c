// SPDX-License-Identifier: GPL-2.0
/* What a UDP packet over IPv6 costs from the sender's system call to the
 * receiver's: sent in one namespace and received in a second through veth, and
 * with a third in between that forwards it.
 *
 *   udp6_packets [-r runs] [-c]
 */

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common.h"

#define BURST	64
#define PORT	4711

static unsigned int runs = 101;

/* Give a namespace's end of a link its address, and bring it up. */
static void set_up(int ns, const char *name, const char *address)
{
	int fd;

	enter(ns);
	fd = rtnl_open(0);
	address_add(fd, link_index(name), address);
	link_up(fd, link_index(name));
	close(fd);
}

static void route_add(int ns, const char *to, const char *via)
{
	struct rtmsg rtm = {
		.rtm_family = AF_INET6,
		.rtm_dst_len = 64,
		.rtm_table = RT_TABLE_MAIN,
		.rtm_protocol = RTPROT_STATIC,
		.rtm_type = RTN_UNICAST,
	};
	struct in6_addr addr;
	struct rtnl_req req;
	int fd;

	enter(ns);
	fd = rtnl_open(0);
	rtnl_init(&req, RTM_NEWROUTE, NLM_F_CREATE, &rtm, sizeof(rtm));
	inet_pton(AF_INET6, to, &addr);
	rtnl_put(&req, RTA_DST, &addr, sizeof(addr));
	inet_pton(AF_INET6, via, &addr);
	rtnl_put(&req, RTA_GATEWAY, &addr, sizeof(addr));
	rtnl_talk(fd, &req);
	close(fd);
}

static int udp_socket(int ns)
{
	int fd;

	enter(ns);
	fd = socket(AF_INET6, SOCK_DGRAM, 0);
	if (fd < 0)
		fail("socket");

	return fd;
}

static int receiver(int ns, const char *address)
{
	struct sockaddr_in6 addr = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(PORT),
	};
	int fd = udp_socket(ns);

	inet_pton(AF_INET6, address, &addr.sin6_addr);
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
		fail("bind");

	return fd;
}

static int sender(int ns, const char *address)
{
	struct sockaddr_in6 addr = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(PORT),
	};
	int fd = udp_socket(ns);

	inet_pton(AF_INET6, address, &addr.sin6_addr);
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		fail("connect");

	return fd;
}

static unsigned long forwarded(int ns)
{
	static const char name[] = "Ip6OutForwDatagrams";
	static char buf[1 << 16];
	char *at;
	ssize_t len;
	int fd;

	enter(ns);
	fd = open("/proc/thread-self/net/snmp6", O_RDONLY);
	len = read(fd, buf, sizeof(buf) - 1);
	if (len <= 0)
		fail("snmp6");
	close(fd);
	buf[len] = 0;
	at = strstr(buf, name);

	return at ? strtoul(at + sizeof(name) - 1, NULL, 10) : 0;
}

/* Returns how many packets came through. */
static unsigned int burst(int from, int to)
{
	char packet[64] = "";
	unsigned int i, n = 0;

	for (i = 0; i < BURST; i++)
		if (send(from, packet, sizeof(packet), 0) != sizeof(packet))
			fail("send");
	for (i = 0; i < BURST; i++)
		n += recv(to, packet, sizeof(packet), MSG_DONTWAIT) ==
		     sizeof(packet);

	return n;
}

static void bench_packets(const char *name, int from, int to, int by)
{
	struct bench_case bench = { .test = name, .loops = BURST };
	unsigned long before;
	unsigned int i;

	/* The first packets look for neighbours, these may need a while. */
	for (i = 0; i < 100 && burst(from, to) != BURST; i++)
		usleep(10000);
	for (i = 0; i < 10; i++)
		burst(from, to);

	before = by < 0 ? 0 : forwarded(by);
	bench_start(&bench, runs);
	for (i = 0; i < runs && !bench.invalid; i++) {
		u64 start = bench_clock();

		if (burst(from, to) != BURST)
			bench.invalid = "lost";
		bench_add(&bench, bench_clock() - start);
	}
	if (!bench.invalid && by >= 0 &&
	    forwarded(by) - before != runs * BURST)
		bench.invalid = "not_forwarded";
	bench_report(&bench);
}

int main(int argc, char **argv)
{
	int c, fd, client, router, server;

	while ((c = getopt(argc, argv, "r:c")) != -1) {
		if (c == 'r')
			runs = atoi(optarg);
		else if (c == 'c')
			bench_cycles = true;
		else
			return 2;
	}

	client = netns();
	server = netns();
	router = netns();
	sysctl("ipv6/conf/all/forwarding", "1");
	fd = rtnl_open(0);
	veth_create(fd, "eth0", "eth0", client, 0);
	veth_create(fd, "eth1", "eth0", server, 0);
	/* It asks for neighbours from a link-local address. */
	set_up(router, "eth0", "fe80::1");
	set_up(router, "eth0", "fd00:1::1");
	set_up(router, "eth1", "fe80::1");
	set_up(router, "eth1", "fd00:2::1");
	set_up(client, "eth0", "fd00:1::2");
	set_up(server, "eth0", "fd00:2::2");
	route_add(client, "fd00:2::", "fd00:1::1");
	route_add(server, "fd00:1::", "fd00:2::1");

	pin(0);
	bench_packets("udp6.local", sender(client, "fd00:1::1"),
		      receiver(router, "fd00:1::1"), -1);
	bench_packets("udp6.forward", sender(client, "fd00:2::2"),
		      receiver(server, "fd00:2::2"), router);

	return 0;
}
