// Observes when outcomes are stored: reads the database of a running hub with a connection of its own, which can only read.
//
//     watch DATABASE QUERY TIMES
//
// QUERY returns the rows with an id above ?1 in ascending order: the id, and the number of the notification. It runs every 200 µs, and a
// row appears in it when its commit is on disk (synchronous=FULL). Readers of a write-ahead log neither block the writer nor wait for it.
// Rows that exist at the start are skipped; then it prints "ready". Two 64-bit numbers per row are in the file TIMES when it has ended
// (SIGTERM): the notification, and when the row was first read, in nanoseconds of CLOCK_MONOTONIC.
#define _GNU_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

static volatile sig_atomic_t ending;

static void end(int signal) { ending = signal; }

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + time.tv_nsec;
}

int main(int count, char **words) {
    if (count != 4) return fprintf(stderr, "watch DATABASE QUERY TIMES\n"), 2;
    struct sigaction action = {.sa_handler = end};
    sigaction(SIGTERM, &action, NULL);
    prctl(PR_SET_TIMERSLACK, 1);
    sqlite3 *database;
    sqlite3_stmt *query;
    FILE *times = fopen(words[3], "w");
    if (!times || sqlite3_open_v2(words[1], &database, SQLITE_OPEN_READONLY, NULL)
        || sqlite3_prepare_v2(database, words[2], -1, &query, NULL))
        return fprintf(stderr, "%s: %s\n", words[1], times ? sqlite3_errmsg(database) : words[3]), 1;
    int64_t last = 0;
    for (int isFirst = 1; !ending; isFirst = 0) {
        int result;
        uint64_t at = 0;
        sqlite3_bind_int64(query, 1, last);
        while ((result = sqlite3_step(query)) == SQLITE_ROW) {
            // All rows of a query were visible when it began.
            if (!at) at = now();
            last = sqlite3_column_int64(query, 0);
            uint64_t record[] = {sqlite3_column_int64(query, 1), at};
            if (!isFirst) fwrite(record, sizeof record, 1, times);
        }
        sqlite3_reset(query);
        if (result != SQLITE_DONE && result != SQLITE_BUSY) return fprintf(stderr, "%s\n", sqlite3_errmsg(database)), 1;
        if (isFirst) puts("ready"), fflush(stdout);
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
    return fclose(times) ? 1 : 0;
}
