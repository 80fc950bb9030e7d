// SPDX-License-Identifier: GPL-2.0
/* The only program of a guest that has no busybox: load the module with the arguments that
 * the kernel was started with, and end.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int module = open("/bench_percpu_stats.ko", O_RDONLY);
	char arguments[256] = "";

	for (int i = 1; i < argc; i++) {
		strcat(arguments, argv[i]);
		strcat(arguments, " ");
	}
	if (syscall(SYS_finit_module, module, arguments, 0))
		perror("bench: the module");
	else
		puts("bench: end");
	fflush(stdout);
	reboot(RB_AUTOBOOT);
	return 1;
}
