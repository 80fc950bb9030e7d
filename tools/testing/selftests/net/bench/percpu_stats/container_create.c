// SPDX-License-Identifier: GPL-2.0
/* What it costs to create the network of a container, as container managers
 * do it: a namespace, a veth pair into it, an address and up on both sides. A
 * listener on RTNLGRP_LINK hears about all of it, and a reader asks for each
 * new link, with its statistics.
 *
 *   container_create [-n containers] [-c]
 *
 * -c counts cycles.
 */

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common.h"

#define BATCH	100

static unsigned int containers = 1000;
static unsigned int heard, answers;
static int host, rtnl, listener;

static bool stats_in(struct nlmsghdr *nlh, ssize_t len)
{
	for (; NLMSG_OK(nlh, len); nlh = NLMSG_NEXT(nlh, len))
		if (nlh->nlmsg_type == RTM_NEWLINK && inet6_stats(nlh))
			return true;

	return false;
}

static void listen_all(void)
{
	static char buf[1 << 16];
	ssize_t len;

	while ((len = recv(listener, buf, sizeof(buf), MSG_DONTWAIT)) > 0)
		heard += stats_in((struct nlmsghdr *)buf, len);
	if (errno != EAGAIN)
		fail("listener");
}

static void read_link(unsigned int index)
{
	struct ifinfomsg ifm = { .ifi_index = index };
	static char buf[1 << 16];
	struct rtnl_req req;
	ssize_t len;

	rtnl_init(&req, RTM_GETLINK, 0, &ifm, sizeof(ifm));
	if (send(rtnl, &req, req.nlh.nlmsg_len, 0) < 0)
		fail("reader");
	len = recv(rtnl, buf, sizeof(buf), 0);
	if (len < 0)
		fail("reader");
	answers += stats_in((struct nlmsghdr *)buf, len);
}

static void create(unsigned int n)
{
	unsigned int index;
	char name[IFNAMSIZ];
	int ns, inside;

	ns = netns();
	inside = rtnl_open(0);
	link_up(inside, link_index("lo"));
	enter(host);

	snprintf(name, sizeof(name), "veth%u", n);
	veth_create(rtnl, name, "eth0", ns, 0);
	index = link_index(name);
	address_add(rtnl, index, "fd00::1");
	link_up(rtnl, index);

	enter(ns);
	index = link_index("eth0");
	address_add(inside, index, "fd00::2");
	link_up(inside, index);
	close(inside);
	enter(host);

	listen_all();
	read_link(link_index(name));
	/* ns stays open, and so there. */
}

int main(int argc, char **argv)
{
	struct bench_case each = { .loops = BATCH }, all = { .loops = 1 };
	struct rlimit limit = { 1 << 16, 1 << 16 };
	char each_test[64], all_test[64];
	u64 begin, start;
	unsigned int i;
	int c;

	while ((c = getopt(argc, argv, "n:c")) != -1) {
		if (c == 'n')
			containers = atoi(optarg);
		else if (c == 'c')
			bench_cycles = true;
		else
			return 2;
	}

	snprintf(each_test, sizeof(each_test), "container.each n=%u",
		 containers);
	snprintf(all_test, sizeof(all_test), "container.all n=%u", containers);
	each.test = each_test;
	all.test = all_test;

	setrlimit(RLIMIT_NOFILE, &limit);
	host = netns();
	rtnl = rtnl_open(0);
	listener = rtnl_open(RTMGRP_LINK);

	bench_start(&each, containers / BATCH);
	bench_start(&all, 1);
	begin = bench_clock();
	start = begin;
	for (i = 1; i <= containers; i++) {
		create(i);
		if (i % BATCH)
			continue;
		bench_add(&each, bench_clock() - start);
		start = bench_clock();
	}
	bench_add(&all, bench_clock() - begin);

	if (heard < containers)
		each.invalid = "listener";
	else if (answers != containers)
		each.invalid = "reader";
	all.invalid = each.invalid;
	bench_report(&each);
	bench_report(&all);

	return 0;
}
