// What the benchmark asks of the system.

#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stock.h"

extern char **environ;

void stock_block_ticks(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGURG);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

int64_t stock_resident_bytes(void) {
    long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file) return 0;
    if (fscanf(file, "%ld %ld", &all, &resident) != 2) resident = 0;
    fclose(file);
    return (int64_t)resident * sysconf(_SC_PAGESIZE);
}

int stock_run_again(const char *const *arguments, const char *output) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pid_t child;
    int failure = posix_spawn(&child, "/proc/self/exe", &actions, NULL, (char *const *)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    int status;
    if (failure || waitpid(child, &status, 0) != child) return -1;
    return status;
}
