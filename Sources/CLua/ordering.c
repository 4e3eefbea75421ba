// Makes scripts behave the same in every process: no addresses, no hash order, no hidden seed.
//
// Lua seeds its string hashes from addresses and the clock. Therefore the order of `next` over string keys differs between processes, and
// so does all output that contains addresses.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

// -- pairs

enum { RANK_NUMBER, RANK_STRING, RANK_BOOLEAN, RANK_OBJECT, RANK_OTHER };

typedef struct key {
    int rank, is_float;
    lua_Integer integer;
    lua_Number number;
    const char *text;
    size_t count;
    int position;  // in the order of `next`
} key;

static int compare_numbers(const key *a, const key *b) {
    if (!a->is_float && !b->is_float) return (a->integer > b->integer) - (a->integer < b->integer);
    if (a->is_float && b->is_float) return (a->number > b->number) - (a->number < b->number);
    if (a->is_float) return -compare_numbers(b, a);
    // A float key has a fraction or is out of the integer range. Lua converts all others to integers.
    if (b->number >= 9223372036854775808.0) return -1;
    if (b->number < -9223372036854775808.0) return 1;
    return a->integer <= (lua_Integer)floor(b->number) ? -1 : 1;
}

static int compare_keys(const key *a, const key *b) {
    if (a->rank != b->rank) return a->rank - b->rank;
    if (a->rank == RANK_NUMBER) return compare_numbers(a, b);
    if (a->rank == RANK_BOOLEAN || a->rank == RANK_OBJECT) return (a->integer > b->integer) - (a->integer < b->integer);
    if (a->rank == RANK_OTHER) return a->position - b->position;
    size_t shorter = a->count < b->count ? a->count : b->count;
    int order = memcmp(a->text, b->text, shorter);
    return order ? order : (a->count > b->count) - (a->count < b->count);
}

static int next_entry(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2);
    if (lua_next(L, 1)) return 2;
    lua_pushnil(L);
    return 1;
}

static int next_in_snapshot(lua_State *L) {  // upvalues: the sorted keys, the number visited
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_Integer visited = lua_tointeger(L, lua_upvalueindex(2));
    for (;;) {
        clua_charge(L, 2);
        if (lua_rawgeti(L, lua_upvalueindex(1), ++visited) == LUA_TNIL) return 1;
        lua_pushvalue(L, -1);
        if (lua_rawget(L, 1) != LUA_TNIL) break;
        lua_pop(L, 2);  // removed since the snapshot
    }
    lua_pushinteger(L, visited);
    lua_replace(L, lua_upvalueindex(2));
    return 2;
}

// Whether the order of the keys depends on string hashes or object addresses. Every key must be examined, because list elements can be
// stored among such keys too. Tables and functions as keys keep the order of `next`.
static bool needs_snapshot(lua_State *L) {
    lua_Integer count = 0;
    bool has_hash = false;
    lua_pushnil(L);
    while (lua_next(L, 1)) {
        lua_pop(L, 1);
        count++;
        clua_charge(L, 2);
        int type = lua_type(L, -1);
        has_hash |= type == LUA_TSTRING || type == LUA_TUSERDATA;
        if (has_hash && count > 1) {
            lua_pop(L, 1);
            return true;
        }
    }
    return false;
}

static void read_key(lua_State *L, int index, key *out, int position) {
    *out = (key){.rank = RANK_OTHER, .position = position};
    if (lua_type(L, index) == LUA_TSTRING) {
        out->rank = RANK_STRING;
        out->text = lua_tolstring(L, index, &out->count);
    } else if (lua_type(L, index) == LUA_TNUMBER) {
        out->rank = RANK_NUMBER;
        out->is_float = !lua_isinteger(L, index);
        out->integer = lua_tointeger(L, index);
        out->number = lua_tonumber(L, index);
    } else if (lua_type(L, index) == LUA_TBOOLEAN) {
        out->rank = RANK_BOOLEAN;
        out->integer = lua_toboolean(L, index);
    } else if ((out->integer = clua_object_serial(L, index)) > 0) {
        out->rank = RANK_OBJECT;
    }
}

// Merge sort with growing runs, between `keys` and `other`; returns the array with the result. Unlike qsort, it can be interrupted by an
// error.
static key *sort_keys(lua_State *L, key *keys, key *other, size_t count) {
    for (size_t size = 1; size < count; size *= 2) {
        for (size_t begin = 0; begin < count; begin += 2 * size) {
            size_t middle = begin + size < count ? begin + size : count;
            size_t end = begin + 2 * size < count ? begin + 2 * size : count;
            size_t left = begin, right = middle;
            for (size_t i = begin; i < end; i++) {
                bool takes_left = left < middle && (right == end || compare_keys(&keys[left], &keys[right]) <= 0);
                other[i] = keys[takes_left ? left : right];
                if (takes_left) left++; else right++;
                clua_charge(L, 4 + (int64_t)other[i].count / 32);
            }
        }
        key *sorted = other;
        other = keys;
        keys = sorted;
    }
    return keys;
}

static void push_sorted_keys(lua_State *L) {  // for the table at 1
    int count = 0;
    lua_pushnil(L);
    for (; lua_next(L, 1); count++) {
        lua_pop(L, 1);
        clua_charge(L, 2);
    }
    key *keys = lua_newuserdatauv(L, 2 * sizeof(key) * (size_t)count, 0);
    lua_createtable(L, count, 0);  // in the order of `next`; keeps the strings alive during the sort
    int unsorted = lua_gettop(L), read = 0;
    lua_pushnil(L);
    for (; read < count && lua_next(L, 1); read++) {
        lua_pop(L, 1);
        clua_charge(L, 4);
        read_key(L, -1, &keys[read], read + 1);
        lua_pushvalue(L, -1);
        lua_rawseti(L, unsorted, read + 1);
    }
    lua_settop(L, unsorted);
    key *sorted = sort_keys(L, keys, keys + count, (size_t)read);
    lua_createtable(L, read, 0);
    for (int i = 0; i < read; i++) {
        clua_charge(L, 4);
        lua_rawgeti(L, unsorted, sorted[i].position);
        lua_rawseti(L, -2, i + 1);
    }
}

static int pairs_done(lua_State *L, int status, lua_KContext context) {
    (void)L, (void)status, (void)context;
    return 3;
}

static int ordered_pairs(lua_State *L) {
    luaL_checkany(L, 1);
    if (luaL_getmetafield(L, 1, "__pairs") != LUA_TNIL) {
        lua_pushvalue(L, 1);
        lua_callk(L, 1, 3, 0, pairs_done);
        return 3;
    }
    lua_settop(L, 1);
    // The iterator rejects values that are not tables, as in the stock library.
    if (lua_type(L, 1) == LUA_TTABLE && needs_snapshot(L)) {
        lua_settop(L, 1);
        push_sorted_keys(L);
        lua_pushinteger(L, 0);
        lua_pushcclosure(L, next_in_snapshot, 2);
    } else {
        lua_settop(L, 1);
        lua_pushcfunction(L, next_entry);
    }
    lua_pushvalue(L, 1);
    lua_pushnil(L);
    return 3;
}

// -- Text without addresses

// Pushes "table: 0x00000001": instead of addresses, numbers in the order in which values are first shown.
static void push_numbered(lua_State *L, int index) {
    clua_context *context = clua_get(L);
    luaL_checkstack(L, 6, NULL);
    int top = lua_gettop(L);
    index = lua_absindex(L, index);
    const char *name = luaL_getmetafield(L, index, "__name") == LUA_TSTRING ? lua_tostring(L, -1) : luaL_typename(L, index);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &clua_key_numbers);
    lua_pushvalue(L, index);
    if (lua_rawget(L, -2) == LUA_TNIL) {
        lua_pushvalue(L, index);
        lua_pushinteger(L, context->last_number + 1);
        lua_rawset(L, -4);
        lua_pop(L, 1);
        lua_pushinteger(L, ++context->last_number);
    }
    char number[32];
    snprintf(number, sizeof number, "0x%08llx", (unsigned long long)lua_tointeger(L, -1));
    lua_pushfstring(L, "%s: %s", name, number);
    lua_replace(L, top + 1);
    lua_settop(L, top + 1);
}

static bool shows_address(lua_State *L, int index) {
    switch (lua_type(L, index)) {
        case LUA_TTABLE: case LUA_TFUNCTION: case LUA_TUSERDATA: case LUA_TTHREAD: case LUA_TLIGHTUSERDATA:
            if (luaL_getmetafield(L, index, "__tostring") == LUA_TNIL) return true;
            lua_pop(L, 1);
            return false;
        default: return false;
    }
}

void clua_push_text(lua_State *L, int index) {
    if (shows_address(L, index))
        push_numbered(L, index);
    else
        luaL_tolstring(L, index, NULL);
}

static int numbered_tostring(lua_State *L) {
    luaL_checkany(L, 1);
    clua_push_text(L, 1);
    return 1;
}

// -- Random numbers

static int seeded_randomseed(lua_State *L) {
    if (lua_isnone(L, 1)) lua_pushinteger(L, clua_get(L)->seed);
    lua_pushvalue(L, lua_upvalueindex(1));  // a closure over the generator, which needs its own frame
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

// -- Installation

void clua_open_ordering(lua_State *L) {
    lua_newtable(L);
    clua_make_weak(L, "k");
    lua_rawsetp(L, LUA_REGISTRYINDEX, &clua_key_numbers);
    lua_register(L, "pairs", ordered_pairs);
    lua_register(L, "tostring", numbered_tostring);
    clua_guard(L, "math", "randomseed", seeded_randomseed);
    lua_getglobal(L, "math");
    lua_getfield(L, -1, "randomseed");
    lua_call(L, 0, 0);
    lua_pop(L, 1);
}
