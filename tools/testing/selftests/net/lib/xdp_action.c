// SPDX-License-Identifier: GPL-2.0
/* Attach an XDP program which returns the same for every packet, until told
 * to stop.
 *
 * Two instructions need no compiler for BPF objects. The kernel detaches the
 * program when the link is closed, so nothing is left behind in any case.
 */
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/bpf.h>
#include <linux/if_link.h>

#include "kselftest.h"
#include "ksft.h"

static int bpf(enum bpf_cmd cmd, union bpf_attr *attr)
{
	return syscall(__NR_bpf, cmd, attr, sizeof(*attr));
}

static int xdp_load(enum xdp_action action)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = action },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_XDP;
	attr.insns = (unsigned long)insns;
	attr.insn_cnt = ARRAY_SIZE(insns);
	attr.license = (unsigned long)"GPL";

	return bpf(BPF_PROG_LOAD, &attr);
}

static int xdp_attach(int prog_fd, unsigned int ifindex)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = prog_fd;
	attr.link_create.target_ifindex = ifindex;
	attr.link_create.attach_type = BPF_XDP;
	attr.link_create.flags = XDP_FLAGS_DRV_MODE;

	return bpf(BPF_LINK_CREATE, &attr);
}

int main(int argc, char **argv)
{
	enum xdp_action action;
	unsigned int ifindex;
	int prog_fd;

	if (argc == 3 && !strcmp(argv[2], "pass")) {
		action = XDP_PASS;
	} else if (argc == 3 && !strcmp(argv[2], "tx")) {
		action = XDP_TX;
	} else {
		fprintf(stderr, "Usage: %s IFNAME pass|tx\n", argv[0]);
		return 1;
	}

	ifindex = if_nametoindex(argv[1]);
	if (!ifindex) {
		perror(argv[1]);
		return 1;
	}

	prog_fd = xdp_load(action);
	if (prog_fd < 0) {
		perror("BPF_PROG_LOAD");
		return 1;
	}

	if (xdp_attach(prog_fd, ifindex) < 0) {
		perror("BPF_LINK_CREATE");
		return 1;
	}

	ksft_ready();
	ksft_wait();

	return 0;
}
