/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests of the IPv6 counters of a device have in common */
#ifndef IPV6_LINK_STATS_H
#define IPV6_LINK_STATS_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include <linux/netlink.h>

static inline int pin(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(pid, sizeof(set), &set);
}

static inline int cpu_online(int cpu, int online)
{
	char path[64];
	int fd, ret;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online",
		 cpu);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return -errno;
	ret = dprintf(fd, "%d\n", online) < 0 ? -errno : 0;
	close(fd);

	return ret;
}

/* The allowed CPUs, at most @max. */
static inline int allowed_cpus(int *cpus, int max)
{
	int cpu, n = 0;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 0;
	for (cpu = 0; cpu < CPU_SETSIZE && n < max; cpu++)
		if (CPU_ISSET(cpu, &set))
			cpus[n++] = cpu;

	return n;
}

static inline const struct nlattr *
find_attr(const void *attrs, int len, int type)
{
	const struct nlattr *nla = attrs;

	while (len >= (int)sizeof(*nla) && nla->nla_len <= len) {
		if ((nla->nla_type & NLA_TYPE_MASK) == type)
			return nla;
		len -= NLA_ALIGN(nla->nla_len);
		nla = (const void *)nla + NLA_ALIGN(nla->nla_len);
	}

	return NULL;
}

#endif /* IPV6_LINK_STATS_H */
