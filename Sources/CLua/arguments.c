// Reads the arguments of typed functions from the stack into slots, by their schema.

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "plain.h"

// NOT_UTF8 extends Lua's type numbers.
enum { NOT_UTF8 = -2, MAX_SLOTS = 250 * 1000, CACHED_SLOTS = 4096 };

// -- Any schema

// Describes the value that did not fit, for the error. Filled when the arguments are read for the second time.
typedef struct misfit {
    int wanted;               // not 0: search for the value without a schema at this stack index
    int argument;             // the number of the argument that contains it
    const clua_shape *shape;  // NULL: there were too many arguments
    int type;                 // the type found instead
    const char *unknown;      // a key that the record does not have, if it is a string
    char path[160];           // built while unwinding
} misfit;

typedef struct reader {
    lua_State *L;
    clua_context *context;
    const clua_signature *signature;
    clua_slot *next, *end;
    int top, room;   // stack slots in use and available
    int lists;       // depth of nested lists; values inside a list are popped again
    int reserved;    // slots reserved beyond the current element, for what follows the enclosing lists
    misfit *misfit;  // NULL: do not describe the error. Otherwise strings that are not UTF-8 do not fit
} reader;

// Slots outside of lists were reserved when the function was made. Before each list element, there must be room for it and for what follows
// the list.
static void reserve_element(reader *r, int size) {
    clua_context *context = r->context;
    while (r->end - r->next <= size + r->reserved) {  // one more for CLUA_END
        ptrdiff_t count = r->next - context->arguments;
        clua_grow_slots(&context->arguments, &context->argument_capacity);
        r->next = context->arguments + count;
        r->end = context->arguments + context->argument_capacity;
    }
}

static inline bool has_room(reader *r, int count) {
    if (r->top + count <= r->room) return true;
    r->room = r->top + count + LUA_MINSTACK;
    return lua_checkstack(r->L, count + LUA_MINSTACK);
}

static bool misfits(reader *r, const clua_shape *shape, int type) {
    if (r->misfit) {
        r->misfit->shape = shape;
        r->misfit->type = type;
    }
    return false;
}

// Prepends a step to the path, while unwinding.
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

static bool read_shape(reader *r, const clua_shape *shape, int index, int type) {
    if (shape->kind >= CLUA_RECORD) return read_compound(r, shape, index, type);
    clua_slot *slot = r->next++;
    if (type <= LUA_TNIL && shape->kind != CLUA_VALUE) {
        slot->kind = CLUA_NIL;
        return shape->is_optional || misfits(r, shape, type);
    }
    if (!read_simple(r->L, shape->kind, type, index, slot)) return misfits(r, shape, type);
    if (r->lists) slot->place = 0;
    if (!r->misfit) return true;
    if (r->misfit->wanted) return shape->kind != CLUA_VALUE || index != r->misfit->wanted || misfits(r, shape, type);
    if (shape->kind == CLUA_TEXT && !clua_is_utf8(slot->text, slot->count)) return misfits(r, shape, NOT_UTF8);
    return true;
}

// Reads a value other than a table as a record: it is the member `alone`, or the record is absent.
static bool read_without_table(reader *r, const clua_shape *shape, int index, int type) {
    if (type > LUA_TNIL && !shape->alone) return misfits(r, shape, type);
    const clua_shape *member = shape + 1;
    for (int i = 1; i <= shape->members; i++, member += member->size) {
        if (type > LUA_TNIL && i == shape->alone) {
            if (!read_shape(r, member, index, type)) return false;
        } else {
            if (!member->is_optional) return misfits(r, shape, type);
            r->next++->kind = CLUA_NIL;
        }
    }
    return true;
}

// The first string key of the table that the record does not have.
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

// Whether the table has more entries than the number found.
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
    r->next++->kind = CLUA_RECORD;
    if (type != LUA_TTABLE) return read_without_table(r, shape, index, type);
    lua_Unsigned found = 0;
    const clua_shape *member = shape + 1;
    for (int i = 0; i < shape->members; i++, member += member->size) {
        if (!has_room(r, 6)) return misfits(r, shape, type);  // for each member, because values of nested members stay on the stack too
        lua_pushvalue(L, lua_upvalueindex(member->key));
        int given = lua_rawget(L, index);
        found += given != LUA_TNIL;
        r->top++;
        if (!read_shape(r, member, r->top, given)) return misfits_at(r, ".%s", r->signature->keys[member->key - 2]);
    }
    if (shape->is_exact && (!has_room(r, 6) || has_others(L, index, found))) {
        misfits(r, shape, type);
        if (r->misfit) r->misfit->unknown = unknown_key(L, shape, index);
        return false;
    }
    return true;
}

static bool read_list(reader *r, const clua_shape *shape, int index, int type) {
    lua_State *L = r->L;
    ptrdiff_t place = r->next - r->context->arguments;
    r->next++;
    if (type != LUA_TTABLE) return misfits(r, shape, type);
    lua_Unsigned count = lua_rawlen(L, index);
    if (count + (lua_Unsigned)place > MAX_SLOTS) return misfits(r, shape, type);
    int base = r->top, size = shape[1].size;
    lua_Unsigned found = 0;
    r->lists++;
    for (lua_Unsigned i = 1; i <= count; i++) {
        if (!has_room(r, 6)) return misfits(r, shape, type);
        reserve_element(r, size);
        r->reserved += size;
        int given = lua_rawgeti(L, index, (lua_Integer)i);
        found += given != LUA_TNIL;
        r->top++;
        if (!read_shape(r, shape + 1, r->top, given)) return misfits_at(r, "[%llu]", (unsigned long long)i);
        r->reserved -= size;
        // The table keeps its values alive, and no script code executes meanwhile.
        if (!shape->stays) lua_settop(L, r->top = base);
    }
    r->lists--;
    if (!has_room(r, 6) || has_others(L, index, found)) return misfits(r, shape, type);  // a table with other keys is not a list
    clua_slot *slot = &r->context->arguments[place];
    slot->kind = CLUA_LIST;
    slot->count = (uint32_t)count;
    return true;
}

static bool read_compound(reader *r, const clua_shape *shape, int index, int type) {
    if (type <= LUA_TNIL && shape->is_optional) {
        r->next++->kind = CLUA_NIL;
        return true;
    }
    return shape->kind == CLUA_RECORD ? read_record(r, shape, index, type) : read_list(r, shape, index, type);
}

static bool read_arguments(reader *r) {
    const clua_signature *signature = r->signature;
    if (r->top != signature->argument_count) {
        if (r->top > signature->argument_count) return misfits(r, NULL, 0);
        // Values that stay on the stack must not be read as missing arguments.
        lua_settop(r->L, r->top = signature->argument_count);
    }
    const clua_shape *shape = signature->arguments;
    for (int i = 1; i <= signature->argument_count; i++, shape += shape->size) {
        if (read_shape(r, shape, i, lua_type(r->L, i))) continue;
        if (r->misfit) r->misfit->argument = i;
        return false;
    }
    return true;
}

static reader begin_reading(lua_State *L, clua_context *context, const clua_signature *signature, int top, misfit *misfit) {
    clua_slot *slots = context->arguments;
    return (reader){
        .L = L, .context = context, .signature = signature, .next = slots, .end = slots + context->argument_capacity,
        .top = top, .room = top + LUA_MINSTACK, .reserved = signature->argument_slots, .misfit = misfit,
    };
}

// -- Arguments

bool clua_read_arguments(lua_State *L, clua_context *context, const clua_signature *signature, int top) {
    if (context->argument_capacity > CACHED_SLOTS + context->argument_least)
        clua_resize_slots(&context->arguments, &context->argument_capacity, context->argument_least);
    reader r = begin_reading(L, context, signature, top, NULL);
    if (!read_arguments(&r)) return false;
    r.next->kind = CLUA_END;
    return true;
}

int clua_find_argument(lua_State *L, int place, char *path, size_t count) {
    const clua_signature *signature = lua_touserdata(L, lua_upvalueindex(1));
    // The arguments are read again in the same order, so the value is at the same stack index as before.
    misfit misfit = {.wanted = place};
    lua_settop(L, signature->argument_count);
    reader r = begin_reading(L, clua_get(L), signature, signature->argument_count, &misfit);
    bool is_found = !read_arguments(&r);
    lua_settop(L, signature->argument_count);
    if (!is_found) return 0;
    snprintf(path, count, "%s", misfit.path);
    return misfit.argument;
}

// -- Errors

static const char *shape_in_words(const clua_shape *shape) {
    switch (shape->kind) {
        case CLUA_BOOLEAN: return "true or false";
        case CLUA_INTEGER: return "a whole number";
        case CLUA_NUMBER: return "a number";
        case CLUA_TEXT: return "a UTF-8 string";
        case CLUA_BYTES: return "a string";
        case CLUA_SCALAR: return "a UTF-8 string, a number or a Boolean";
        case CLUA_OBJECT: return "a host object";
        case CLUA_FUNCTION: return "a function";
        case CLUA_LIST: return "a list";
        default: return shape->is_exact ? "a table with known keys only" : "a table";
    }
}

int clua_raise_argument_error(lua_State *L, const clua_signature *signature, int top) {
    // Read again with stricter checks, to find what only the host could detect: text that is not UTF-8, or an object of another type.
    misfit misfit = {0};
    reader r = begin_reading(L, clua_get(L), signature, top, &misfit);
    bool fits = read_arguments(&r);
    luaL_checkstack(L, 8, NULL);
    if (fits)
        return clua_raise(L, "misuse", "script.bad_argument", NULL, "an argument of %s has the wrong type", signature->name);
    if (!misfit.shape)
        return clua_raise(L, "misuse", "script.bad_argument", NULL, "%s takes %d argument%s, got %d", signature->name,
                          signature->argument_count, signature->argument_count == 1 ? "" : "s", top);
    if (misfit.unknown)
        return clua_raise(L, "misuse", "script.bad_argument", NULL, "argument %d%s of %s has no key \"%s\"", misfit.argument,
                          misfit.path, signature->name, misfit.unknown);
    const char *found = misfit.type == NOT_UTF8 ? "a string that is not UTF-8" : misfit.type <= LUA_TNIL ? "nothing"
                                                                               : lua_typename(L, misfit.type);
    return clua_raise(L, "misuse", "script.bad_argument", NULL, "argument %d%s of %s must be %s, got %s%s", misfit.argument, misfit.path,
                      signature->name, shape_in_words(misfit.shape), misfit.type > LUA_TNIL ? "a " : "", found);
}
