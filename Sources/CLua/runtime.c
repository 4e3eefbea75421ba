// The state, its limited allocator, and the protected entries from Swift into Lua.

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define LIKELY(condition) __builtin_expect(!!(condition), 1)

enum { LARGE_TEXT = 256 };

// -- Allocator

static bool refuses(clua_context *context, size_t grown) {
    if (context->no_fail > 0) return false;
    if (context->used + grown > context->limit) return true;
    // Lua collects garbage and retries after a failure, so an effective fault must occur twice.
    if (context->fail_after < 0) {
        if (!context->fail_onward) context->fail_after = 0;
        return true;
    }
    if (context->fail_after > 0 && --context->fail_after == 0) {
        context->fail_after = -1;
        return true;
    }
    return false;
}

// A new state allocates hundreds of small, permanent blocks for its libraries. They share a slab that is allocated with the context, which
// makes opening, closing and holding a state cheaper.
//
// A freed small block is cached in a free list for its size. Most blocks that scripts allocate are small and soon garbage, and a free list
// costs half of malloc. Blocks from malloc are cached only up to a limit: each list serves one size, so a script that uses one size after
// the other would hold many times its budget.
#if __has_feature(address_sanitizer)
enum { SLAB = 0, CACHED_BYTES = 0 };  // the sanitizer must see the end of every block
#else
enum { SLAB = 13 * 1024, CACHED_BYTES = 16 * 1024 };
#endif
enum { UNIT = 8, LARGEST_CACHED = (CLUA_FREE_SIZES - 1) * UNIT };

static inline size_t in_units(size_t size) { return (size + UNIT - 1) / UNIT; }

static inline bool is_in_slab(const clua_context *context, const void *block) {
    return (uintptr_t)block - (uintptr_t)context->slab < SLAB;
}

static __attribute__((noinline)) void *new_block(clua_context *context, size_t size) {
    size_t rounded = in_units(size) * UNIT;
    if (size > LARGEST_CACHED) return size >= CLUA_LARGE ? clua_allocate_large(context, size) : malloc(size);
    if (rounded > (size_t)(context->slab + SLAB - context->slab_next)) return malloc(rounded);
    void *block = context->slab_next;
    context->slab_next += rounded;
    return block;
}

static inline void *allocate_block(clua_context *context, size_t size) {
    size_t units = in_units(size);
    if (size <= LARGEST_CACHED && context->kept[units]) {
        clua_free_block *block = context->kept[units];
        context->kept[units] = block->next;
        context->free_capacity += (ptrdiff_t)units;
        return block;
    }
    return new_block(context, size);
}

static inline void release_block(clua_context *context, void *block, size_t size) {
    size_t units = in_units(size);
    if (size > LARGEST_CACHED) return size >= CLUA_LARGE ? clua_release_large(block) : free(block);
    if (context->free_capacity < (ptrdiff_t)units && !is_in_slab(context, block)) return free(block);
    ((clua_free_block *)block)->next = context->kept[units];
    context->kept[units] = block;
    context->free_capacity -= (ptrdiff_t)units;
}

static void *resize_block(clua_context *context, void *block, size_t old_size, size_t new_size) {
    if (old_size >= CLUA_LARGE && new_size >= CLUA_LARGE) return clua_resize_large(context, block, new_size);
    bool has_header = old_size >= CLUA_LARGE || new_size >= CLUA_LARGE;
    if (old_size > LARGEST_CACHED && new_size > LARGEST_CACHED && !has_header) return realloc(block, new_size);
    if (in_units(old_size) == in_units(new_size) && !has_header) return block;
    void *fresh = allocate_block(context, new_size);
    if (!fresh) return NULL;
    memcpy(fresh, block, old_size < new_size ? old_size : new_size);
    release_block(context, block, old_size);
    return fresh;
}

static __attribute__((noinline)) void free_counted(clua_context *context, void *block, size_t size) {
    context->used -= size;
    release_block(context, block, size);
}

static inline bool may_grow(clua_context *context, size_t grown) {
    if (LIKELY(context->used + grown <= context->limit && !context->fail_after)) return true;
    if (!refuses(context, grown)) return true;
    clua_record_refusal(context);
    return false;
}

static __attribute__((noinline)) void *no_memory(const clua_context *context) {
    if (context->no_fail > 0) {
        fputs("clua: out of memory while host code runs\n", stderr);
        abort();
    }
    return NULL;
}

// Strings cost time in proportion to their bytes. Other blocks are not charged, because table growth depends on hashes.
static __attribute__((noinline)) void charge_text(clua_context *context, size_t size) {
    if (context->run) context->run->credit -= size / 64;
}

static __attribute__((noinline)) void *make_block(clua_context *context, size_t kind, size_t size) {
    if (!may_grow(context, size)) return NULL;
    if (context->used == 0) context->state_size = size;  // the first block is the state itself
    if (size >= LARGE_TEXT && kind == LUA_TSTRING) charge_text(context, size);
    size_t used = context->used += size;
    if (used > context->peak) context->peak = used;
    void *block = allocate_block(context, size);
    if (LIKELY(block)) return block;
    context->used -= size;
    return no_memory(context);
}

static __attribute__((noinline)) void *resize_counted(clua_context *context, void *block, size_t old_size, size_t new_size) {
    if (new_size > old_size && !may_grow(context, new_size - old_size)) return NULL;
    void *fresh = resize_block(context, block, old_size, new_size);
    if (!fresh && new_size > old_size) return no_memory(context);
    if (!fresh && new_size < CLUA_LARGE && old_size >= CLUA_LARGE) {  // otherwise it would later be freed as a large block
        fputs("clua: out of memory while a block shrinks\n", stderr);
        abort();
    }
    if (!fresh) return block;  // Lua relies on shrinking to succeed
    context->used = context->used - old_size + new_size;
    if (context->used > context->peak) context->peak = context->used;
    return fresh;
}

// Used while an abandoned state is closed. An interrupted change may report a wrong size for its block.
static __attribute__((noinline)) void *allocate_abandoned(clua_context *context, void *block, size_t old_size, size_t new_size) {
    void *fresh = new_size ? malloc(new_size) : NULL;
    if (fresh && block) memcpy(fresh, block, old_size < new_size ? old_size : new_size);
    if ((fresh || new_size == 0) && block && !is_in_slab(context, block)) clua_free_abandoned(context, block);
    return fresh;
}

static void *allocate(void *user, void *block, size_t old_size, size_t new_size) {
    if (!LIKELY(!((clua_context *)user)->is_abandoned)) return allocate_abandoned(user, block, old_size, new_size);
    if (new_size == 0) {
        if (block) free_counted(user, block, old_size);
        return NULL;
    }
    // For a new block, Lua passes the object's type as the old size.
    return block ? resize_counted(user, block, old_size, new_size) : make_block(user, old_size, new_size);
}

// -- States

clua_context *clua_context_new(size_t limit, int64_t seed) {
    clua_context *context = malloc(sizeof *context + SLAB);
    if (!context) abort();
    *context = (clua_context){.slab_next = context->slab, .free_capacity = CACHED_BYTES / UNIT};
    context->limit = limit;
    context->protects_host = 1;
    context->seed = seed;
    clua_slots_make(context);
    return context;
}

// In glibc each thread has its own heap, which keeps freed memory. Trimming it takes about a millisecond, so it is done only for states
// whose peak exceeded this size.
enum { TRIM_BYTES = 8 << 20 };

void clua_context_free(clua_context *context) {
    bool was_large = context->peak > TRIM_BYTES;
    for (size_t units = 0; units < CLUA_FREE_SIZES; units++) {
        for (clua_free_block *block = context->kept[units], *next; block; block = next) {
            next = block->next;
            if (!is_in_slab(context, block)) free(block);
        }
    }
    clua_free_large(context);
    clua_place_clear(&context->refused_at);
    clua_slots_free(context);
    free(context);
    if (was_large) malloc_trim(0);
}

enum { GLOBALS = 48, LIBRARIES = 8, REFERENCES = 4, KEYS = 16 };  // defined by the libraries and a host

// Creates the tables of a new state with reserved capacity. Growing them step by step takes longer than filling them.
static void make_tables(lua_State *L) {
    lua_createtable(L, LUA_RIDX_LAST + REFERENCES, KEYS);
    lua_pushthread(L);
    lua_rawseti(L, -2, LUA_RIDX_MAINTHREAD);
    lua_createtable(L, 0, GLOBALS);
    lua_rawseti(L, -2, LUA_RIDX_GLOBALS);
    lua_createtable(L, 0, LIBRARIES);
    lua_setfield(L, -2, LUA_LOADED_TABLE);
    lua_replace(L, LUA_REGISTRYINDEX);
}

static int open_state(lua_State *L) {
    lua_gc(L, LUA_GCSTOP);  // nearly everything allocated here is permanent
    make_tables(L);
    // Lua creates these two strings on demand without protection, so they must already exist.
    lua_pushliteral(L, "error in error handling");
    luaL_ref(L, LUA_REGISTRYINDEX);
    lua_pushliteral(L, "not enough memory");
    luaL_ref(L, LUA_REGISTRYINDEX);
    if (!clua_get(L)->is_standard) clua_open_weakness(L);
    lua_newtable(L);  // object -> its userdata, so that an object keeps its identity in Lua
    clua_make_weak(L, "v");
    lua_rawsetp(L, LUA_REGISTRYINDEX, &clua_key_objects);
    clua_open_errors(L);
    clua_open_lists(L);
    if (clua_get(L)->is_standard) {
        clua_open_standard(L);
        clua_open_standard_coroutines(L);
    } else {
        clua_open_sandbox(L);
        clua_open_globals(L);
        clua_open_ordering(L);
        clua_open_coroutines(L);
        clua_open_strings(L);
        clua_open_patterns(L);
        clua_open_formats(L);
        clua_open_tables(L);
        clua_open_unicode(L);
        clua_lock_strings(L);
    }
    lua_gc(L, LUA_GCRESTART);
    return 0;
}

static int panic(lua_State *L) {
    const char *message = lua_tostring(L, -1);
    fprintf(stderr, "clua: unprotected error: %s\n", message ? message : "(not a string)");
    return 0;
}

lua_State *clua_state_new(clua_context *context) {
    context->no_fail = 0;
    lua_State *L = lua_newstate(allocate, context);
    if (!L) return NULL;
    *(uintptr_t *)lua_getextraspace(L) = (uintptr_t)context;
    lua_atpanic(L, panic);
    lua_pushcfunction(L, open_state);  // a light C function allocates nothing
    if (lua_pcall(L, 0, 0, 0) != LUA_OK) {
        lua_close(L);
        return NULL;
    }
    context->no_fail = 1;
    return L;
}

void clua_state_close(lua_State *L) {
    clua_context *context = clua_get(L);
    context->run = NULL;
    lua_close(L);
    if (context->is_abandoned) context->used = 0;
}

void clua_collect(lua_State *L) { lua_gc(L, LUA_GCCOLLECT); }

// -- Protected entries

static int32_t leave_host(clua_context *context) {
    int32_t saved = context->no_fail;
    context->no_fail = 0;
    return saved;
}

typedef struct chunk {
    const char *source;
    size_t count;
    const char *name;
} chunk;

static int load_chunk(lua_State *L) {
    const chunk *given = lua_touserdata(L, 1);
    clua_text_reader reader = {.next = given->source, .count = given->count};
    // "t": bytecode is rejected, because it could corrupt the interpreter.
    if (lua_load(L, clua_read_text, &reader, given->name, "t") != LUA_OK) return lua_error(L);
    return 1;
}

int clua_load(lua_State *L, clua_run *run, const char *source, size_t count, const char *name, bool is_trusted) {
    clua_context *context = clua_get(L);
    chunk given = {source, count, name};
    lua_pushcfunction(L, load_chunk);
    lua_pushlightuserdata(L, &given);
    int32_t saved = leave_host(context);
    clua_run *outer = context->run;
    context->run = run;
    clua_watch_scope scope = clua_watch_enter(NULL, run);  // its time is charged; there is no frame for a hook
    int status;
    // Among host calls that may be on the stack, only `require` handles abandoned states.
    bool is_in_host = context->frames_entered != context->frames_left;
    if (is_trusted || (is_in_host && !(run && clua_exit_is_next(context)))) {
        status = lua_pcall(L, 1, 1, 0);
    } else {
        clua_exit way_out;
        if (sigsetjmp(*clua_exit_open(&way_out, context), 0) == 0)
            status = lua_pcall(L, 1, 1, 0);
        else
            status = clua_exit_taken(&way_out);
        clua_exit_close(&way_out);
    }
    clua_watch_leave(scope);
    context->run = outer;
    context->no_fail = saved;
    return status;
}

int clua_call(lua_State *L, int arguments, int results) {
    clua_context *context = clua_get(L);
    int handler = lua_gettop(L) - arguments;
    lua_pushcfunction(L, clua_record_origin);
    lua_insert(L, handler);
    int32_t saved = leave_host(context);
    clua_watch_scope scope = clua_watch_enter(L, NULL);
    int status = lua_pcall(L, arguments, results, handler);
    clua_watch_leave(scope);
    context->no_fail = saved;
    lua_remove(L, handler);
    return status;
}

void clua_task_prepare(lua_State *task, int arguments) {
    clua_set_mark(task, CLUA_MARK_TASK);
    lua_pushcfunction(task, clua_protected_body);
    lua_insert(task, -(arguments + 2));
}

int clua_resume(lua_State *task, clua_run *run, int arguments, int *results) {
    clua_context *context = clua_get(task);
    int32_t saved = leave_host(context);
    clua_run *outer = context->run;
    context->run = run;
    context->host_yield = 0;
    context->preempted = 0;
    context->no_yield = 0;
    clua_watch_scope scope = clua_watch_enter(task, run);
    clua_exit way_out;
    int status;
    if (sigsetjmp(*clua_exit_open(&way_out, context), 0) == 0)
        status = lua_resume(task, NULL, arguments, results);
    else
        status = clua_exit_taken(&way_out);
    clua_exit_close(&way_out);
    clua_watch_leave(scope);
    context->run = outer;
    context->no_fail = saved;
    return status;
}

int clua_task_close(lua_State *task, clua_run *run) {
    clua_context *context = clua_get(task);
    int32_t saved = leave_host(context);
    clua_run *outer = context->run;
    context->run = run;
    clua_watch_scope scope = clua_watch_enter(task, run);
    if (run->stop) clua_hook_now(task);
    clua_exit way_out;
    int status = LUA_OK;
    if (sigsetjmp(*clua_exit_open(&way_out, context), 0) == 0)
        lua_resetthread(task);
    else
        status = clua_exit_taken(&way_out);
    clua_exit_close(&way_out);
    clua_watch_leave(scope);
    context->run = outer;
    context->no_fail = saved;
    if (status != LUA_OK) return status;
    lua_sethook(task, NULL, 0, 0);
    lua_settop(task, 0);
    return LUA_OK;
}
