// PostgreSQL's client library, libpq, loaded when a program first connects.
//
// Linking libpq would make every start of the program also load OpenSSL, Kerberos and LDAP, which libpq needs. The functions below have
// the meaning of the functions of libpq that they are named after. They may only be called after cpg_load has returned NULL.
#ifndef CPOSTGRESQL_H
#define CPOSTGRESQL_H

#include <stdint.h>

typedef struct pg_conn cpg_connection;
typedef struct pg_result cpg_result;

// An option of a connection string; libpq's PQconninfoOption.
typedef struct {
    char *keyword;
    char *environment;
    char *compiled;
    char *value;
    char *label;
    char *display;
    int display_size;
} cpg_option;

enum { CPG_POLL_FAILED = 0, CPG_POLL_READING = 1, CPG_POLL_WRITING = 2, CPG_POLL_OK = 3 };
enum {
    CPG_COMMAND_OK = 1,
    CPG_TUPLES_OK = 2,
    CPG_PIPELINE_SYNC = 10,
};

// Loads the library, once. NULL if it can be used, or the reason why not.
const char *cpg_load(void);

// Waits until a socket can be read (1) or written (2), or both (3). Returns what it is ready for; 0 when the time is over.
int cpg_wait(int socket, int events, int milliseconds);

cpg_option *cpg_parse(const char *text, char **error);
void cpg_free_options(cpg_option *options);
void cpg_free_text(char *text);

// A connection whose notices are dropped, and whose refusals have their SQLSTATE in their text.
cpg_connection *cpg_connect_start(const char *const *keywords, const char *const *values);
int cpg_connect_poll(cpg_connection *connection);
// Whether the connection can be used.
int cpg_is_open(const cpg_connection *connection);
// Whether the server wants a password and there is none.
int cpg_needs_password(const cpg_connection *connection);
int cpg_socket(const cpg_connection *connection);
int cpg_backend(const cpg_connection *connection);
const char *cpg_error(const cpg_connection *connection);
void cpg_finish(cpg_connection *connection);

int cpg_set_nonblocking(cpg_connection *connection);
int cpg_enter_pipeline(cpg_connection *connection);
int cpg_send_prepare(cpg_connection *connection, const char *name, const char *sql, int count, const uint32_t *types);
int cpg_send_prepared(
    cpg_connection *connection, const char *name, int count, const char *const *values, const int *lengths, const int *formats);
int cpg_sync(cpg_connection *connection);
int cpg_flush(cpg_connection *connection);
int cpg_consume(cpg_connection *connection);
int cpg_is_busy(cpg_connection *connection);

cpg_result *cpg_next_result(cpg_connection *connection);
void cpg_clear(cpg_result *result);
int cpg_status(const cpg_result *result);
// The SQLSTATE of a failed statement; NULL if the server gave none.
const char *cpg_state(const cpg_result *result);
// The message of a failed statement, without further lines; NULL if there is none.
const char *cpg_message(const cpg_result *result);
int cpg_rows(const cpg_result *result);
int cpg_columns(const cpg_result *result);
const char *cpg_changed(cpg_result *result);
const char *cpg_value(const cpg_result *result, int row, int column);
int cpg_length(const cpg_result *result, int row, int column);
int cpg_is_null(const cpg_result *result, int row, int column);

#endif
