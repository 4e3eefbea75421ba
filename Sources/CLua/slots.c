// Typed functions: arguments and results as streams of slots.

#include <stdlib.h>
#include <string.h>

#include "plain.h"

enum { FIRST_SLOTS = 8, FIRST_BYTES = 1024, CACHED_BYTES = 64 * 1024, CACHED_SLOTS = 4096 };

// -- Capacity

void clua_resize_slots(clua_slot **slots, size_t *capacity, size_t wanted) {
    *capacity = wanted < FIRST_SLOTS ? FIRST_SLOTS : wanted;
    *slots = realloc(*slots, *capacity * sizeof **slots);
    if (!*slots) abort();
}

void clua_grow_slots(clua_slot **slots, size_t *capacity) { clua_resize_slots(slots, capacity, *capacity * 2); }

void clua_results_grow(clua_results *results) {
    size_t count = (size_t)(results->next - results->slots), capacity = (size_t)(results->end - results->slots) + 1;
    clua_grow_slots(&results->slots, &capacity);
    results->next = results->slots + count;
    results->end = results->slots + capacity - 1;
    results->is_large |= capacity > CACHED_SLOTS;
}

char *clua_results_bytes(clua_results *results, size_t count) {
    size_t needed = results->byte_count + count;
    if (needed > results->byte_capacity) {
        while (results->byte_capacity < needed) results->byte_capacity = results->byte_capacity ? results->byte_capacity * 2 : FIRST_BYTES;
        results->bytes = realloc(results->bytes, results->byte_capacity);
        if (!results->bytes) abort();
        results->is_large |= results->byte_capacity > CACHED_BYTES;
    }
    char *place = results->bytes + results->byte_count;
    results->byte_count = needed;
    return place;
}

// A call with a large result must not hold its memory permanently.
static __attribute__((noinline)) void shrink_results(clua_results *results) {
    size_t capacity;
    clua_resize_slots(&results->slots, &capacity, FIRST_SLOTS);
    results->end = results->slots + capacity - 1;
    free(results->bytes);
    results->bytes = NULL;
    results->byte_capacity = 0;
    results->is_large = false;
}

void clua_results_reset(clua_context *context) {
    if (context->results.is_large) shrink_results(&context->results);
    context->results.next = context->results.slots;
    context->results.byte_count = 0;
}

void clua_slots_make(clua_context *context) {
    clua_grow_slots(&context->arguments, &context->argument_capacity);
    clua_results_grow(&context->results);
}

void clua_slots_free(clua_context *context) {
    free(context->arguments);
    free(context->results.slots);
    free(context->results.bytes);
}

// -- Texts

bool clua_is_utf8(const char *text, size_t count) {
    const unsigned char *at = (const unsigned char *)text, *end = at + count;
    while (at < end) {
        uint64_t word;
        while (end - at >= 8 && (memcpy(&word, at, 8), (word & 0x8080808080808080u) == 0)) at += 8;
        if (at == end) break;
        if (end - at < 8 && count >= 8 && (memcpy(&word, end - 8, 8), (word & 0x8080808080808080u) == 0)) break;
        unsigned lead = *at++;
        if (lead < 0x80) continue;
        int more = lead >= 0xC2 && lead < 0xE0 ? 1 : lead >= 0xE0 && lead < 0xF0 ? 2 : lead >= 0xF0 && lead < 0xF5 ? 3 : 0;
        if (!more || end - at < more) return false;
        unsigned code = lead & (0x3Fu >> more);
        for (; more; more--, at++) {
            if ((*at & 0xC0) != 0x80) return false;
            code = code << 6 | (*at & 0x3F);
        }
        // Rejects surrogates, values out of range and overlong encodings.
        if ((code >= 0xD800 && code < 0xE000) || code > 0x10FFFF) return false;
        if ((lead >= 0xE0 && code < 0x800) || (lead >= 0xF0 && code < 0x10000)) return false;
    }
    return true;
}

// -- The trampoline

static int refuse(lua_State *L, const clua_signature *signature, int top) {
    clua_release_collector(L);
    lua_settop(L, top);
    if (signature->fallback >= 0) return clua_run_in_host(L, signature->fallback);
    return clua_raise_argument_error(L, signature, top);
}

// Calls the host and returns its answer.
static inline __attribute__((always_inline)) int32_t call_host(lua_State *L, clua_context *context, const clua_signature *signature) {
    clua_invocation call = {context, L, context->arguments};
    if (context->results.is_large) shrink_results(&context->results);
    context->results.next = context->results.slots;
    context->results.byte_count = 0;
    clua_enter_host(context);
    int32_t answer = signature->body(signature->box, &call);
    clua_leave_host(context);
    clua_end_results(context);
    return answer;  // Swift has returned: raising is safe from here on
}

static int finish_host(lua_State *L, const clua_signature *signature, int32_t answer, int top) {
    return answer == CLUA_TYPE_MISMATCH ? refuse(L, signature, top) : clua_finish_call(L, answer);
}

static inline __attribute__((always_inline)) int run_in_host(lua_State *L, const clua_signature *signature, int top) {
    clua_context *context = clua_get(L);
    int32_t answer = call_host(L, context, signature);
    if (answer != CLUA_SLOTS) return finish_host(L, signature, answer, top);
    const clua_shape *shape = signature->results;
    const clua_slot *slot = context->results.slots;
    if (signature->result_count != 1) return clua_push_results(L, context, signature);
    if (shape->kind < CLUA_RECORD)
        push_simple(L, context, slot);
    else if (shape->is_plain && shape->has_room && slot->kind == CLUA_RECORD)
        push_plain_record(L, context, shape, slot + 1);
    else
        return clua_push_results(L, context, signature);
    return 1;
}

// With the standard library, scripts have finalizers, which may call host functions. None may run between the arguments and the results of
// a call, because calls share the same buffers. An error in between leaves the collector stopped until the next call ends. If memory is
// short, Lua collects nonetheless.
void clua_hold_collector(lua_State *L) {
    clua_context *context = clua_get(L);
    if (context->holds_collector || !lua_gc(L, LUA_GCISRUNNING)) return;
    context->holds_collector = true;
    lua_gc(L, LUA_GCSTOP);
}

void clua_release_collector(lua_State *L) {
    clua_context *context = clua_get(L);
    if (!context->holds_collector) return;
    context->holds_collector = false;
    lua_gc(L, LUA_GCRESTART);
}

// Calls with missing arguments, or arguments that the fast path does not support.
static __attribute__((noinline)) int call_unusual(lua_State *L, const clua_signature *signature, int top) {
    lua_settop(L, top);
    bool is_read = false;
    if (signature->is_plain && top < signature->argument_count) {
        // Values that stay on the stack must not be read as missing arguments.
        lua_settop(L, signature->argument_count);
        is_read = read_plain_arguments(L, signature);
        if (!is_read) lua_settop(L, top);
    }
    if (!is_read && !clua_read_arguments(L, clua_get(L), signature, top)) return refuse(L, signature, top);
    return run_in_host(L, signature, top);
}

static int call_typed(lua_State *L) {  // upvalues: the signature, the names of its members
    const clua_signature *signature = lua_touserdata(L, lua_upvalueindex(1));
    if (signature->waits && (clua_get(L)->no_yield || !lua_isyieldable(L))) return clua_cannot_wait(L, signature->name);
    int top = lua_gettop(L);
    if (clua_get(L)->is_standard) {
        clua_hold_collector(L);
        int count = call_unusual(L, signature, top);
        clua_release_collector(L);
        return count;
    }
    if (top != signature->argument_count || !signature->is_plain || !read_plain_arguments(L, signature))
        return call_unusual(L, signature, top);
    return run_in_host(L, signature, signature->argument_count);
}

// The fast path for functions without tables in arguments and results.
static int call_flat(lua_State *L) {
    const clua_signature *signature = lua_touserdata(L, lua_upvalueindex(1));
    if (signature->waits || clua_get(L)->is_standard || lua_gettop(L) != signature->argument_count) return call_typed(L);
    clua_slot *slot = clua_get(L)->arguments;
    const clua_shape *shape = signature->arguments;
    for (int i = 1; i <= signature->argument_count; i++, shape++, slot++) {
        if (!read_plain(L, shape, lua_type(L, i), i, slot)) return call_typed(L);
    }
    slot->kind = CLUA_END;
    clua_context *context = clua_get(L);
    int32_t answer = call_host(L, context, signature);
    if (answer != CLUA_SLOTS) return finish_host(L, signature, answer, signature->argument_count);
    push_simple(L, context, context->results.slots);
    return 1;
}

void clua_push_typed(lua_State *L, const clua_signature *signature) {
    clua_context *context = clua_get(L);
    size_t slots = (size_t)signature->argument_slots + 1;  // one more for CLUA_END
    if (context->argument_least < slots) context->argument_least = slots;
    while (context->argument_capacity < context->argument_least)
        clua_grow_slots(&context->arguments, &context->argument_capacity);
    lua_checkstack(L, signature->key_count + 2);
    lua_pushlightuserdata(L, (void *)signature);
    for (int32_t i = 0; i < signature->key_count; i++) lua_pushstring(L, signature->keys[i]);
    lua_pushcclosure(L, signature->is_flat ? call_flat : call_typed, signature->key_count + 1);
}
