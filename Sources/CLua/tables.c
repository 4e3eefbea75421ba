// The table library as in the manual. Metamethods are honoured; since these can report any length, every step is charged.

#include <limits.h>

#include "internal.h"

enum { READS = 1, WRITES = 2, HAS_LENGTH = 4, STEPS = 32, COST_OF_STEP = 2, RANDOM_FROM = 100 };

// -- Checks and steps

static bool has_field(lua_State *L, int metatable, const char *name) {
    lua_pushstring(L, name);
    bool has = lua_rawget(L, metatable) != LUA_TNIL;
    lua_pop(L, 1);
    return has;
}

// Checks for a table, or a value whose metamethods provide what is needed.
static void check_table(lua_State *L, int argument, int needs) {
    if (lua_type(L, argument) == LUA_TTABLE) return;
    if (lua_getmetatable(L, argument)) {
        int metatable = lua_gettop(L);
        if ((!(needs & READS) || has_field(L, metatable, "__index")) &&
            (!(needs & WRITES) || has_field(L, metatable, "__newindex")) &&
            (!(needs & HAS_LENGTH) || has_field(L, metatable, "__len"))) {
            lua_pop(L, 1);
            return;
        }
    }
    luaL_checktype(L, argument, LUA_TTABLE);
}

static lua_Integer check_length(lua_State *L, int argument, int needs) {
    check_table(L, argument, needs | HAS_LENGTH);
    return luaL_len(L, argument);
}

// Call it once per iteration. Charges every few iterations.
static inline void step(lua_State *L, unsigned *steps) {
    if (++*steps % STEPS == 0) clua_charge(L, STEPS * COST_OF_STEP);
}

static void end_steps(lua_State *L, unsigned steps) { clua_charge(L, steps % STEPS * COST_OF_STEP); }

static void copy_element(lua_State *L, int from, lua_Integer source, int to, lua_Integer target) {
    lua_geti(L, from, source);
    lua_seti(L, to, target);
}

// -- insert, remove, move

static int table_insert(lua_State *L) {
    lua_Integer end = (lua_Integer)((lua_Unsigned)check_length(L, 1, READS | WRITES) + 1), position = end;
    int count = lua_gettop(L);
    if (count == 3) {
        position = luaL_checkinteger(L, 2);
        luaL_argcheck(L, (lua_Unsigned)position - 1 < (lua_Unsigned)end, 2, "position out of bounds");
        unsigned steps = 0;
        for (lua_Integer i = end; i > position; i--) {
            copy_element(L, 1, i - 1, 1, i);
            step(L, &steps);
        }
        end_steps(L, steps);
    } else if (count != 2) {
        return luaL_error(L, "wrong number of arguments to 'insert'");
    }
    lua_seti(L, 1, position);
    return 0;
}

static int table_remove(lua_State *L) {
    lua_Integer size = check_length(L, 1, READS | WRITES), position = luaL_optinteger(L, 2, size);
    if (position != size)
        luaL_argcheck(L, (lua_Unsigned)position - 1 <= (lua_Unsigned)size, 1, "position out of bounds");
    lua_geti(L, 1, position);
    if (position < size) {
        unsigned steps = 0;
        for (; position < size; position++) {
            copy_element(L, 1, position + 1, 1, position);
            step(L, &steps);
        }
        end_steps(L, steps);
    }
    lua_pushnil(L);
    lua_seti(L, 1, position);
    return 1;
}

static int table_move(lua_State *L) {
    lua_Integer first = luaL_checkinteger(L, 2), last = luaL_checkinteger(L, 3), target = luaL_checkinteger(L, 4);
    int to = lua_isnoneornil(L, 5) ? 1 : 5;
    check_table(L, 1, READS);
    check_table(L, to, WRITES);
    if (last >= first) {
        luaL_argcheck(L, first > 0 || last < LUA_MAXINTEGER + first, 3, "too many elements to move");
        lua_Integer count = last - first + 1;
        luaL_argcheck(L, target <= LUA_MAXINTEGER - count + 1, 4, "destination wrap around");
        bool is_upward = target > last || target <= first || (to != 1 && !lua_compare(L, 1, to, LUA_OPEQ));
        unsigned steps = 0;
        for (lua_Integer done = 0; done < count; done++) {
            lua_Integer i = is_upward ? done : count - 1 - done;
            copy_element(L, 1, first + i, to, target + i);
            step(L, &steps);
        }
        end_steps(L, steps);
    }
    lua_pushvalue(L, to);
    return 1;
}

// -- concat, pack, unpack

static void add_element(lua_State *L, luaL_Buffer *out, lua_Integer i) {
    lua_geti(L, 1, i);
    if (!lua_isstring(L, -1))
        luaL_error(L, "invalid value (%s) at index %I in table for 'concat'", luaL_typename(L, -1), (LUAI_UACINT)i);
    luaL_addvalue(out);
}

static int table_concat(lua_State *L) {
    lua_Integer last = check_length(L, 1, READS);
    size_t count, charged = 0;
    const char *separator = luaL_optlstring(L, 2, "", &count);
    lua_Integer i = luaL_optinteger(L, 3, 1);
    last = luaL_optinteger(L, 4, last);
    luaL_Buffer out;
    luaL_buffinit(L, &out);
    for (; i < last; i++) {
        add_element(L, &out, i);
        luaL_addlstring(&out, separator, count);
        clua_charge(L, COST_OF_STEP + (int64_t)(luaL_bufflen(&out) - charged) / 32);
        charged = luaL_bufflen(&out);
    }
    if (i == last) add_element(L, &out, i);
    luaL_pushresult(&out);
    return 1;
}

static int table_pack(lua_State *L) {
    int count = lua_gettop(L);
    unsigned steps = 0;
    lua_createtable(L, count, 1);
    lua_insert(L, 1);
    for (int i = count; i >= 1; i--) {
        lua_seti(L, 1, i);
        step(L, &steps);
    }
    end_steps(L, steps);
    lua_pushinteger(L, count);
    lua_setfield(L, 1, "n");
    return 1;
}

static int table_unpack(lua_State *L) {
    lua_Integer first = luaL_optinteger(L, 2, 1), last = luaL_opt(L, luaL_checkinteger, 3, luaL_len(L, 1));
    if (first > last) return 0;
    lua_Unsigned count = (lua_Unsigned)last - (lua_Unsigned)first;
    if (count >= INT_MAX || !lua_checkstack(L, (int)++count)) return luaL_error(L, "too many results to unpack");
    clua_charge(L, (int64_t)(count % STEPS) * COST_OF_STEP);
    for (lua_Unsigned i = 0; i < count; i++) {
        lua_geti(L, 1, first + (lua_Integer)i);
        if (i % STEPS == STEPS - 1) clua_charge(L, STEPS * COST_OF_STEP);
    }
    return (int)count;
}

// -- sort
//
// Quicksort as in stock Lua, with the same comparisons for most lists. For very uneven partitions, stock Lua takes a pivot from the clock;
// this one uses a counter, so the same list is sorted the same way in every process.

typedef unsigned slot;  // an index of the list

static bool is_less(lua_State *L, int a, int b) {  // compares the values at two negative indices
    if (lua_isnil(L, 2)) {
        clua_charge(L, COST_OF_STEP);
        return lua_compare(L, a, b, LUA_OPLT);
    }
    clua_charge(L, 2 * COST_OF_STEP);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, a - 1);
    lua_pushvalue(L, b - 2);
    lua_call(L, 2, 1);
    bool less = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return less;
}

static void set_both(lua_State *L, slot first, slot second) {  // pops two values; the top one is stored at `first`
    lua_seti(L, 1, first);
    lua_seti(L, 1, second);
}

// Puts the elements at two indices in order.
static void order(lua_State *L, slot low, slot high) {
    lua_geti(L, 1, low);
    lua_geti(L, 1, high);
    if (is_less(L, -1, -2))
        set_both(L, low, high);
    else
        lua_pop(L, 2);
}

// The pivot is on the top of the stack and at `high - 1`. Returns its final index.
static slot partition(lua_State *L, slot low, slot high) {
    slot i = low, j = high - 1;
    for (;;) {
        while (lua_geti(L, 1, ++i), is_less(L, -1, -2)) {
            if (i == high - 1) luaL_error(L, "invalid order function for sorting");
            lua_pop(L, 1);
        }
        while (lua_geti(L, 1, --j), is_less(L, -3, -1)) {
            if (j < i) luaL_error(L, "invalid order function for sorting");
            lua_pop(L, 1);
        }
        if (j < i) {
            lua_pop(L, 1);
            set_both(L, high - 1, i);
            return i;
        }
        set_both(L, i, j);
    }
}

static slot pivot_of(slot low, slot high, unsigned random) {
    if (high - low < RANDOM_FROM || random == 0) return low + (high - low) / 2;
    slot quarter = (high - low) / 4;
    return low + quarter + random % (quarter * 2);
}

static void sort(lua_State *L, slot low, slot high, unsigned random) {
    while (low < high) {
        order(L, low, high);
        if (high - low == 1) return;
        slot pivot = pivot_of(low, high, random);
        lua_geti(L, 1, pivot);
        lua_geti(L, 1, low);
        if (is_less(L, -2, -1)) {
            set_both(L, pivot, low);
        } else {
            lua_pop(L, 1);
            lua_geti(L, 1, high);
            if (is_less(L, -1, -2))
                set_both(L, pivot, high);
            else
                lua_pop(L, 2);
        }
        if (high - low == 2) return;
        lua_geti(L, 1, pivot);
        lua_pushvalue(L, -1);
        lua_geti(L, 1, high - 1);
        set_both(L, pivot, high - 1);
        pivot = partition(L, low, high);
        slot smaller;
        if (pivot - low < high - pivot) {  // recursion for the smaller part only, to bound the depth
            sort(L, low, pivot - 1, random);
            smaller = pivot - low;
            low = pivot + 1;
        } else {
            sort(L, pivot + 1, high, random);
            smaller = high - pivot;
            high = pivot - 1;
        }
        if (low < high && (high - low) / 128 > smaller) random = random * 1103515245u + 12345u;
    }
}

static int table_sort(lua_State *L) {
    lua_Integer count = check_length(L, 1, READS | WRITES);
    if (count <= 1) return 0;
    luaL_argcheck(L, count < INT_MAX, 1, "array too big");
    if (!lua_isnoneornil(L, 2)) luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    luaL_checkstack(L, 40, NULL);
    sort(L, 1, (slot)count, 0);
    return 0;
}

void clua_open_tables(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"insert", table_insert}, {"remove", table_remove}, {"move", table_move}, {"concat", table_concat},
        {"pack", table_pack},     {"unpack", table_unpack}, {"sort", table_sort}, {NULL, NULL}};
    clua_set_functions(L, LUA_TABLIBNAME, functions);
}
