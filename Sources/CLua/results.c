// Pushes the results of typed functions from slots to the stack, by their schema.

#include "plain.h"

static void push_value(lua_State *L, clua_context *context, uint32_t number) {
    luaL_checkstack(L, 8, NULL);
    clua_enter_host(context);
    int32_t answer = context->push_value(context->host, L, number);
    clua_leave_host(context);
    clua_check_memory(L);
    if (answer == CLUA_ERROR) clua_finish_error(L);
}

static int refuse_results(lua_State *L) {
    const clua_signature *signature = lua_touserdata(L, lua_upvalueindex(1));
    clua_release_collector(L);
    return clua_raise(L, "failure", "value.shape", "this is a bug in the host: one of its types does not write what its shape declares",
                      "the result of %s does not match its shape", signature->name);
}

void clua_push_rare(lua_State *L, clua_context *context, const clua_slot *slot) {
    switch (slot->kind) {
        case CLUA_NUMBER: lua_pushnumber(L, slot->number); break;
        case CLUA_TEXT: lua_pushlstring(L, slot->text, slot->count); break;
        case CLUA_VALUE: push_value(L, context, slot->count); break;
        case CLUA_NIL: lua_pushnil(L); break;
        default: refuse_results(L);
    }
}

static const clua_slot *push_compound(lua_State *L, clua_context *context, const clua_shape *shape, const clua_slot *slot);

static inline const clua_slot *push_shape(lua_State *L, clua_context *context, const clua_shape *shape, const clua_slot *slot) {
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
    if (slot->kind != shape->kind) refuse_results(L);
    if (!shape->has_room) luaL_checkstack(L, 6, NULL);
    if (shape->is_plain) return push_plain_record(L, context, shape, slot + 1);
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

int clua_push_results(lua_State *L, clua_context *context, const clua_signature *signature) {
    const clua_slot *slot = context->results.slots;
    const clua_shape *shape = signature->results;
    if (signature->result_count > 1) luaL_checkstack(L, signature->result_count, NULL);
    for (int i = 0; i < signature->result_count; i++, shape += shape->size) slot = push_shape(L, context, shape, slot);
    if (slot->kind != CLUA_END) refuse_results(L);
    return signature->result_count;
}
