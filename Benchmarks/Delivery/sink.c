// A push service that accepts everything, over TLS with OpenSSL, in one thread: HTTP/2 on libnghttp2 with 1,000 concurrent streams,
// and HTTP/1.1 for older clients. It answers like APNs (200 and the request's apns-id), FCM (200 and a name) or a Web Push service
// (201 and the location of the message). At its end (SIGTERM) it prints the accepted requests and the reset connections.
//
//     sink PORT CERTIFICATE KEY apns|fcm|webpush [RESET_EVERY [ARRIVALS]]
//
// With RESET_EVERY above 0, every nth request is accepted, and its HTTP/2 connection ends with a TCP reset instead of the answer.
// Requests before it on the connection are answered, those after it are not accepted.
//
// With ARRIVALS, each request over HTTP/2 is recorded in the file of that name by three 64-bit numbers: the member "send" of its payload,
// the time of its last frame in nanoseconds of CLOCK_MONOTONIC, and the status of the answer. The file is complete when no request has
// arrived for 0.1 s. Then APNs also rejects device tokens that begin with "badbad": 400 and BadDeviceToken. Those that begin with "badbad01"
// also lower the connection's limit to one stream, as at Apple's servers, until the next request is accepted.
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { STREAMS = 1000, OUT = 64 * 1024, RECORD = 16 * 1024, ID = 36, HEAD = 8 * 1024 };
enum { APNS, FCM, WEBPUSH };

typedef struct {
    char id[ID];
    size_t id_length;
    uint64_t send; // these three only with ARRIVALS
    int is_bad, lowers;
} request;

typedef struct {
    int fd;
    SSL *tls;
    int accepted; // the TLS handshake has completed
    int breaking; // a request that resets the connection was accepted
    int is_lowered; // to one stream
    nghttp2_session *session; // NULL with HTTP/1.1
    char head[HEAD]; // of the request that is being read over HTTP/1.1
    size_t head_length;
    size_t body_left; // remaining bytes of its body
    uint32_t events;
    uint8_t out[OUT]; // frames that the socket has not accepted yet
    size_t out_length;
    const uint8_t *rest; // the rest of a frame that did not fit
    size_t rest_length;
} connection;

static volatile sig_atomic_t ending;
static unsigned long taken, resets, reset_every;
static int poller;
static SSL_CTX *context;
static int service;
static FILE *arrivals;

static const char NAME[] = "{\"name\":\"projects/shop/messages/0:1500415314455276%31bd1c9631bd1c96\"}";
static const char LOCATION[] = "https://push.example.com/m/gAAAAABYXKJiFxnBq0PTyLpDWPnEHWGpbQl9xgyUKBNcVtWzT1iYCsQ";

static const char REASON[] = "{\"reason\":\"BadDeviceToken\"}";
static const char BAD_PATH[] = "/3/device/badbad";

static void end(int signal) { ending = signal; }

static int die(const char *what) {
    perror(what);
    exit(1);
}

static int choose_protocol(SSL *tls, const unsigned char **out, unsigned char *length, const unsigned char *in, unsigned in_length, void *user) {
    (void)tls, (void)user;
    int found = SSL_select_next_proto((unsigned char **)out, length, (const unsigned char *)"\2h2\10http/1.1", 12, in, in_length);
    return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user) {
    (void)user;
    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
        nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, calloc(1, sizeof(request)));
    return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_length, const uint8_t *value, size_t value_length, uint8_t flags, void *user) {
    (void)flags, (void)user;
    request *asked = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (asked && name_length == 7 && memcmp(name, "apns-id", 7) == 0 && value_length <= ID) {
        memcpy(asked->id, value, value_length);
        asked->id_length = value_length;
    }
    if (arrivals && asked && name_length == 5 && memcmp(name, ":path", 5) == 0)
        asked->is_bad = service == APNS && value_length >= sizeof BAD_PATH - 1 && memcmp(value, BAD_PATH, sizeof BAD_PATH - 1) == 0,
        asked->lowers = asked->is_bad && value_length >= sizeof BAD_PATH + 1 && memcmp(value + sizeof BAD_PATH - 1, "01", 2) == 0;
    return 0;
}

// Only with ARRIVALS. The payload is in one frame.
static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *data, size_t length, void *user) {
    (void)flags, (void)user;
    request *asked = nghttp2_session_get_stream_user_data(session, stream);
    const uint8_t *digit = memmem(data, length, "\"send\":", 7);
    if (!asked || !digit) return 0;
    for (digit += 7; digit < data + length && *digit >= '0' && *digit <= '9'; digit++) asked->send = asked->send * 10 + (*digit - '0');
    return 0;
}

static void record(const request *asked) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    uint64_t fields[] = {asked->send, (uint64_t)time.tv_sec * 1000000000u + time.tv_nsec, asked->is_bad ? 400 : service == WEBPUSH ? 201 : 200};
    fwrite(fields, sizeof fields, 1, arrivals);
}

static ssize_t read_name(nghttp2_session *session, int32_t stream, uint8_t *bytes, size_t room, uint32_t *flags, nghttp2_data_source *source, void *user) {
    (void)session, (void)stream, (void)room, (void)source, (void)user;
    memcpy(bytes, NAME, sizeof NAME - 1);
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    return sizeof NAME - 1;
}

// libnghttp2 enforces a lower limit at once: it answers requests beyond it with REFUSED_STREAM.
static void limit_streams(connection *peer, int is_lowered) {
    if (peer->is_lowered == is_lowered) return;
    peer->is_lowered = is_lowered;
    nghttp2_settings_entry limit = {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, is_lowered ? 1 : STREAMS};
    nghttp2_submit_settings(peer->session, NGHTTP2_FLAG_NONE, &limit, 1);
}

static ssize_t read_reason(nghttp2_session *session, int32_t stream, uint8_t *bytes, size_t room, uint32_t *flags, nghttp2_data_source *source, void *user) {
    (void)session, (void)stream, (void)room, (void)source, (void)user;
    memcpy(bytes, REASON, sizeof REASON - 1);
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    return sizeof REASON - 1;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *user) {
    connection *peer = user;
    if (peer->breaking) return 0;
    if ((frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) || !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM)) return 0;
    request *asked = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (!asked) return 0;
    if (arrivals) record(asked);
    if (!asked->is_bad || asked->lowers) limit_streams(peer, asked->lowers);
    if (asked->is_bad) {
        nghttp2_nv bad[] = {{(uint8_t *)":status", (uint8_t *)"400", 7, 3, 0}, {(uint8_t *)"apns-id", (uint8_t *)asked->id, 7, asked->id_length, NGHTTP2_NV_FLAG_NO_INDEX}};
        nghttp2_data_provider reason = {.read_callback = read_reason};
        return nghttp2_submit_response(session, frame->hd.stream_id, bad, 2, &reason);
    }
    nghttp2_nv ok = {(uint8_t *)":status", (uint8_t *)"200", 7, 3, 0};
    nghttp2_nv created = {(uint8_t *)":status", (uint8_t *)"201", 7, 3, 0};
    nghttp2_nv apns[] = {ok, {(uint8_t *)"apns-id", (uint8_t *)asked->id, 7, asked->id_length, NGHTTP2_NV_FLAG_NO_INDEX}};
    nghttp2_nv fcm[] = {ok, {(uint8_t *)"content-type", (uint8_t *)"application/json; charset=UTF-8", 12, 31, 0}};
    nghttp2_nv webpush[] = {created, {(uint8_t *)"location", (uint8_t *)LOCATION, 8, sizeof LOCATION - 1, NGHTTP2_NV_FLAG_NO_INDEX}, {(uint8_t *)"ttl", (uint8_t *)"60", 3, 2, 0}};
    nghttp2_data_provider name = {.read_callback = read_name};
    taken++;
    if (reset_every && taken % reset_every == 0) {
        resets++;
        peer->breaking = 1;
        return 0;
    }
    switch (service) {
    case APNS: return nghttp2_submit_response(session, frame->hd.stream_id, apns, 2, NULL);
    case FCM: return nghttp2_submit_response(session, frame->hd.stream_id, fcm, 2, &name);
    default: return nghttp2_submit_response(session, frame->hd.stream_id, webpush, 3, NULL);
    }
}

static int on_close(nghttp2_session *session, int32_t stream, uint32_t code, void *user) {
    (void)code, (void)user;
    free(nghttp2_session_get_stream_user_data(session, stream));
    return 0;
}

static void begin(connection *peer) {
    nghttp2_session_callbacks *callbacks;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    if (arrivals) nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session_server_new(&peer->session, callbacks, peer);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_settings_entry limit = {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, STREAMS};
    nghttp2_submit_settings(peer->session, NGHTTP2_FLAG_NONE, &limit, 1);
}

static void want(connection *peer, uint32_t events) {
    if (peer->events == events) return;
    struct epoll_event event = {.events = events, .data.ptr = peer};
    epoll_ctl(poller, EPOLL_CTL_MOD, peer->fd, &event);
    peer->events = events;
}

// Returns whether OpenSSL only waits for the socket.
static int waits(connection *peer, int result) {
    int error = SSL_get_error(peer->tls, result);
    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
}

// Collects frames into records of their own size. Returns false when the connection is over.
static int write_out(connection *peer) {
    for (;;) {
        while (peer->session && peer->out_length < OUT / 2) {
            if (!peer->rest_length) {
                ssize_t length = nghttp2_session_mem_send(peer->session, &peer->rest);
                if (length < 0) return 0;
                if (length == 0) break;
                peer->rest_length = length;
            }
            size_t part = OUT - peer->out_length < peer->rest_length ? OUT - peer->out_length : peer->rest_length;
            memcpy(peer->out + peer->out_length, peer->rest, part);
            peer->out_length += part, peer->rest += part, peer->rest_length -= part;
        }
        if (!peer->out_length) return want(peer, EPOLLIN), 1;
        int written = SSL_write(peer->tls, peer->out, peer->out_length < RECORD ? peer->out_length : RECORD);
        if (written <= 0) return waits(peer, written) ? (want(peer, EPOLLIN | EPOLLOUT), 1) : 0;
        memmove(peer->out, peer->out + written, peer->out_length - written);
        peer->out_length -= written;
    }
}

// Answers an HTTP/1.1 request. Returns false if the answer does not fit, which does not happen without pipelining.
static int answer_plainly(connection *peer) {
    char *out = (char *)peer->out + peer->out_length;
    size_t room = OUT - peer->out_length;
    int length;
    if (service == WEBPUSH) length = snprintf(out, room, "HTTP/1.1 201 Created\r\nLocation: %s\r\nTTL: 60\r\nContent-Length: 0\r\n\r\n", LOCATION);
    else length = snprintf(out, room, "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=UTF-8\r\nContent-Length: %zu\r\n\r\n%s", sizeof NAME - 1, NAME);
    if ((size_t)length >= room) return 0;
    peer->out_length += length;
    taken++;
    return 1;
}

// Reads HTTP/1.1 requests; bodies must have a Content-Length. Returns false if that is impossible.
static int read_plainly(connection *peer, const uint8_t *bytes, size_t length) {
    while (length) {
        if (peer->body_left) {
            size_t part = length < peer->body_left ? length : peer->body_left;
            bytes += part, length -= part, peer->body_left -= part;
            if (!peer->body_left && !answer_plainly(peer)) return 0;
            continue;
        }
        if (peer->head_length == HEAD - 1) return 0;
        peer->head[peer->head_length++] = *bytes++, length--;
        if (peer->head_length < 4 || memcmp(peer->head + peer->head_length - 4, "\r\n\r\n", 4)) continue;
        peer->head[peer->head_length] = 0;
        const char *field = strcasestr(peer->head, "\r\ncontent-length:");
        peer->body_left = field ? strtoul(field + 17, NULL, 10) : 0, peer->head_length = 0;
        if (!peer->body_left && !answer_plainly(peer)) return 0;
    }
    return 1;
}

// Returns false when the connection is over.
static int read_in(connection *peer) {
    static uint8_t bytes[64 * 1024];
    if (!peer->accepted) {
        int result = SSL_accept(peer->tls);
        if (result <= 0) return waits(peer, result);
        peer->accepted = 1;
        const unsigned char *protocol;
        unsigned size;
        SSL_get0_alpn_selected(peer->tls, &protocol, &size);
        // APNs supports nothing else, and aioapns does not negotiate.
        if (size == 2 || service == APNS) begin(peer);
    }
    for (;;) {
        int length = SSL_read(peer->tls, bytes, sizeof bytes);
        if (length <= 0) return waits(peer, length);
        if (!peer->session && !read_plainly(peer, bytes, length)) return 0;
        if (peer->session && nghttp2_session_mem_recv(peer->session, bytes, length) < 0) return 0;
    }
}

static void drop(connection *peer) {
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    if (peer->breaking) setsockopt(peer->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    if (peer->session) nghttp2_session_del(peer->session);
    SSL_free(peer->tls);
    close(peer->fd);
    free(peer);
}

static void accept_all(int listener) {
    int fd, yes = 1;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        connection *peer = calloc(1, sizeof *peer);
        peer->fd = fd, peer->tls = SSL_new(context), peer->events = EPOLLIN;
        SSL_set_fd(peer->tls, fd);
        SSL_set_accept_state(peer->tls);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = peer};
        epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
    }
}

static int listen_on(int port) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), yes = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 128)) die("listen");
    return listener;
}

int main(int count, char **words) {
    const char *name = count >= 5 && count <= 7 ? words[4] : "";
    reset_every = count >= 6 ? strtoul(words[5], NULL, 10) : 0;
    service = !strcmp(name, "apns") ? APNS : !strcmp(name, "fcm") ? FCM : !strcmp(name, "webpush") ? WEBPUSH : -1;
    if (service < 0) return fprintf(stderr, "sink PORT CERTIFICATE KEY apns|fcm|webpush [RESET_EVERY [ARRIVALS]]\n"), 2;
    if (count == 7 && !(arrivals = fopen(words[6], "w"))) die(words[6]);
    struct sigaction action = {.sa_handler = end};
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    context = SSL_CTX_new(TLS_server_method());
    if (SSL_CTX_use_certificate_chain_file(context, words[2]) != 1 || SSL_CTX_use_PrivateKey_file(context, words[3], SSL_FILETYPE_PEM) != 1)
        return fprintf(stderr, "no certificate\n"), 1;
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, NULL);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    int listener = listen_on(atoi(words[1]));
    poller = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL}, events[64];
    epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event);
    while (!ending) {
        int ready = epoll_wait(poller, events, 64, arrivals ? 100 : -1);
        if (!ready) fflush(arrivals);
        for (int i = 0; i < ready; i++) {
            connection *peer = events[i].data.ptr;
            if (!peer) {
                accept_all(listener);
            } else if (!read_in(peer) || (peer->accepted && !write_out(peer)) || peer->breaking || (peer->session && !nghttp2_session_want_read(peer->session) && !nghttp2_session_want_write(peer->session))) {
                drop(peer);
            }
        }
    }
    if (arrivals) fclose(arrivals);
    printf("%lu %lu\n", taken, resets);
    return 0;
}
