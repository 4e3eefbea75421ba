// A client of a hub: sends notifications over HTTP/1.1, each to one user, on kept connections and in one thread.
//
//     load PORT CONNECTIONS SECONDS RATE FIRST USERS TAG TOKEN [TIMES]
//
// With RATE 0, each connection sends again as soon as it has an answer. Otherwise RATE sends a second are due at even intervals, and a send
// that finds no free connection waits. Send n, from FIRST on, goes to the tag TAG:i, where i is below USERS; its payload has the member
// "send":n. Prints the number of sends, the seconds until the last answer, and the largest delay of this program in starting a due send, in
// milliseconds.
//
// TIMES is a file for a record of four 64-bit numbers per send: n, the time of the request, the time of the answer, and the number of the
// notification from the Location of the answer. Times are nanoseconds of CLOCK_MONOTONIC. The time of a request that waited for a free
// connection is the time when it was due.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { IN = 16 * 1024, OUT = 4 * 1024 };

typedef struct connection {
    int fd;
    uint64_t number, start; // of the send that is under way
    size_t length;
    struct connection *next_free;
    char in[IN];
} connection;

static int poller;
static connection *unused;
static uint64_t first, sent, answered, users, port;
static const char *tag, *token;
static FILE *times;

static void die(const char *what, const char *detail) {
    fprintf(stderr, "%s: %.600s\n", what, detail);
    exit(1);
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + time.tv_nsec;
}

static void release(connection *one) { one->next_free = unused, unused = one; }

static void start(uint64_t since) {
    connection *one = unused;
    unused = one->next_free;
    one->number = first + sent++, one->length = 0;
    char body[256], text[OUT];
    int size = snprintf(body, sizeof body,
        "{\"aps\":{\"alert\":{\"title\":\"Your parcel\",\"body\":\"Parcel 4711 has arrived at the station and waits until noon\"},"
        "\"sound\":\"default\"},\"send\":%" PRIu64 "}", one->number);
    // Neighbours are not sent to one after the other.
    uint64_t user = one->number * 2654435761u % users;
    int length = snprintf(text, sizeof text,
        "POST /hub/messages?api-version=2015-01 HTTP/1.1\r\nHost: localhost:%" PRIu64 "\r\nAuthorization: %s\r\n"
        "Content-Type: application/json;charset=utf-8\r\nServiceBusNotification-Format: apple\r\nServiceBusNotification-Tags: %s:%" PRIu64
        "\r\nContent-Length: %d\r\n\r\n%s", port, token, tag, user, size, body);
    if (length >= (int)sizeof text) die("the request does not fit", text);
    one->start = since ? since : now();
    if (write(one->fd, text, length) != length) die("write", strerror(errno));
}

// Reads what has arrived; frees the connection when the answer is complete.
static void receive(connection *one) {
    ssize_t length = read(one->fd, one->in + one->length, IN - 1 - one->length);
    if (length < 0 && errno == EAGAIN) return;
    if (length <= 0) die("the server has closed a connection", length ? strerror(errno) : "");
    one->in[one->length += length] = 0;
    char *end = strstr(one->in, "\r\n\r\n");
    if (!end) {
        if (one->length == IN - 1) die("the head of an answer is too long", one->in);
        return;
    }
    const char *field = strcasestr(one->in, "\r\ncontent-length:");
    size_t size = field && field < end ? strtoul(field + 17, NULL, 10) : 0;
    if (one->length < (size_t)(end + 4 - one->in) + size) return;
    uint64_t at = now();
    if (strncmp(one->in, "HTTP/1.1 201 ", 13)) die("the server answered", one->in);
    // …/messages/DIGITS-TIME-NUMBER-1?api-version=…
    const char *id = strcasestr(one->in, "\r\nlocation:");
    id = id ? strstr(id, "/messages/") : NULL;
    for (int i = 0; id && i < 2; i++) id = strchr(id + 1, '-');
    if (!id) die("an answer has no location", one->in);
    uint64_t record[] = {one->number, one->start, at, strtoull(id + 1, NULL, 10)};
    if (times) fwrite(record, sizeof record, 1, times);
    answered++;
    release(one);
}

int main(int count, char **words) {
    if (count != 9 && count != 10) die("usage", "load PORT CONNECTIONS SECONDS RATE FIRST USERS TAG TOKEN [TIMES]");
    port = strtoull(words[1], NULL, 10);
    int connections = atoi(words[2]);
    double seconds = atof(words[3]), rate = atof(words[4]);
    first = strtoull(words[5], NULL, 10), users = strtoull(words[6], NULL, 10), tag = words[7], token = words[8];
    if (count == 10 && !(times = fopen(words[9], "w"))) die(words[9], strerror(errno));
    // Otherwise waiting takes 50 µs longer.
    prctl(PR_SET_TIMERSLACK, 1);
    poller = epoll_create1(0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    for (int i = 0; i < connections; i++) {
        connection *one = calloc(1, sizeof *one);
        int yes = 1;
        one->fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(one->fd, (struct sockaddr *)&address, sizeof address)) die("connect", strerror(errno));
        setsockopt(one->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        fcntl(one->fd, F_SETFL, O_NONBLOCK);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = one};
        epoll_ctl(poller, EPOLL_CTL_ADD, one->fd, &event);
        release(one);
    }
    uint64_t began = now(), limit = began + (uint64_t)(seconds * 1e9), total = rate > 0 ? (uint64_t)(seconds * rate) : UINT64_MAX;
    uint64_t last = began, delay = 0, blocked = 0; // blocked: sends before this number were due while no connection was free
    for (;;) {
        uint64_t at = now(), wait = 1000000000u;
        if (rate <= 0) {
            while (unused && at < limit) start(0);
            if (at >= limit && answered == sent) break;
        } else {
            while (sent < total) {
                uint64_t due = began + (uint64_t)(sent * 1e9 / rate);
                if (due > at) {
                    wait = due - at;
                    break;
                }
                if (!unused) {
                    blocked = (uint64_t)((at - began) / 1e9 * rate) + 1;
                    break;
                }
                if (sent >= blocked && at - due > delay) delay = at - due;
                start(sent < blocked ? due : 0);
            }
            if (answered == total) break;
        }
        // No answer for ten seconds is a failure.
        if (answered < sent && at > last + 10000000000u) die("the server does not answer", "");
        struct epoll_event events[256];
        struct timespec time = {wait / 1000000000u, wait % 1000000000u};
        int ready = epoll_pwait2(poller, events, 256, &time, NULL);
        for (int i = 0; i < ready; i++) receive(events[i].data.ptr);
        if (ready > 0) last = now();
    }
    printf("%" PRIu64 " %.6f %.3f\n", answered, (now() - began) / 1e9, delay / 1e6);
    return times && fclose(times) ? 1 : 0;
}
