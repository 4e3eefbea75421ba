#ifndef CLUA_INTERNAL_H
#define CLUA_INTERNAL_H

#include <setjmp.h>

#include "clua.h"

// Registry keys are the addresses of these.
extern const char clua_key_error_metatable, clua_key_hints, clua_key_modules, clua_key_numbers, clua_key_objects,
    clua_key_object_marker;

// Marks in the low bits of a coroutine's context pointer.
enum { CLUA_MARK_WAITING = 1, CLUA_MARK_TASK = 2 };
static inline bool clua_has_mark(lua_State *L, uintptr_t mark) {
    return (*(uintptr_t *)lua_getextraspace(L) & mark) != 0;
}
static inline void clua_set_mark(lua_State *L, uintptr_t mark) { *(uintptr_t *)lua_getextraspace(L) |= mark; }
static inline void clua_clear_mark(lua_State *L, uintptr_t mark) { *(uintptr_t *)lua_getextraspace(L) &= ~mark; }

static inline bool clua_stopped(clua_context *context) { return context->run && context->run->stop; }

// Charges work in C that executes no interpreter instructions. One unit is about one instruction. From time to time the charges are
// settled, which raises a pending stop or cancellation, so that loops in C cannot delay either.
void clua_settle(lua_State *L);
static inline void clua_charge(lua_State *L, int64_t units) {
    clua_run *run = clua_get(L)->run;
    if (run && (run->credit -= units) < 0) clua_settle(L);
}

void clua_charge_coroutine(lua_State *L);  // for each new coroutine

// errors.c
void clua_open_errors(lua_State *L);
int clua_finish_error(lua_State *L);  // completes the table of fields on the top and raises it
int clua_raise(lua_State *L, const char *kind, const char *code, const char *hint, const char *format, ...);
int clua_raise_cancelled(lua_State *L);
int clua_record_origin(lua_State *L);  // a message handler
void clua_push_error(lua_State *L, const char *kind, const char *code, const char *hint, const char *message);
int clua_raise_memory(lua_State *L);
void clua_record_refusal(clua_context *context);

// weakness.c
void clua_open_weakness(lua_State *L);
void clua_make_weak(lua_State *L, const char *mode);  // the table on the top

// rescue.c
//
// The target of the jump out of a step that does not end. An entry from the host opens one as follows:
//     if (sigsetjmp(*clua_exit_open(&way_out, context), 0) == 0) … else status = clua_exit_taken(&way_out);
//     clua_exit_close(&way_out);
typedef struct clua_exit {
    sigjmp_buf place;
    clua_context *context;
    int64_t host_frames;  // below Lua when it was opened
    struct clua_exit *outer;
} clua_exit;
sigjmp_buf *clua_exit_open(clua_exit *way_out, clua_context *context);
int clua_exit_taken(const clua_exit *way_out);
void clua_exit_close(const clua_exit *way_out);
bool clua_exit_is_next(const clua_context *context);  // there is exactly one host call between here and the innermost exit
clua_context *clua_exit_context(void);              // the context whose steps can be abandoned now, or NULL
bool clua_exit_is_safe(const void *interrupted);    // `interrupted` is the ucontext_t of a signal; true if it interrupted Lua's own code
void clua_exit_take(void);
void clua_exit_prepare(void);

// The header of a large block.
typedef struct clua_large {
    struct clua_large *next, **link;
} clua_large;
enum { CLUA_LARGE = 4096 };
void *clua_allocate_large(clua_context *context, size_t size);
void clua_release_large(void *block);
void *clua_resize_large(clua_context *context, void *block, size_t size);  // NULL: unchanged
void clua_free_large(clua_context *context);  // all large blocks
void clua_free_abandoned(clua_context *context, void *block);  // large blocks are freed at the end

// functions.c, slots.c
static inline void clua_enter_host(clua_context *context) {
    context->no_fail += context->protects_host;
    context->frames_entered++;
}
static inline void clua_leave_host(clua_context *context) {
    context->frames_left++;
    context->no_fail -= context->protects_host;
}
int clua_cannot_wait(lua_State *L, const char *name);
void clua_check_memory(lua_State *L);  // raises if the host exceeded the limit
int clua_run_in_host(lua_State *L, int64_t function);
int clua_finish_call(lua_State *L, int32_t answer);  // handles the host's answer after it has returned
void clua_slots_make(clua_context *context);
void clua_slots_free(clua_context *context);
void clua_resize_slots(clua_slot **slots, size_t *capacity, size_t wanted);
void clua_grow_slots(clua_slot **slots, size_t *capacity);

// arguments.c
bool clua_read_arguments(lua_State *L, clua_context *context, const clua_signature *signature, int top);
int clua_raise_argument_error(lua_State *L, const clua_signature *signature, int top);  // raises an error for the first misfit

// results.c
//
// The host's types should guarantee that it writes all slots of a function's shapes. If it writes fewer, slots of earlier calls must not be
// used as results. So the end is marked, and reaching it too early is an error.
static inline void clua_end_results(clua_context *context) { context->results.next->kind = CLUA_END; }
void clua_push_rare(lua_State *L, clua_context *context, const clua_slot *slot);  // values that push_simple does not handle
void clua_hold_collector(lua_State *L);
void clua_release_collector(lua_State *L);
int clua_push_results(lua_State *L, clua_context *context, const clua_signature *signature);

// texts.c
void clua_record_text(lua_State *L);  // for the error on the top, which the task has not caught

// absent.c
void clua_open_absent(lua_State *L);
int clua_raise_absent(lua_State *L, const char *library, const char *name);
bool clua_is_read_absent(lua_State *L, const char *name);
bool clua_explain_absent(lua_State *L);  // explains the error at 1 if it is about an absent name; returns whether it did

// lists.c
void clua_open_lists(lua_State *L);

// sandbox.c, standard.c, globals.c, modules.c, coroutines.c, ordering.c
void clua_open_sandbox(lua_State *L);
void clua_open_standard(lua_State *L);
int clua_require(lua_State *L);
void clua_lock_strings(lua_State *L);  // call it after all changes to the string library
void clua_open_coroutines(lua_State *L);
void clua_open_standard_coroutines(lua_State *L);
void clua_open_ordering(lua_State *L);
void clua_open_globals(lua_State *L);
void clua_push_text(lua_State *L, int index);  // the result of tostring, without addresses
int clua_protected_body(lua_State *L);  // the lowest frame of every coroutine
void clua_guard(lua_State *L, const char *library, const char *name, lua_CFunction function);
int clua_call_original(lua_State *L);   // calls the guarded stock function (upvalue 1) in the same frame
// Reads a text in pieces that are charged, so that compiling a huge text can be stopped.
typedef struct clua_text_reader {
    const char *next;
    size_t count;
    bool was_stopped;  ///< the reader raised the error, not the compiler
} clua_text_reader;
const char *clua_read_text(lua_State *L, void *reader, size_t *count);

// The metered library: replacements for functions that can run long in C.
void clua_open_patterns(lua_State *L);
void clua_open_strings(lua_State *L);
void clua_open_formats(lua_State *L);
void clua_open_tables(lua_State *L);
void clua_open_unicode(lua_State *L);
void clua_set_functions(lua_State *L, const char *library, const luaL_Reg *functions);
size_t clua_string_start(lua_Integer position, size_t count);  // converts a string function's position argument, counted from 1

// watchdog.c
//
// Marks functions that run in the signal handler, where the thread sanitizer must not instrument them.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNWATCHED __attribute__((disable_sanitizer_instrumentation))
#endif
#endif
#ifndef UNWATCHED
#define UNWATCHED
#endif
typedef struct clua_watch_scope {
    lua_State *running;
    clua_run *run;
} clua_watch_scope;
clua_watch_scope clua_watch_enter(lua_State *L, clua_run *run);
void clua_watch_leave(clua_watch_scope previous);
lua_State *clua_watch_switch(lua_State *L);  // sets the running coroutine; returns the previous one
lua_State *clua_watch_running(void);
bool clua_stack_is_short(void);              // half of the thread's stack is in use
void clua_hook_now(lua_State *L);            // a stopped run ends at its next instruction
void clua_watch_progress(void);              // reports that the current step is making progress

#endif
