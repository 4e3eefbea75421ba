#ifndef CLUA_INTERNAL_H
#define CLUA_INTERNAL_H

#include <setjmp.h>

#include "clua.h"

// Keys of the registry are addresses of these.
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

// Charges work in C for which no instruction of the interpreter stands; one unit is about one instruction's work. Now and
// then it is settled, which raises the stop, or the cancellation, that is due. So no loop in C holds up either.
void clua_settle(lua_State *L);
static inline void clua_charge(lua_State *L, int64_t units) {
    clua_run *run = clua_get(L)->run;
    if (run && (run->credit -= units) < 0) clua_settle(L);
}

void clua_charge_coroutine(lua_State *L);  // each new coroutine

// errors.c
void clua_open_errors(lua_State *L);
int clua_finish_error(lua_State *L);  // completes the table of fields on the top and raises it
int clua_raise(lua_State *L, const char *kind, const char *code, const char *hint, const char *format, ...);
int clua_raise_cancelled(lua_State *L);
int clua_record_origin(lua_State *L);  // a message handler
void clua_push_error(lua_State *L, const char *kind, const char *code, const char *hint, const char *message);
int clua_raise_memory(lua_State *L);
void clua_note_refusal(clua_context *context);

// weakness.c
void clua_open_weakness(lua_State *L);
void clua_make_weak(lua_State *L, const char *mode);  // the table on the top

// rescue.c
//
// Where a step of Lua that does not end is left to. An entry from the host opens one, in these words:
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
bool clua_exit_is_next(const clua_context *context);  // between here and the innermost one is one call of the host
clua_context *clua_exit_context(void);              // whose steps may be left now; or NULL
bool clua_exit_is_safe(const void *interrupted);    // the ucontext_t of a signal: it came while code of Lua was being executed
void clua_exit_take(void);
void clua_exit_prepare(void);

// What stands before a large block.
typedef struct clua_large {
    struct clua_large *next, **link;
} clua_large;
enum { CLUA_LARGE = 4096 };
void *clua_take_large(clua_context *context, size_t size);
void clua_give_large(void *block);
void *clua_resize_large(clua_context *context, void *block, size_t size);  // NULL: it stays as it is
void clua_free_large(clua_context *context);  // all
void clua_free_abandoned(clua_context *context, void *block);  // large ones are freed at the end

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
void clua_check_memory(lua_State *L);  // raises when the host went over the limit
int clua_run_in_host(lua_State *L, int64_t function);
int clua_finish_call(lua_State *L, int32_t answer);  // what the host answered, once it has returned
void clua_slots_make(clua_context *context);
void clua_slots_free(clua_context *context);
void clua_resize_slots(clua_slot **slots, size_t *capacity, size_t wanted);
void clua_grow_slots(clua_slot **slots, size_t *capacity);

// arguments.c
bool clua_read_arguments(lua_State *L, clua_context *context, const clua_signature *signature, int top);
int clua_refuse_arguments(lua_State *L, const clua_signature *signature, int top);  // raises what does not fit

// results.c
//
// The host writes by the shapes of a function, or so its types promise. Where they write less, what is left of other calls must
// not be taken for results: the end of what was written is marked, and meeting it too early is an error.
static inline void clua_end_results(clua_context *context) { context->results.next->kind = CLUA_END; }
void clua_push_rare(lua_State *L, clua_context *context, const clua_slot *slot);  // what push_simple leaves
void clua_hold_collector(lua_State *L);
void clua_release_collector(lua_State *L);
int clua_push_results(lua_State *L, clua_context *context, const clua_signature *signature);

// texts.c
void clua_record_text(lua_State *L);  // of the error on the top, which no function of the task has caught

// absent.c
void clua_open_absent(lua_State *L);
int clua_raise_absent(lua_State *L, const char *library, const char *name);
bool clua_is_read_absent(lua_State *L, const char *name);
bool clua_explain_absent(lua_State *L);  // the error at 1; true: it was about something absent, and the error says so now

// lists.c
void clua_open_lists(lua_State *L);

// sandbox.c, standard.c, globals.c, modules.c, coroutines.c, ordering.c
void clua_open_sandbox(lua_State *L);
void clua_open_standard(lua_State *L);
int clua_require(lua_State *L);
void clua_lock_strings(lua_State *L);  // after everything that changes the string library
void clua_open_coroutines(lua_State *L);
void clua_open_standard_coroutines(lua_State *L);
void clua_open_ordering(lua_State *L);
void clua_open_globals(lua_State *L);
void clua_push_text(lua_State *L, int index);  // what tostring gives, without addresses
int clua_protected_body(lua_State *L);  // the lowest frame of every coroutine
void clua_guard(lua_State *L, const char *library, const char *name, lua_CFunction function);
int clua_call_original(lua_State *L);   // calls the guarded stock function (upvalue 1) in the same frame
// Reads a text in pieces that are charged: compiling a huge one can be stopped.
typedef struct clua_text_reader {
    const char *next;
    size_t count;
    bool was_stopped;  ///< reading raised, not the compiler
} clua_text_reader;
const char *clua_read_text(lua_State *L, void *reader, size_t *count);

// The metered library: own versions of whatever can run long in C
void clua_open_patterns(lua_State *L);
void clua_open_strings(lua_State *L);
void clua_open_formats(lua_State *L);
void clua_open_tables(lua_State *L);
void clua_open_unicode(lua_State *L);
void clua_set_functions(lua_State *L, const char *library, const luaL_Reg *functions);
size_t clua_string_start(lua_Integer position, size_t count);  // of a string library's argument, from 1

// watchdog.c
//
// For what runs in the signal handler: the thread sanitizer must not follow it there.
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
lua_State *clua_watch_switch(lua_State *L);  // the coroutine that runs from now on; answers the one before
lua_State *clua_watch_running(void);
bool clua_stack_is_short(void);              // half of the thread's stack is in use
void clua_hook_now(lua_State *L);            // a stopped run dies at its next instruction
void clua_watch_progress(void);              // the step that goes on is none that does not end

#endif
