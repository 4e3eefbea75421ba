#ifndef CLUA_PLAIN_H
#define CLUA_PLAIN_H

// Values with one slot, and records of such values, which most typed functions use. In a header, so that the trampoline can inline them.

#include "internal.h"

// -- Arguments

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

// Reads a value with one slot. Returns false if it does not fit.
static inline __attribute__((always_inline)) bool read_simple(lua_State *L, int kind, int type, int index, clua_slot *slot) {
    // Handles the most frequent kinds before the jump table.
    if (kind == CLUA_INTEGER) return type == LUA_TNUMBER && read_integer(L, index, slot);
    if (kind == CLUA_TEXT || kind == CLUA_BYTES) return type == LUA_TSTRING && read_text(L, index, slot);
    switch (kind) {
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
            // A function or any value stays on the stack.
            slot->count = (uint32_t)index;
            slot->kind = (uint8_t)kind;
            return kind == CLUA_VALUE || type == LUA_TFUNCTION;
    }
}

// Reads a value with one slot, or nil.
static inline __attribute__((always_inline)) bool read_plain(lua_State *L, const clua_shape *shape, int type, int index, clua_slot *slot) {
    if (type <= LUA_TNIL && shape->kind != CLUA_VALUE) {
        slot->kind = CLUA_NIL;
        return shape->is_optional;
    }
    return read_simple(L, shape->kind, type, index, slot);
}

static inline __attribute__((always_inline)) bool read_plain_arguments(lua_State *L, const clua_signature *signature) {
    clua_slot *slot = clua_get(L)->arguments;
    const clua_shape *shape = signature->arguments;
    int place = signature->argument_count;  // the top of the stack
    for (int i = 1; i <= signature->argument_count; i++) {
        int type = lua_type(L, i);
        if (shape->kind != CLUA_RECORD) {
            if (!read_plain(L, shape++, type, i, slot++)) return false;
            continue;
        }
        if (type != LUA_TTABLE) return false;
        (slot++)->kind = CLUA_RECORD;
        // Its values stay on the stack, which keeps them alive.
        for (int left = (shape++)->members; left; left--, shape++, slot++) {
            lua_pushvalue(L, lua_upvalueindex(shape->key));
            int given = lua_rawget(L, i);
            if (!read_plain(L, shape, given, ++place, slot)) return false;
        }
    }
    slot->kind = CLUA_END;
    return true;
}

// -- Results

static inline __attribute__((always_inline)) void push_simple(lua_State *L, clua_context *context, const clua_slot *slot) {
    int kind = slot->kind;
    if (__builtin_expect_with_probability(kind == CLUA_INTEGER, 1, 0.9))
        lua_pushinteger(L, slot->integer);
    else if (kind == CLUA_TEXT && slot->place)
        lua_pushvalue(L, slot->place);
    else if (kind == CLUA_COPIED)
        lua_pushlstring(L, context->results.bytes + slot->integer, slot->count);
    else if (kind == CLUA_BOOLEAN)
        lua_pushboolean(L, (int)slot->integer);
    else
        clua_push_rare(L, context, slot);
}

// Pushes a record whose members have one slot each.
static inline __attribute__((always_inline)) const clua_slot *push_plain_record(
    lua_State *L, clua_context *context, const clua_shape *shape, const clua_slot *slot) {
    lua_createtable(L, 0, shape->members);
    const clua_shape *end = shape + shape->size;
    for (shape++; shape < end; shape++, slot++) {
        if (slot->kind == CLUA_NIL) continue;
        lua_pushvalue(L, lua_upvalueindex(shape->key));
        push_simple(L, context, slot);
        lua_rawset(L, -3);
    }
    return slot;
}

#endif
