#ifndef CLUA_H
#define CLUA_H

// The part of Lua that Swift uses: the stock API, functions for macros that Swift cannot import, and the entries below.
//
// Two rules keep Swift frames and Lua's longjmp apart:
// - Swift runs only between two C lines of a trampoline. Meanwhile `no_fail` is above zero and the allocator ignores the memory limit, so
//   that nothing that Swift may call (raw access only, no metamethods) can raise an error.
// - Swift enters code that can raise only through the protected `clua_` entries. They set `no_fail` to zero while they execute and then
//   restore it.

#include <lua5.4/lauxlib.h>
#include <lua5.4/lua.h>
#include <lua5.4/lualib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "slots.h"

/// What a dispatched Swift function returns instead of a number of results.
enum {
    CLUA_ERROR = -1,    ///< the topmost value is a table of error fields: complete and raise it
    CLUA_PENDING = -2,  ///< the result comes later: suspend the task
    CLUA_RERAISE = -3,  ///< the topmost value is an error value to raise unchanged
    CLUA_SLOTS = -4,    ///< typed functions only: the results are in the context
    CLUA_TYPE_MISMATCH = -5,   ///< typed functions only: an argument does not fit
};

/// Why a run was stopped permanently. Stored in the run, never inferred from an error value.
enum { CLUA_STOP_NONE = 0, CLUA_STOP_CPU, CLUA_STOP_WALL, CLUA_STOP_CANCEL, CLUA_STOP_FUEL, CLUA_STOP_ACCOUNT };

/// The meaning of the values that resume a waiting task.
enum { CLUA_RESUME_VALUES = 0, CLUA_RESUME_ERROR, CLUA_RESUME_RERAISE, CLUA_RESUME_SLOTS };

/// A line of a script.
typedef struct clua_place {
    char *chunk;  ///< a copy; NULL: there was no script
    int line;
} clua_place;
void clua_place_set(clua_place *place, const char *chunk, int line);
void clua_place_clear(clua_place *place);

/// The resources used of a budget, by Lua and the host together. Several runs may share one: a run and the runs that it starts. Any thread
/// may read and write it with the functions below.
typedef struct clua_account {
    int64_t cpu_used_ns;
    int64_t cpu_limit_ns;
    int32_t is_spent;         ///< a budget other than CPU and real time is used up
} clua_account;

/// The budgets of one run. Only the thread that executes the run may use it, except for the cancel flag.
typedef struct clua_run {
    clua_account *account;    ///< never NULL; outlives the run
    int64_t grace_limit_ns;   ///< CPU time until which a cancelled run may clean up; 0 before the cancellation
    int64_t grace_deadline_ns; ///< the same as monotonic time; 0 before the cancellation
    int64_t deadline_ns;      ///< monotonic time; 0 = none
    int64_t fuel_limit;       ///< the instruction budget; 0 = none
    int64_t fuel;             ///< the remaining budget, not counting `credit`
    int64_t credit;           ///< work in C that is allowed before it is settled, see `clua_charge`
    int32_t cancel_requested; ///< used by any thread, with the functions below
    int32_t stop;
    int32_t is_bystander;     ///< the current cancellation does not apply to the task being resumed
    int annotations;          ///< registry reference of a table whose fields are added to every error; or LUA_NOREF
    int environment;          ///< registry reference of the globals of this run; or LUA_NOREF
    clua_place stopped_at;    ///< the script line where the run was stopped
    int loaded;               ///< registry reference of the loaded modules, by name; or LUA_NOREF
    int origins;              ///< registry reference of a table: error value -> where it was raised; LUA_NOREF: none yet
    int texts;                ///< registry reference of a table: error value -> its `__tostring` result; LUA_NOREF: none yet
} clua_run;

/// Returned instead of a Lua status: a step that did not end was abandoned, see rescue.c. The state can only be closed.
enum { CLUA_ABANDONED = 64 };

/// A free block that is cached for reuse.
typedef struct clua_free_block {
    struct clua_free_block *next;
} clua_free_block;
enum { CLUA_FREE_SIZES = 33 };

/// The machine's data for one Lua state. Every coroutine of the state points to it.
typedef struct clua_context {
    void *host;
    int32_t (*dispatch)(void *host, lua_State *L, int64_t function);
    void (*release)(void *object);
    /// Pushes one result of a typed function that has no schema and returns 1, or pushes an error and returns CLUA_ERROR.
    int32_t (*push_value)(void *host, lua_State *L, uint32_t number);
    clua_slot *arguments;    ///< of the typed function being called
    size_t argument_capacity;
    size_t argument_least;   ///< the minimum capacity that the state's functions need
    clua_results results;
    int64_t frames_entered, frames_left;  ///< host frames below Lua; they differ if Lua ever jumped over one

    size_t used, limit, peak;
    size_t state_size;       ///< size of the block that contains the state itself
    int32_t no_fail;         ///< above zero: the allocator must not refuse
    bool refused;            ///< the allocator refused; cleared when this is reported
    clua_place refused_at;   ///< the script line of the refusal
    lua_State *refused_state; ///< the coroutine of the refusal; for comparison only
    int64_t fail_after;      ///< fault injection: the allocation that decrements it to zero fails, and so does its retry
    int32_t fail_onward;     ///< fault injection: all later allocations fail too
    int32_t protects_host;   ///< 1; fault injection sets 0, to show what `no_fail` prevents

    clua_run *run;           ///< the run being resumed
    int32_t host_yield;      ///< the latest yield is meant for the driver, not for a script's resume
    int32_t preempted;       ///< the latest yield is a preemption: the task can continue
    int32_t no_yield;        ///< a coroutine is being resumed from a frame through which no suspension can pass
    int32_t resume_kind;     ///< CLUA_RESUME_...

    bool holds_collector;    ///< during a call of a typed function
    bool is_standard;        ///< the state has the whole standard library
    int64_t seed;
    int64_t last_number;     ///< the number of the latest value shown without an address
    int64_t last_object;     ///< the number of the latest host object

    struct clua_large *large; ///< the large blocks, see rescue.c
    bool is_abandoned;
    struct clua_large **abandoned; ///< the large blocks at the time of abandonment, by address
    size_t abandoned_count;
    struct clua_free_block *kept[CLUA_FREE_SIZES]; ///< cached free blocks, by size in units
    ptrdiff_t free_capacity;     ///< how many more units may be cached
    char *slab_next;         ///< the first free byte of the slab
    char slab[];             ///< the shared storage for the blocks of a new state; freed only with the context
} clua_context;

/// The results of a typed function, which the host writes.
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
/// Creates a state, sandboxed unless the context says otherwise; NULL if the limit does not even suffice for the libraries. Leaves
/// `no_fail` at 1, because Swift is running.
lua_State *clua_state_new(clua_context *context);
void clua_state_close(lua_State *L);
void clua_collect(lua_State *L);

// -- Protected entries (runtime.c)
/// Compiles a chunk and pushes it, or the error. `name` is in Lua's notation ("@file" or "=[prelude]"). Returns a Lua status, or
/// CLUA_ABANDONED if compiling did not end, which is not checked for trusted text. The work is charged to `run`, which may be NULL. If that
/// stops the compilation, the run has a reason to stop.
int clua_load(lua_State *L, clua_run *run, const char *source, size_t count, const char *name, bool is_trusted);
/// Calls on the state's main thread, for trusted code. Returns a Lua status.
int clua_call(lua_State *L, int arguments, int results);
/// Prepares `task` for its first resume: inserts the protecting frame below the function and its arguments, so that errors unwind (and
/// close variables) inside the task.
void clua_task_prepare(lua_State *task, int arguments);
int clua_resume(lua_State *task, clua_run *run, int arguments, int *results);
/// Ends a suspended or failed task. Pending `__close` handlers execute, at most one instruction each if stopped. Returns LUA_OK or
/// CLUA_ABANDONED.
int clua_task_close(lua_State *task, clua_run *run);

// -- Functions and objects
/// Pushes a Lua function that dispatches to Swift. `waits`: raises an error if the task cannot suspend.
void clua_push_function(lua_State *L, int64_t function, const char *name, bool waits);
/// Each pushes one of the C functions that preludes receive.
void clua_push_traced(lua_State *L);
void clua_push_is_error(lua_State *L);
void clua_push_raise(lua_State *L);
void clua_push_list(lua_State *L);
void clua_push_is_list(lua_State *L);
/// Pushes the metatable for objects of a type. `methods` is the stack index of its methods.
void clua_push_object_type(lua_State *L, const char *name, int methods, int64_t property, int64_t describe);
/// Pushes the userdata of `object`, replacing the metatable on the top of the stack. False: there was none yet, and the new userdata, with
/// this metatable, has taken over a reference.
bool clua_push_object(lua_State *L, void *object);
/// The object in a userdata made here, or NULL.
void *clua_to_object(lua_State *L, int index);
/// The creation number of a host object, from 1; 0 for other values.
int64_t clua_object_serial(lua_State *L, int index);

// -- Errors (errors.c)
bool clua_is_error(lua_State *L, int index);
/// Finds the nearest script frame; false if there is none. The name lives as long as the function.
bool clua_nearest_frame(lua_State *L, int level, const char **chunk, int *line);
/// Finds where a function is defined in a script; false for host functions. The name lives as long as the function. Needs one free stack
/// slot.
bool clua_definition(lua_State *L, int index, const char **chunk, int *line);
/// Pushes the `__tostring` result of an error value that ended a task, or nil.
void clua_push_recorded_text(lua_State *L, clua_run *run, int index);
/// Pushes the recorded frames of an error value ("file:line" per line), or nil.
void clua_push_origin(lua_State *L, clua_run *run, int index);

// -- Lists (lists.c)
/// Whether the table is marked as a list, even if it is empty. Needs two free stack slots.
bool clua_is_list(lua_State *L, int index);
/// Marks the table on the top. Needs one free stack slot.
void clua_mark_list(lua_State *L);

// -- Sandbox (sandbox.c)
/// Pushes the registry's table of hints for absent names.
void clua_push_hints(lua_State *L);
void clua_push_globals(lua_State *L);

// -- Globals of runs (globals.c)
/// Pushes the globals of a new run.
void clua_push_run_globals(lua_State *L);
/// Sets the globals of the run for the function on the top, compiled from `source`.
void clua_bind_globals(lua_State *L, const clua_run *run, const char *source, size_t count);

// -- Modules (modules.c)
/// Pushes the registry's table of host modules.
void clua_push_modules(lua_State *L);
/// The first functions of every host. `require` calls them for modules from the search path, each with a name. `find` returns true if the
/// caller has to load the module, after waiting for another task that loads it. `open` returns the chunk and its path. `finish` ends the
/// load.
enum { CLUA_LOADER_FIND, CLUA_LOADER_OPEN, CLUA_LOADER_FINISH };

// -- Watchdog (watchdog.c)
/// Names this thread and starts its CPU clock's tick. `runs` is the number of runs that it serves.
void clua_watch_start(const char *name, const int32_t *runs);
void clua_watch_stop(void);
int64_t clua_ticks(void);
/// CPU time of this thread outside of runs since the previous call, in whole ticks.
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
/// Clears a cancellation, for a run that continues after what was cancelled.
void clua_run_forget_cancel(clua_run *run);
void clua_count_add(int32_t *count, int32_t change);
/// Restores a run's whole instruction budget; 0 = none.
void clua_run_refuel(clua_run *run, int64_t instructions);
/// Returns true if a budget or the deadline is used up, and records it as the reason to stop.
bool clua_run_check(clua_run *run);

#endif
