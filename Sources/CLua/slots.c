// Typed functions: arguments and results as streams of slots.

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

enum { MAX_SLOTS = 250 * 1000, FIRST_SLOTS = 32 };

// -- Room

static clua_slot *more_slots(clua_slot *slots, size_t *capacity) {
    *capacity = *capacity ? *capacity * 2 : FIRST_SLOTS;
    slots = realloc(slots, *capacity * sizeof *slots);
    if (!slots) abort();
    return slots;
}

void clua_results_grow(clua_results *results) { results->slots = more_slots(results->slots, &results->capacity); }

char *clua_results_bytes(clua_results *results, size_t count) {
    size_t needed = results->byte_count + count;
    if (needed > results->byte_capacity) {
        while (results->byte_capacity < needed) results->byte_capacity = results->byte_capacity ? results->byte_capacity * 2 : 1024;
        results->bytes = realloc(results->bytes, results->byte_capacity);
        if (!results->bytes) abort();
    }
    char *place = results->bytes + results->byte_count;
    results->byte_count = needed;
    return place;
}

void clua_slots_make(clua_context *context) {
    context->arguments = more_slots(NULL, &context->argument_capacity);
    clua_results_grow(&context->results);
}

void clua_slots_free(clua_context *context) {
    free(context->arguments);
    free(context->results.slots);
    free(context->results.bytes);
}

// -- Arguments

typedef struct reader {
    lua_State *L;
    clua_context *context;
    const char *const *keys;
    size_t count;            // slots so far
    bool checks_text;        // texts that are not UTF-8 do not fit
    // What did not fit: the place in words is built on the way out.
    const clua_shape *misfit;
    char path[160];
    int found;               // the type that was found instead
    const char *unknown;     // a key that the record does not have, if it is text
} reader;

static clua_slot *next_slot(reader *r) {
    clua_context *context = r->context;
    if (r->count == context->argument_capacity) context->arguments = more_slots(context->arguments, &context->argument_capacity);
    return &context->arguments[r->count++];
}

static bool is_utf8(const char *text, size_t count) {
    const unsigned char *at = (const unsigned char *)text, *end = at + count;
    while (at < end) {
        unsigned lead = *at++;
        if (lead < 0x80) continue;
        int more = lead >= 0xC2 && lead < 0xE0 ? 1 : lead >= 0xE0 && lead < 0xF0 ? 2 : lead >= 0xF0 && lead < 0xF5 ? 3 : 0;
        if (!more || end - at < more) return false;
        unsigned code = lead & (0x3Fu >> more);
        for (; more; more--, at++) {
            if ((*at & 0xC0) != 0x80) return false;
            code = code << 6 | (*at & 0x3F);
        }
        if (code < 0x80 || (code >= 0xD800 && code < 0xE000) || code > 0x10FFFF) return false;
        if ((lead >= 0xE0 && code < 0x800) || (lead >= 0xF0 && code < 0x10000)) return false;
    }
    return true;
}

static inline bool read_text(lua_State *L, int index, clua_slot *slot) {
    size_t count;
    slot->text = lua_tolstring(L, index, &count);
    slot->count = (uint32_t)count;
    slot->kind = CLUA_TEXT;
    return count <= UINT32_MAX;
}

static inline bool read_integer(lua_State *L, int index, clua_slot *slot) {
    int fits;
    slot->integer = lua_tointegerx(L, index, &fits);
    slot->kind = CLUA_INTEGER;
    return fits;
}

// The values of one slot. False: the value does not fit.
static inline bool read_simple(lua_State *L, int kind, int type, int index, clua_slot *slot) {
    switch (kind) {
        case CLUA_INTEGER: return type == LUA_TNUMBER && read_integer(L, index, slot);
        case CLUA_TEXT: case CLUA_BYTES: return type == LUA_TSTRING && read_text(L, index, slot);
        case CLUA_BOOLEAN:
            slot->integer = lua_toboolean(L, index);
            slot->kind = CLUA_BOOLEAN;
            return type == LUA_TBOOLEAN;
        case CLUA_NUMBER:
            slot->number = lua_tonumberx(L, index, NULL);
            slot->kind = CLUA_NUMBER;
            return type == LUA_TNUMBER;
        case CLUA_OBJECT:
            slot->object = clua_to_object(L, index);
            slot->kind = CLUA_OBJECT;
            return slot->object != NULL;
        case CLUA_SCALAR:
            switch (type) {
                case LUA_TBOOLEAN: return read_simple(L, CLUA_BOOLEAN, type, index, slot);
                case LUA_TSTRING: return read_text(L, index, slot);
                case LUA_TNUMBER: return read_simple(L, lua_isinteger(L, index) ? CLUA_INTEGER : CLUA_NUMBER, type, index, slot);
                case LUA_TUSERDATA: return read_simple(L, CLUA_OBJECT, type, index, slot);
                default: return false;
            }
        default:
            // A function or any value: it stays where it is.
            slot->count = (uint32_t)lua_absindex(L, index);
            slot->kind = (uint32_t)kind;
            return kind == CLUA_VALUE || type == LUA_TFUNCTION;
    }
}

static bool misfits(reader *r, const clua_shape *shape, int type) {
    r->misfit = shape;
    r->found = type;
    return false;
}

// Puts a step before the path, on the way out.
static bool misfits_at(reader *r, const char *format, ...) {
    char rest[sizeof r->path], step[64];
    memcpy(rest, r->path, sizeof rest);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(step, sizeof step, format, arguments);
    va_end(arguments);
    snprintf(r->path, sizeof r->path, "%s%s", step, rest);
    return false;
}

static bool read_shape(reader *r, const clua_shape *shape, int index);

// The members of a record that is no table: one of them stands alone, or there is none.
static bool read_without_table(reader *r, const clua_shape *shape, int index, int type) {
    if (type > LUA_TNIL && !shape->alone) return misfits(r, shape, type);
    const clua_shape *member = shape + 1;
    for (int i = 1; i <= shape->members; i++, member += member->size) {
        if (type > LUA_TNIL && i == shape->alone) {
            if (!read_shape(r, member, index)) return false;
        } else {
            if (!member->is_optional) return misfits(r, shape, type);
            next_slot(r)->kind = CLUA_NIL;
        }
    }
    return true;
}

// The first text among the keys of the table that the record does not have.
static const char *unknown_key(lua_State *L, const clua_shape *shape, int table) {
    lua_pushnil(L);
    while (lua_next(L, table)) {
        lua_settop(L, -2);
        bool is_known = false;
        const clua_shape *member = shape + 1;
        for (int i = 0; i < shape->members && !is_known; i++, member += member->size)
            is_known = lua_rawequal(L, -1, lua_upvalueindex(member->key));
        if (!is_known) return lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    }
    return NULL;
}

static bool read_record(reader *r, const clua_shape *shape, int index) {
    lua_State *L = r->L;
    int type = lua_type(L, index);
    clua_slot *slot = next_slot(r);
    slot->kind = type <= LUA_TNIL && shape->is_optional ? CLUA_NIL : CLUA_RECORD;
    if (slot->kind == CLUA_NIL) return true;
    if (type != LUA_TTABLE) return read_without_table(r, shape, index, type);
    if (!lua_checkstack(L, shape->members + 6)) return misfits(r, shape, type);
    const clua_shape *member = shape + 1;
    int found = 0;
    for (int i = 0; i < shape->members; i++, member += member->size) {
        lua_pushvalue(L, lua_upvalueindex(member->key));
        int has = lua_rawget(L, index);
        found += has != LUA_TNIL;
        if (!read_shape(r, member, -1)) return misfits_at(r, ".%s", r->keys[member->key - 2]);
        // The table keeps the value alive, and nothing of the script runs meanwhile. Any other value is wanted in its place.
        if (member->kind < CLUA_FUNCTION) lua_settop(L, -2);
    }
    if (!shape->is_exact) return true;
    lua_pushnil(L);
    while (lua_next(L, index)) {
        lua_settop(L, -2);
        if (--found >= 0) continue;
        r->unknown = unknown_key(L, shape, index);
        return misfits(r, shape, LUA_TTABLE);
    }
    return true;
}

static bool read_list(reader *r, const clua_shape *shape, int index) {
    lua_State *L = r->L;
    int type = lua_type(L, index);
    size_t place = r->count;
    next_slot(r)->kind = CLUA_NIL;
    if (type <= LUA_TNIL && shape->is_optional) return true;
    if (type != LUA_TTABLE) return misfits(r, shape, type);
    lua_Unsigned count = lua_rawlen(L, index);
    if (count > MAX_SLOTS - r->count || !lua_checkstack(L, 6)) return misfits(r, shape, type);
    const clua_shape *element = shape + 1;
    bool stays = element->kind >= CLUA_FUNCTION;
    if (stays && !lua_checkstack(L, (int)count + 6)) return misfits(r, shape, type);
    for (lua_Unsigned i = 1; i <= count; i++) {
        lua_rawgeti(L, index, (lua_Integer)i);
        if (!read_shape(r, element, -1)) return misfits_at(r, "[%llu]", (unsigned long long)i);
        if (!stays) lua_settop(L, -2);
    }
    // A table with names is no list.
    lua_Unsigned entries = 0;
    lua_pushnil(L);
    while (lua_next(L, index)) {
        lua_settop(L, -2);
        if (++entries > count) {
            lua_settop(L, -2);
            return misfits(r, shape, type);
        }
    }
    clua_slot *slot = &r->context->arguments[place];
    slot->kind = CLUA_LIST;
    slot->count = (uint32_t)count;
    return true;
}

static bool read_shape(reader *r, const clua_shape *shape, int index) {
    if (shape->kind == CLUA_RECORD) return read_record(r, shape, lua_absindex(r->L, index));
    if (shape->kind == CLUA_LIST) return read_list(r, shape, lua_absindex(r->L, index));
    clua_slot *slot = next_slot(r);
    int type = lua_type(r->L, index);
    if (type <= LUA_TNIL && shape->kind != CLUA_VALUE) {
        slot->kind = CLUA_NIL;
        return shape->is_optional || misfits(r, shape, type);
    }
    if (!read_simple(r->L, shape->kind, type, index, slot)) return misfits(r, shape, type);
    if (r->checks_text && shape->kind == CLUA_TEXT && !is_utf8(slot->text, slot->count)) return misfits(r, shape, -2);
    return true;
}

static bool read_arguments(reader *r, const clua_signature *signature, int top) {
    if (top > signature->argument_count) return misfits(r, NULL, 0);
    // Values that stay on the stack must not be taken for arguments that were not given.
    if (top < signature->argument_count) lua_settop(r->L, signature->argument_count);
    const clua_shape *shape = signature->arguments;
    for (int i = 1; i <= signature->argument_count; i++, shape += shape->size) {
        if (!read_shape(r, shape, i)) return misfits_at(r, "argument %d", i);
    }
    return true;
}

// -- What does not fit

static const char *shape_in_words(const clua_shape *shape) {
    switch (shape->kind) {
        case CLUA_BOOLEAN: return "true or false";
        case CLUA_INTEGER: return "a whole number";
        case CLUA_NUMBER: return "a number";
        case CLUA_TEXT: return "a text";
        case CLUA_BYTES: return "a string";
        case CLUA_SCALAR: return "a text, a number or a Boolean";
        case CLUA_OBJECT: return "an object of the host";
        case CLUA_FUNCTION: return "a function";
        case CLUA_LIST: return "a list";
        default: return shape->is_exact ? "a table with no other keys than it knows" : "a table";
    }
}

static int refuse_arguments(lua_State *L, const clua_signature *signature, int top) {
    // Read again, more strictly: what the host alone could see is a text that is not UTF-8, or an object of another type.
    reader r = {.L = L, .context = clua_get(L), .keys = signature->keys, .checks_text = true};
    luaL_checkstack(L, 8, NULL);
    if (read_arguments(&r, signature, top))
        return clua_raise(L, "misuse", "script.bad_argument", NULL, "an argument of %s is not of the type that it takes", signature->name);
    if (!r.misfit)
        return clua_raise(L, "misuse", "script.bad_argument", NULL, "%s takes %d argument%s, got %d", signature->name,
                          signature->argument_count, signature->argument_count == 1 ? "" : "s", top);
    if (r.unknown)
        return clua_raise(L, "misuse", "script.bad_argument", NULL, "%s of %s has no key \"%s\"", r.path, signature->name, r.unknown);
    const char *found = r.found == -2 ? "a string that is not UTF-8" : r.found <= LUA_TNIL ? "nothing" : lua_typename(L, r.found);
    return clua_raise(L, "misuse", "script.bad_argument", NULL, "%s of %s must be %s, got %s%s", r.path, signature->name,
                      shape_in_words(r.misfit), r.found > LUA_TNIL ? "a " : "", found);
}

// -- Results

static const clua_slot *push_shape(lua_State *L, clua_context *context, const clua_shape *shape, const clua_slot *slot);

static void push_value(lua_State *L, clua_context *context, uint32_t number) {
    luaL_checkstack(L, 8, NULL);
    if (!context->ignore_no_fail) context->no_fail++;
    context->frames_entered++;
    int32_t answer = context->push_value(context->host, L, number);
    context->frames_left++;
    if (!context->ignore_no_fail) context->no_fail--;
    clua_check_memory(L);
    if (answer == CLUA_ERROR) clua_finish_error(L);
}

static void push_simple(lua_State *L, clua_context *context, const clua_slot *slot) {
    switch (slot->kind) {
        case CLUA_BOOLEAN: lua_pushboolean(L, (int)slot->integer); break;
        case CLUA_INTEGER: lua_pushinteger(L, slot->integer); break;
        case CLUA_NUMBER: lua_pushnumber(L, slot->number); break;
        case CLUA_TEXT: lua_pushlstring(L, slot->text, slot->count); break;
        case CLUA_COPIED: lua_pushlstring(L, context->results.bytes + slot->integer, slot->count); break;
        case CLUA_VALUE:
            push_value(L, context, slot->count);
            break;
        default: lua_pushnil(L);
    }
}

static const clua_slot *push_record(lua_State *L, clua_context *context, const clua_shape *shape, const clua_slot *slot) {
    lua_createtable(L, 0, shape->members);
    const clua_shape *member = shape + 1;
    for (int i = 0; i < shape->members; i++, member += member->size) {
        if (slot->kind == CLUA_NIL) {
            slot++;
            continue;
        }
        lua_pushvalue(L, lua_upvalueindex(member->key));
        slot = push_shape(L, context, member, slot);
        lua_rawset(L, -3);
    }
    return slot;
}

static const clua_slot *push_shape(lua_State *L, clua_context *context, const clua_shape *shape, const clua_slot *slot) {
    if (shape->kind < CLUA_RECORD || slot->kind == CLUA_NIL) {
        push_simple(L, context, slot);
        return slot + 1;
    }
    luaL_checkstack(L, 6, NULL);
    if (shape->kind == CLUA_RECORD) return push_record(L, context, shape, slot + 1);
    uint32_t count = slot->count;
    slot++;
    if (shape->kind == CLUA_LIST) {
        lua_createtable(L, (int)count, 0);
        for (uint32_t i = 1; i <= count; i++) {
            slot = push_shape(L, context, shape + 1, slot);
            lua_rawseti(L, -2, i);
        }
    } else {
        lua_createtable(L, 0, (int)count);
        for (uint32_t i = 0; i < count; i++) {
            push_simple(L, context, slot++);
            slot = push_shape(L, context, shape + 1, slot);
            lua_rawset(L, -3);
        }
    }
    return slot;
}

int clua_push_results(lua_State *L, const clua_signature *signature) {
    clua_context *context = clua_get(L);
    const clua_slot *slot = context->results.slots;
    const clua_shape *shape = signature->results;
    if (signature->result_count > 1) luaL_checkstack(L, signature->result_count, NULL);
    for (int i = 0; i < signature->result_count; i++, shape += shape->size) slot = push_shape(L, context, shape, slot);
    return signature->result_count;
}

// -- The trampoline

static int call_typed(lua_State *L) {  // upvalues: the signature, the names of its members
    const clua_signature *signature = lua_touserdata(L, lua_upvalueindex(1));
    clua_context *context = clua_get(L);
    if (signature->waits && (context->no_yield || !lua_isyieldable(L))) return clua_cannot_wait(L, signature->name);
    int top = lua_gettop(L);
    reader r = {.L = L, .context = context, .keys = signature->keys};
    int32_t answer = CLUA_MISFIT;
    if (read_arguments(&r, signature, top)) {
        clua_invocation call = {context, L, context->arguments, r.count};
        context->results.count = 0;
        context->results.byte_count = 0;
        if (!context->ignore_no_fail) context->no_fail++;
        context->frames_entered++;
        answer = signature->body(signature->box, &call);
        context->frames_left++;
        if (!context->ignore_no_fail) context->no_fail--;
    }
    // Swift has returned: raising is safe from here on.
    if (answer == CLUA_SLOTS) return clua_push_results(L, signature);
    if (answer != CLUA_MISFIT) return clua_finish_call(L, answer);
    lua_settop(L, top);
    if (signature->fallback >= 0) return clua_run_in_host(L, signature->fallback);
    return refuse_arguments(L, signature, top);
}

void clua_push_typed(lua_State *L, const clua_signature *signature) {
    lua_checkstack(L, signature->key_count + 2);
    lua_pushlightuserdata(L, (void *)signature);
    for (int32_t i = 0; i < signature->key_count; i++) lua_pushstring(L, signature->keys[i]);
    lua_pushcclosure(L, call_typed, signature->key_count + 1);
}
