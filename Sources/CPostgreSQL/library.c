#include "cpostgresql.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>

// The version of the library's interface has been 5 since PostgreSQL 8.2; pipelines are in it since PostgreSQL 14.
static const char LIBRARY[] = "libpq.so.5";

enum { CONNECTION_OK = 0, SQLSTATE = 'C', PRIMARY_MESSAGE = 'M', BINARY = 1, VERBOSE = 2 };

static struct {
    cpg_option *(*PQconninfoParse)(const char *, char **);
    void (*PQconninfoFree)(cpg_option *);
    void (*PQfreemem)(void *);
    cpg_connection *(*PQconnectStartParams)(const char *const *, const char *const *, int);
    int (*PQconnectPoll)(cpg_connection *);
    int (*PQstatus)(const cpg_connection *);
    int (*PQconnectionNeedsPassword)(const cpg_connection *);
    int (*PQsocket)(const cpg_connection *);
    int (*PQbackendPID)(const cpg_connection *);
    char *(*PQerrorMessage)(const cpg_connection *);
    void (*PQfinish)(cpg_connection *);
    void (*(*PQsetNoticeReceiver)(cpg_connection *, void (*)(void *, const cpg_result *), void *))(void *, const cpg_result *);
    int (*PQsetErrorVerbosity)(cpg_connection *, int);
    int (*PQsetnonblocking)(cpg_connection *, int);
    int (*PQenterPipelineMode)(cpg_connection *);
    int (*PQsendPrepare)(cpg_connection *, const char *, const char *, int, const uint32_t *);
    int (*PQsendQueryPrepared)(cpg_connection *, const char *, int, const char *const *, const int *, const int *, int);
    int (*PQpipelineSync)(cpg_connection *);
    int (*PQflush)(cpg_connection *);
    int (*PQconsumeInput)(cpg_connection *);
    int (*PQisBusy)(cpg_connection *);
    cpg_result *(*PQgetResult)(cpg_connection *);
    void (*PQclear)(cpg_result *);
    int (*PQresultStatus)(const cpg_result *);
    char *(*PQresultErrorField)(const cpg_result *, int);
    int (*PQntuples)(const cpg_result *);
    int (*PQnfields)(const cpg_result *);
    char *(*PQcmdTuples)(cpg_result *);
    char *(*PQgetvalue)(const cpg_result *, int, int);
    int (*PQgetlength)(const cpg_result *, int, int);
    int (*PQgetisnull)(const cpg_result *, int, int);
} pq;

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define FUNCTION(name) {#name, offsetof(__typeof__(pq), name)}
    FUNCTION(PQconninfoParse), FUNCTION(PQconninfoFree), FUNCTION(PQfreemem), FUNCTION(PQconnectStartParams), FUNCTION(PQconnectPoll),
    FUNCTION(PQstatus), FUNCTION(PQconnectionNeedsPassword), FUNCTION(PQsocket), FUNCTION(PQbackendPID), FUNCTION(PQerrorMessage),
    FUNCTION(PQfinish), FUNCTION(PQsetNoticeReceiver), FUNCTION(PQsetErrorVerbosity), FUNCTION(PQsetnonblocking),
    FUNCTION(PQenterPipelineMode), FUNCTION(PQsendPrepare), FUNCTION(PQsendQueryPrepared), FUNCTION(PQpipelineSync), FUNCTION(PQflush),
    FUNCTION(PQconsumeInput), FUNCTION(PQisBusy), FUNCTION(PQgetResult), FUNCTION(PQclear), FUNCTION(PQresultStatus),
    FUNCTION(PQresultErrorField), FUNCTION(PQntuples), FUNCTION(PQnfields), FUNCTION(PQcmdTuples), FUNCTION(PQgetvalue),
    FUNCTION(PQgetlength), FUNCTION(PQgetisnull),
#undef FUNCTION
};

static const char *flaw;

static void load(void) {
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        flaw = "libpq.so.5 is not installed";
        return;
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *function = dlsym(library, functions[i].name);
        if (function == NULL) {
            flaw = "libpq.so.5 is older than that of PostgreSQL 14";
            return;
        }
        *(void **)((char *)&pq + functions[i].offset) = function;
    }
}

const char *cpg_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return flaw;
}

int cpg_wait(int socket, int events, int milliseconds) {
    struct pollfd wait = {.fd = socket, .events = (events & 1 ? POLLIN : 0) | (events & 2 ? POLLOUT : 0)};
    int count;
    do count = poll(&wait, 1, milliseconds);
    while (count < 0 && errno == EINTR);
    if (count <= 0) return 0;
    // After an error or a hang-up, the caller reads and gets to know it.
    int ready = (wait.revents & POLLIN ? 1 : 0) | (wait.revents & POLLOUT ? 2 : 0);
    return ready != 0 ? ready : events;
}

cpg_option *cpg_parse(const char *text, char **error) { return pq.PQconninfoParse(text, error); }
void cpg_free_options(cpg_option *options) { pq.PQconninfoFree(options); }
void cpg_free_text(char *text) { pq.PQfreemem(text); }

static void drop(void *context, const cpg_result *notice) {
    (void)context;
    (void)notice;
}

cpg_connection *cpg_connect_start(const char *const *keywords, const char *const *values) {
    cpg_connection *connection = pq.PQconnectStartParams(keywords, values, 0);
    if (connection == NULL) return NULL;
    pq.PQsetNoticeReceiver(connection, drop, NULL);
    pq.PQsetErrorVerbosity(connection, VERBOSE);
    return connection;
}

int cpg_connect_poll(cpg_connection *connection) { return pq.PQconnectPoll(connection); }
int cpg_is_open(const cpg_connection *connection) { return pq.PQstatus(connection) == CONNECTION_OK; }
int cpg_needs_password(const cpg_connection *connection) { return pq.PQconnectionNeedsPassword(connection); }
int cpg_socket(const cpg_connection *connection) { return pq.PQsocket(connection); }
int cpg_backend(const cpg_connection *connection) { return pq.PQbackendPID(connection); }
const char *cpg_error(const cpg_connection *connection) { return pq.PQerrorMessage(connection); }
void cpg_finish(cpg_connection *connection) { pq.PQfinish(connection); }
int cpg_set_nonblocking(cpg_connection *connection) { return pq.PQsetnonblocking(connection, 1) == 0; }
int cpg_enter_pipeline(cpg_connection *connection) { return pq.PQenterPipelineMode(connection); }

int cpg_send_prepare(cpg_connection *connection, const char *name, const char *sql, int count, const uint32_t *types) {
    return pq.PQsendPrepare(connection, name, sql, count, types);
}

int cpg_send_prepared(
    cpg_connection *connection, const char *name, int count, const char *const *values, const int *lengths, const int *formats) {
    return pq.PQsendQueryPrepared(connection, name, count, values, lengths, formats, BINARY);
}

int cpg_sync(cpg_connection *connection) { return pq.PQpipelineSync(connection); }
int cpg_flush(cpg_connection *connection) { return pq.PQflush(connection); }
int cpg_consume(cpg_connection *connection) { return pq.PQconsumeInput(connection); }
int cpg_is_busy(cpg_connection *connection) { return pq.PQisBusy(connection); }
cpg_result *cpg_next_result(cpg_connection *connection) { return pq.PQgetResult(connection); }
void cpg_clear(cpg_result *result) { pq.PQclear(result); }
int cpg_status(const cpg_result *result) { return pq.PQresultStatus(result); }
const char *cpg_state(const cpg_result *result) { return pq.PQresultErrorField(result, SQLSTATE); }
const char *cpg_message(const cpg_result *result) { return pq.PQresultErrorField(result, PRIMARY_MESSAGE); }
int cpg_rows(const cpg_result *result) { return pq.PQntuples(result); }
int cpg_columns(const cpg_result *result) { return pq.PQnfields(result); }
const char *cpg_changed(cpg_result *result) { return pq.PQcmdTuples(result); }
const char *cpg_value(const cpg_result *result, int row, int column) { return pq.PQgetvalue(result, row, column); }
int cpg_length(const cpg_result *result, int row, int column) { return pq.PQgetlength(result, row, column); }
int cpg_is_null(const cpg_result *result, int row, int column) { return pq.PQgetisnull(result, row, column); }
