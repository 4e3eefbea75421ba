#ifndef CLUA_H
#define CLUA_H

// What Swift sees of Lua: the stock API, the macros it cannot import, and the few entries below.
//
// Two rules keep Swift frames and Lua's longjmp apart:
//  * Swift runs only between two C lines of a trampoline. While it does, `no_fail` is above zero and the allocator
//    ignores the memory limit, so that nothing Swift may call (raw access only, no metamethods) can raise.
//  * Every way from Swift into code that can raise is one of the protected `clua_` entries. They set `no_fail` to
//    zero for their extent and restore it.

#include <lua5.4/lauxlib.h>
#include <lua5.4/lua.h>
#include <lua5.4/lualib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "slots.h"

/// What a dispatched Swift function answers instead of a count of results.
enum {
    CLUA_ERROR = -1,    ///< the top of the stack is a table of error fields: complete and raise it
    CLUA_PENDING = -2,  ///< the result comes later: suspend the task
    CLUA_RERAISE = -3,  ///< the top of the stack is an error value that is raised unchanged
    CLUA_SLOTS = -4,    ///< of a typed function: the results are in the context
    CLUA_MISFIT = -5,   ///< of a typed function: an argument is not what it must be
};

/// Why a run was stopped for good. Kept in the run, never inferred from an error value.
enum { CLUA_STOP_NONE = 0, CLUA_STOP_CPU, CLUA_STOP_WALL, CLUA_STOP_CANCEL, CLUA_STOP_FUEL, CLUA_STOP_ACCOUNT };

/// How the values that resume a waiting task are to be taken.
enum { CLUA_RESUME_VALUES = 0, CLUA_RESUME_ERROR, CLUA_RESUME_RERAISE, CLUA_RESUME_SLOTS };

/// A line of a script.
typedef struct clua_place {
    char *chunk;  ///< a copy; or NULL: there was no script
    int line;
} clua_place;
void clua_place_set(clua_place *place, const char *chunk, int line);
void clua_place_clear(clua_place *place);

/// What a run has used of its budgets, Lua and the host together. Several runs may share one: a run and the runs that it starts.
/// Any thread reads and writes it, through the functions below.
typedef struct clua_account {
    int64_t cpu_used_ns;
    int64_t cpu_limit_ns;
    int32_t is_spent;         ///< a budget other than those of CPU and real time is used up
} clua_account;

/// The budgets of one run. Belongs to the thread that executes the run, except for the cancel flag.
typedef struct clua_run {
    clua_account *account;    ///< never NULL; outlives the run
    int64_t grace_limit_ns;   ///< CPU time until which a cancelled run may clean up; 0 before the cancellation
    int64_t grace_deadline_ns; ///< the same in real time, on the monotonic clock; 0 before the cancellation
    int64_t deadline_ns;      ///< on the monotonic clock; 0 = none
    int64_t fuel_limit;       ///< the instruction budget; 0 = none
    int64_t fuel;             ///< what is left of it, without what is in `credit`
    int64_t credit;           ///< work in C that may go on before it is settled, see `clua_charge`
    int32_t cancel_requested; ///< read and written by any thread, through the functions below
    int32_t stop;
    int32_t is_bystander;     ///< the task being resumed is none of those that a cancellation is for
    int annotations;          ///< registry reference of a table whose fields join every error; or LUA_NOREF
    int environment;          ///< registry reference of the globals of this run; or LUA_NOREF
    clua_place stopped_at;    ///< where a stop met the script
    int loaded;               ///< registry reference of the modules it has loaded, by name; or LUA_NOREF
    int origins;              ///< registry reference of a table: error value -> where it was raised; LUA_NOREF: none yet
    int texts;                ///< the same of a table: error value -> what its `__tostring` gave
} clua_run;

/// Instead of a Lua status: a step that did not end was left where it was, see rescue.c. The state can only be closed.
enum { CLUA_ABANDONED = 64 };

/// A block that is kept for reuse.
typedef struct clua_kept {
    struct clua_kept *next;
} clua_kept;
enum { CLUA_KEPT_SIZES = 33 };

/// The machine's record of one Lua state; every coroutine of the state points to it.
typedef struct clua_context {
    void *host;
    int32_t (*dispatch)(void *host, lua_State *L, int64_t function);
    void (*release)(void *object);
    /// Pushes one value of the results of a typed function, and answers 1; or an error, and answers CLUA_ERROR.
    int32_t (*push_value)(void *host, lua_State *L, uint32_t number);
    clua_slot *arguments;    ///< of the typed function that is being called
    size_t argument_capacity;
    size_t argument_least;   ///< what the functions of the state need at any rate
    clua_results results;
    int64_t frames_entered, frames_left;  ///< of the host, below Lua: they differ if Lua ever jumped over one

    size_t used, limit, peak;
    size_t state_size;       ///< of the block that has the state itself
    int32_t no_fail;         ///< above zero: the allocator must not refuse
    bool refused;            ///< the allocator refused; cleared by whoever reports it
    clua_place refused_at;   ///< where the script was then
    lua_State *refused_state; ///< the coroutine it was in; only to compare with
    int64_t fail_after;      ///< fault injection: the allocation that brings it to zero fails, and so does the retry
    int32_t fail_onward;     ///< fault injection: all allocations after that one fail, too
    int32_t protects_host;   ///< 1; fault injection sets 0, to show what `no_fail` prevents

    clua_run *run;           ///< the run being resumed
    int32_t host_yield;      ///< the latest yield is meant for the driver, not for a script's resume
    int32_t preempted;       ///< ... and it is no wait: the task wants to go on
    int32_t no_yield;        ///< a coroutine is being resumed from where no suspension can pass
    int32_t resume_kind;     ///< CLUA_RESUME_...

    bool holds_collector;    ///< for the length of a call of a typed function
    bool is_standard;        ///< the state has the whole standard library
    int64_t seed;
    int64_t last_number;     ///< the number given to the last value shown without an address
    int64_t last_object;     ///< the number given to the last object of the host

    struct clua_large *large; ///< the large blocks, see rescue.c
    bool is_abandoned;
    struct clua_large **abandoned; ///< the large blocks that there were then, by address
    size_t abandoned_count;
    struct clua_kept *kept[CLUA_KEPT_SIZES]; ///< free blocks, by their size in units
    ptrdiff_t kept_room;     ///< for how many units more blocks may be kept
    char *slab_next;         ///< the first free byte of the slab
    char slab[];             ///< where the blocks of a new state lie together; never given back before the end
} clua_context;

/// Where the host writes the results of a typed function.
static inline clua_results *clua_context_results(clua_context *context) { return &context->results; }

static inline clua_context *clua_get(lua_State *L) {
    // The low bits of the pointer mark coroutines, see coroutines.c.
    return (clua_context *)(*(uintptr_t *)lua_getextraspace(L) & ~(uintptr_t)7);
}

// -- Macros of Lua that Swift cannot import
static inline void clua_pop(lua_State *L, int n) { lua_settop(L, -n - 1); }
static inline int clua_registryindex(void) { return LUA_REGISTRYINDEX; }
static inline int clua_noref(void) { return LUA_NOREF; }
static inline int clua_upvalueindex(int i) { return lua_upvalueindex(i); }
static inline const char *clua_tostring(lua_State *L, int i, size_t *n) { return lua_tolstring(L, i, n); }
static inline void clua_insert(lua_State *L, int i) { lua_rotate(L, i, 1); }
static inline void clua_remove(lua_State *L, int i) { lua_rotate(L, i, -1); clua_pop(L, 1); }
static inline void *clua_newuserdata(lua_State *L, size_t n) { return lua_newuserdatauv(L, n, 1); }

// -- States (runtime.c)
clua_context *clua_context_new(size_t limit, int64_t seed);
void clua_context_free(clua_context *context);
/// A state, sandboxed unless the context says otherwise, or NULL when the limit does not even hold the libraries. Leaves
/// `no_fail` at 1: Swift is running.
lua_State *clua_state_new(clua_context *context);
void clua_state_close(lua_State *L);
void clua_collect(lua_State *L);

// -- Protected entries (runtime.c)
/// Pushes the compiled chunk, or the error. `name` as Lua wants it ("@file" or "=[prelude]"). Answers a Lua status.
/// The work is charged to `run`, which may be NULL; when that stops it, the run has a reason to stop. CLUA_ABANDONED: it did not
/// end. That is not looked for in a text that is trusted.
int clua_load(lua_State *L, clua_run *run, const char *source, size_t count, const char *name, bool is_trusted);
/// Calls on the main thread of the state, for trusted code. Answers a Lua status.
int clua_call(lua_State *L, int arguments, int results);
/// Makes `task` ready to be resumed for the first time: below the function and its arguments goes the frame that
/// protects them, so that errors unwind (and close variables) inside of the task.
void clua_task_prepare(lua_State *task, int arguments);
int clua_resume(lua_State *task, clua_run *run, int arguments, int *results);
/// Ends a suspended or failed task. Pending `__close` handlers run, at most one instruction each when stopped.
/// Answers LUA_OK, or CLUA_ABANDONED.
int clua_task_close(lua_State *task, clua_run *run);

// -- Functions and objects
/// Pushes a Lua function that dispatches to Swift. `waits`: refuse it where the task cannot suspend.
void clua_push_function(lua_State *L, int64_t function, const char *name, bool waits);
/// Pushes one of the functions in C that a prelude gets.
void clua_push_traced(lua_State *L);
void clua_push_is_error(lua_State *L);
void clua_push_raise(lua_State *L);
void clua_push_list(lua_State *L);
void clua_push_is_list(lua_State *L);
/// Pushes the metatable for objects of a type; `methods` is the stack index of its methods.
void clua_push_object_type(lua_State *L, const char *name, int methods, int64_t property, int64_t describe);
/// Pushes the userdata of `object`. False: there was none yet, and a reference was taken over by the new one, whose
/// metatable is the value on the top of the stack before the call. The metatable is replaced by the object.
bool clua_push_object(lua_State *L, void *object);
/// The object in a userdata of ours, or NULL.
void *clua_to_object(lua_State *L, int index);
/// The place of an object of the host in the order of creation, from 1; 0 for other values.
int64_t clua_object_serial(lua_State *L, int index);

// -- Errors (errors.c)
bool clua_is_error(lua_State *L, int index);
/// Finds the nearest frame of a script; false: there is none. The name lives as long as the function.
bool clua_nearest_frame(lua_State *L, int level, const char **chunk, int *line);
/// Finds where a function begins in the file of a script; false: it is the host's. The name lives as long as the function. Needs room
/// for one value.
bool clua_definition(lua_State *L, int index, const char **chunk, int *line);
/// Pushes what an error value's `__tostring` gave when a task ended with it, or nil.
void clua_push_recorded_text(lua_State *L, clua_run *run, int index);
/// Pushes the recorded frames ("file:line" per line) of an error value, or nil.
void clua_push_origin(lua_State *L, clua_run *run, int index);

// -- Lists (lists.c)
/// Whether the table is marked as a list, so that an empty one is known as such. Needs room for two values.
bool clua_is_list(lua_State *L, int index);
/// Marks the table on the top. Needs room for one value.
void clua_mark_list(lua_State *L);

// -- Sandbox (sandbox.c)
/// The registry's table of hints for absent things.
void clua_push_hints(lua_State *L);
void clua_push_globals(lua_State *L);

// -- Globals of runs (globals.c)
/// Pushes the globals of a new run.
void clua_push_run_globals(lua_State *L);
/// Gives the function on the top, compiled from `source`, the globals of the run.
void clua_bind_globals(lua_State *L, const clua_run *run, const char *source, size_t count);

// -- Modules (modules.c)
/// The registry's table of the host's modules.
void clua_push_modules(lua_State *L);
/// The first functions of every host. `require` calls them for other modules, each with a name: `find` answers true when the
/// caller is to load it, after waiting for another task that does; `open` gives the chunk and its path; `finish` ends that.
enum { CLUA_LOADER_FIND, CLUA_LOADER_OPEN, CLUA_LOADER_FINISH };

// -- Watchdog (watchdog.c)
/// Names this thread and starts the tick of its CPU clock; `runs` counts the runs that it has to serve.
void clua_watch_start(const char *name, const int32_t *runs);
void clua_watch_stop(void);
int64_t clua_ticks(void);
/// CPU time of this thread outside of every run since this was last asked, in whole ticks.
int64_t clua_take_host_ns(void);
int64_t clua_account_cpu(const clua_account *account);
void clua_account_add_cpu(clua_account *account, int64_t nanoseconds);
void clua_account_set_cpu(clua_account *account, int64_t nanoseconds);
bool clua_account_is_spent(const clua_account *account);
void clua_account_set_spent(clua_account *account, bool is_spent);
int64_t clua_monotonic_ns(void);
/// CPU time of the calling thread.
int64_t clua_thread_cpu_ns(void);
void clua_run_cancel(clua_run *run);
bool clua_run_is_cancelled(const clua_run *run);
/// Takes a cancellation back, for a run that goes on after what was cancelled.
void clua_run_forget_cancel(clua_run *run);
void clua_count_add(int32_t *count, int32_t change);
/// Gives a run its instruction budget, whole; 0 = none.
void clua_run_refuel(clua_run *run, int64_t instructions);
/// True when a budget or the deadline is used up; notes it as the reason to stop.
bool clua_run_check(clua_run *run);

#endif
