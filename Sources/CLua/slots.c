// Typed functions: arguments and results as streams of slots.

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

// NOT_UTF8: beside the types of Lua.
enum { NOT_UTF8 = -2, MAX_SLOTS = 250 * 1000, FIRST_SLOTS = 32 };

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

// What did not fit, for the error: filled in when the arguments are read for a second time.
typedef struct misfit {
    const clua_shape *shape;  // NULL: there were too many arguments
    int type;                 // what was found instead
    const char *unknown;      // a key that the record does not have, if it is text
    char path[160];           // built on the way out
} misfit;

typedef struct reader {
    lua_State *L;
    clua_context *context;
    const clua_signature *signature;
    clua_slot *next, *end;
    int top, room;   // of the stack: what is used, and what may be
    int lists;       // how many lists the value is in: what is in one leaves the stack again
    misfit *misfit;  // NULL: nobody wants to know. Otherwise texts that are not UTF-8 do not fit
} reader;

static void more_arguments(reader *r) {
    clua_context *context = r->context;
    ptrdiff_t count = r->next - context->arguments;
    context->arguments = more_slots(context->arguments, &context->argument_capacity);
    r->next = context->arguments + count;
    r->end = context->arguments + context->argument_capacity;
}

static inline clua_slot *next_slot(reader *r) {
    if (r->next == r->end) more_arguments(r);
    return r->next++;
}

static inline bool has_room(reader *r, int count) {
    if (r->top + count <= r->room) return true;
    r->room = r->top + count + LUA_MINSTACK;
    return lua_checkstack(r->L, count + LUA_MINSTACK);
}

bool clua_is_utf8(const char *text, size_t count) {
    const unsigned char *at = (const unsigned char *)text, *end = at + count;
    while (at < end) {
        uint64_t word;
        while (end - at >= 8 && (memcpy(&word, at, 8), (word & 0x8080808080808080u) == 0)) at += 8;
        if (at == end) break;
        unsigned lead = *at++;
        if (lead < 0x80) continue;
        int more = lead >= 0xC2 && lead < 0xE0 ? 1 : lead >= 0xE0 && lead < 0xF0 ? 2 : lead >= 0xF0 && lead < 0xF5 ? 3 : 0;
        if (!more || end - at < more) return false;
        unsigned code = lead & (0x3Fu >> more);
        for (; more; more--, at++) {
            if ((*at & 0xC0) != 0x80) return false;
            code = code << 6 | (*at & 0x3F);
        }
        // Surrogates, what is too large, and what could be written shorter.
        if ((code >= 0xD800 && code < 0xE000) || code > 0x10FFFF) return false;
        if ((lead >= 0xE0 && code < 0x800) || (lead >= 0xF0 && code < 0x10000)) return false;
    }
    return true;
}

static inline bool read_text(lua_State *L, int index, clua_slot *slot) {
    size_t count;
    slot->text = lua_tolstring(L, index, &count);
    slot->count = (uint32_t)count;
    slot->kind = CLUA_TEXT;
    slot->place = (uint16_t)index;
    return count <= UINT32_MAX;
}

static inline bool read_integer(lua_State *L, int index, clua_slot *slot) {
    int fits;
    slot->integer = lua_tointegerx(L, index, &fits);
    slot->kind = CLUA_INTEGER;
    return fits;
}

static inline bool read_boolean(lua_State *L, int type, int index, clua_slot *slot) {
    slot->integer = lua_toboolean(L, index);
    slot->kind = CLUA_BOOLEAN;
    return type == LUA_TBOOLEAN;
}

static inline bool read_number(lua_State *L, int type, int index, clua_slot *slot) {
    slot->number = lua_tonumberx(L, index, NULL);
    slot->kind = CLUA_NUMBER;
    return type == LUA_TNUMBER;
}

static inline bool read_object(lua_State *L, int index, clua_slot *slot) {
    slot->object = clua_to_object(L, index);
    slot->kind = CLUA_OBJECT;
    return slot->object != NULL;
}

// The values of one slot. False: the value does not fit.
static inline __attribute__((always_inline)) bool read_simple(lua_State *L, int kind, int type, int index, clua_slot *slot) {
    switch (kind) {
        case CLUA_INTEGER: return type == LUA_TNUMBER && read_integer(L, index, slot);
        case CLUA_TEXT: case CLUA_BYTES: return type == LUA_TSTRING && read_text(L, index, slot);
        case CLUA_BOOLEAN: return read_boolean(L, type, index, slot);
        case CLUA_NUMBER: return read_number(L, type, index, slot);
        case CLUA_OBJECT: return read_object(L, index, slot);
        case CLUA_SCALAR:
            switch (type) {
                case LUA_TBOOLEAN: return read_boolean(L, type, index, slot);
                case LUA_TSTRING: return read_text(L, index, slot);
                case LUA_TNUMBER: return lua_isinteger(L, index) ? read_integer(L, index, slot) : read_number(L, type, index, slot);
                default: return read_object(L, index, slot);
            }
        default:
            // A function or any value: it stays where it is.
            slot->count = (uint32_t)index;
            slot->kind = (uint8_t)kind;
            return kind == CLUA_VALUE || type == LUA_TFUNCTION;
    }
}

static bool misfits(reader *r, const clua_shape *shape, int type) {
    if (r->misfit) *r->misfit = (misfit){.shape = shape, .type = type};
    return false;
}

// Puts a step before the path, on the way out.
static bool misfits_at(reader *r, const char *format, ...) {
    misfit *misfit = r->misfit;
    if (!misfit) return false;
    char rest[sizeof misfit->path], step[64];
    memcpy(rest, misfit->path, sizeof rest);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(step, sizeof step, format, arguments);
    va_end(arguments);
    snprintf(misfit->path, sizeof misfit->path, "%s%s", step, rest);
    return false;
}

static bool read_compound(reader *r, const clua_shape *shape, int index, int type);

static inline __attribute__((always_inline)) bool read_shape(reader *r, const clua_shape *shape, int index, int type) {
    if (shape->kind >= CLUA_RECORD) return read_compound(r, shape, index, type);
    clua_slot *slot = next_slot(r);
    if (type <= LUA_TNIL && shape->kind != CLUA_VALUE) {
        slot->kind = CLUA_NIL;
        return shape->is_optional || misfits(r, shape, type);
    }
    if (!read_simple(r->L, shape->kind, type, index, slot)) return misfits(r, shape, type);
    if (r->lists) slot->place = 0;
    if (r->misfit && shape->kind == CLUA_TEXT && !clua_is_utf8(slot->text, slot->count)) return misfits(r, shape, NOT_UTF8);
    return true;
}

// The members of a record that is no table: one of them stands alone, or there is none.
static bool read_without_table(reader *r, const clua_shape *shape, int index, int type) {
    if (type > LUA_TNIL && !shape->alone) return misfits(r, shape, type);
    const clua_shape *member = shape + 1;
    for (int i = 1; i <= shape->members; i++, member += member->size) {
        if (type > LUA_TNIL && i == shape->alone) {
            if (!read_shape(r, member, index, type)) return false;
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

// Whether the table has more entries than those that were found.
static bool has_others(lua_State *L, int table, lua_Unsigned found) {
    lua_Unsigned entries = 0;
    lua_pushnil(L);
    while (lua_next(L, table)) {
        lua_settop(L, -2);
        if (++entries <= found) continue;
        lua_settop(L, -2);
        return true;
    }
    return false;
}

static bool read_record(reader *r, const clua_shape *shape, int index, int type) {
    lua_State *L = r->L;
    next_slot(r)->kind = CLUA_RECORD;
    if (type != LUA_TTABLE) return read_without_table(r, shape, index, type);
    if (!has_room(r, shape->members + 6)) return misfits(r, shape, type);
    lua_Unsigned found = 0;
    const clua_shape *member = shape + 1;
    for (int i = 0; i < shape->members; i++, member += member->size) {
        lua_pushvalue(L, lua_upvalueindex(member->key));
        int given = lua_rawget(L, index);
        found += given != LUA_TNIL;
        r->top++;
        if (!read_shape(r, member, r->top, given)) return misfits_at(r, ".%s", r->signature->keys[member->key - 2]);
    }
    if (shape->is_exact && has_others(L, index, found)) {
        misfits(r, shape, type);
        if (r->misfit) r->misfit->unknown = unknown_key(L, shape, index);
        return false;
    }
    return true;
}

static bool read_list(reader *r, const clua_shape *shape, int index, int type) {
    lua_State *L = r->L;
    ptrdiff_t place = r->next - r->context->arguments;
    next_slot(r);
    if (type != LUA_TTABLE) return misfits(r, shape, type);
    lua_Unsigned count = lua_rawlen(L, index);
    if (count + (lua_Unsigned)place > MAX_SLOTS) return misfits(r, shape, type);
    int base = r->top;
    r->lists++;
    for (lua_Unsigned i = 1; i <= count; i++) {
        if (!has_room(r, 6)) return misfits(r, shape, type);
        int given = lua_rawgeti(L, index, (lua_Integer)i);
        r->top++;
        if (!read_shape(r, shape + 1, r->top, given)) return misfits_at(r, "[%llu]", (unsigned long long)i);
        // The table keeps its values alive, and nothing of the script runs meanwhile.
        if (!shape->stays) lua_settop(L, r->top = base);
    }
    r->lists--;
    if (has_others(L, index, count)) return misfits(r, shape, type);  // a table with names is no list
    clua_slot *slot = &r->context->arguments[place];
    slot->kind = CLUA_LIST;
    slot->count = (uint32_t)count;
    return true;
}

static bool read_compound(reader *r, const clua_shape *shape, int index, int type) {
    if (type <= LUA_TNIL && shape->is_optional) {
        next_slot(r)->kind = CLUA_NIL;
        return true;
    }
    return shape->kind == CLUA_RECORD ? read_record(r, shape, index, type) : read_list(r, shape, index, type);
}

static inline bool read_arguments(reader *r) {
    const clua_signature *signature = r->signature;
    if (r->top != signature->argument_count) {
        if (r->top > signature->argument_count) return misfits(r, NULL, 0);
        // Values that stay on the stack must not be taken for arguments that were not given.
        lua_settop(r->L, r->top = signature->argument_count);
    }
    const clua_shape *shape = signature->arguments;
    for (int i = 1; i <= signature->argument_count; i++, shape += shape->size) {
        if (!read_shape(r, shape, i, lua_type(r->L, i))) return misfits_at(r, "argument %d", i);
    }
    return true;
}

// Arguments without a table among them: no more of them than there is always room for.
static inline bool read_flat_arguments(lua_State *L, clua_context *context, const clua_signature *signature, int top) {
    if (top != signature->argument_count) {
        if (top > signature->argument_count) return false;
        lua_settop(L, signature->argument_count);
    }
    clua_slot *slot = context->arguments;
    const clua_shape *shape = signature->arguments;
    for (int i = 1; i <= signature->argument_count; i++, shape++, slot++) {
        int type = lua_type(L, i);
        if (type <= LUA_TNIL && shape->kind != CLUA_VALUE) {
            if (!shape->is_optional) return false;
            slot->kind = CLUA_NIL;
        } else if (!read_simple(L, shape->kind, type, i, slot)) {
            return false;
        }
    }
    return true;
}

static inline reader begin_reading(lua_State *L, clua_context *context, const clua_signature *signature, int top, misfit *misfit) {
    clua_slot *slots = context->arguments;
    return (reader){L, context, signature, slots, slots + context->argument_capacity, top, top + LUA_MINSTACK, 0, misfit};
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
    misfit misfit = {0};
    reader r = begin_reading(L, clua_get(L), signature, top, &misfit);
    bool fits = read_arguments(&r);
    luaL_checkstack(L, 8, NULL);
    if (fits)
        return clua_raise(L, "misuse", "script.bad_argument", NULL, "an argument of %s is not of the type that it takes", signature->name);
    if (!misfit.shape)
        return clua_raise(L, "misuse", "script.bad_argument", NULL, "%s takes %d argument%s, got %d", signature->name,
                          signature->argument_count, signature->argument_count == 1 ? "" : "s", top);
    if (misfit.unknown)
        return clua_raise(L, "misuse", "script.bad_argument", NULL, "%s of %s has no key \"%s\"", misfit.path, signature->name,
                          misfit.unknown);
    const char *found = misfit.type == NOT_UTF8 ? "a string that is not UTF-8" : misfit.type <= LUA_TNIL ? "nothing"
                                                                               : lua_typename(L, misfit.type);
    return clua_raise(L, "misuse", "script.bad_argument", NULL, "%s of %s must be %s, got %s%s", misfit.path, signature->name,
                      shape_in_words(misfit.shape), misfit.type > LUA_TNIL ? "a " : "", found);
}

// -- Results


static __attribute__((noinline)) void push_value(lua_State *L, clua_context *context, uint32_t number) {
    luaL_checkstack(L, 8, NULL);
    clua_enter_host(context);
    int32_t answer = context->push_value(context->host, L, number);
    clua_leave_host(context);
    clua_check_memory(L);
    if (answer == CLUA_ERROR) clua_finish_error(L);
}

static inline __attribute__((always_inline)) void push_simple(lua_State *L, clua_context *context, const clua_slot *slot) {
    switch (slot->kind) {
        case CLUA_BOOLEAN: lua_pushboolean(L, (int)slot->integer); break;
        case CLUA_INTEGER: lua_pushinteger(L, slot->integer); break;
        case CLUA_NUMBER: lua_pushnumber(L, slot->number); break;
        case CLUA_TEXT:
            if (slot->place)
                lua_pushvalue(L, slot->place);
            else
                lua_pushlstring(L, slot->text, slot->count);
            break;
        case CLUA_COPIED: lua_pushlstring(L, context->results.bytes + slot->integer, slot->count); break;
        case CLUA_VALUE:
            push_value(L, context, slot->count);
            break;
        default: lua_pushnil(L);
    }
}

static const clua_slot *push_compound(lua_State *L, clua_context *context, const clua_shape *shape, const clua_slot *slot);

static inline __attribute__((always_inline)) const clua_slot *push_shape(lua_State *L, clua_context *context, const clua_shape *shape, const clua_slot *slot) {
    if (shape->kind >= CLUA_RECORD && slot->kind != CLUA_NIL) return push_compound(L, context, shape, slot);
    push_simple(L, context, slot);
    return slot + 1;
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

static const clua_slot *push_compound(lua_State *L, clua_context *context, const clua_shape *shape, const clua_slot *slot) {
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
    bool fits;
    if (signature->is_flat) {
        fits = read_flat_arguments(L, context, signature, top);
    } else {
        reader r = begin_reading(L, context, signature, top, NULL);
        fits = read_arguments(&r);
    }
    int32_t answer = CLUA_MISFIT;
    if (fits) {
        clua_invocation call = {context, L, context->arguments};
        context->results.count = context->results.byte_count = 0;
        clua_enter_host(context);
        answer = signature->body(signature->box, &call);
        clua_leave_host(context);
    }
    // Swift has returned: raising is safe from here on.
    if (answer == CLUA_SLOTS) {
        if (!signature->is_single) return clua_push_results(L, signature);
        push_simple(L, context, context->results.slots);
        return 1;
    }
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
