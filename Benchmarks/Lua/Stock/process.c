// System functions for the benchmark.

#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stock.h"

extern char **environ;

void stock_block_ticks(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGURG);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

// Lua seeds its hashes with the time, and collisions change the number of instructions by some per cent. Comparable counts
// need a fixed time, so this definition replaces the library's.
static time_t given_time;

void stock_fix_time(int64_t seconds) { given_time = seconds; }

time_t time(time_t *result) {
    struct timespec now = {.tv_sec = given_time};
    if (!given_time) clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}

void stock_limit_cpu(unsigned seconds) {
    struct rlimit limit = {seconds, seconds + 1};  // at the hard limit no handler and no mask helps
    setrlimit(RLIMIT_CPU, &limit);
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
    // Workers of libdispatch block nearly all signals. A child that inherits the mask would outlive its CPU limit.
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    pid_t child;
    int failure = posix_spawn(&child, "/proc/self/exe", &actions, &attributes, (char *const *)arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    int status;
    if (failure || waitpid(child, &status, 0) != child) return -1;
    return status;
}
