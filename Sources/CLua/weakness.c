// No table of a script is weak.
//
// A chain through the keys of a weak table, in an order unlike that of its nodes, takes the collector one walk of the whole table
// for each link: 20,000 take three seconds, in one step that nothing can stop. A script makes a table weak by the name "__mode" in
// its metatable, whenever it likes and by ways that nobody else is asked about.
//
// So in a sandbox the name is another one, which scripts do not know. Lua has the names of metamethods as strings in the block of
// its state. There is no function to change one; the place is found by what stands around it. Where it is not, all stays as it is.

#include <pthread.h>
#include <string.h>
#include <sys/random.h>

#include "internal.h"

static const char key_name;
enum { LARGEST_HEADER = 64 };

// One for all states of the process. Empty while there is none.
static char secret[40];  // the longest of Lua's short strings
static size_t secret_count;

static void make_secret(void) {
    static const char name[] = "__mode";
    size_t random = sizeof secret - strlen(name);
    memcpy(secret, name, strlen(name));
    if (getrandom(secret + strlen(name), random, 0) == (ssize_t)random) secret_count = sizeof secret;
}

// Pushes the names that Lua has before and after it, and it.
static void push_names(lua_State *L) {
    lua_pushliteral(L, "__gc");
    lua_pushliteral(L, "__mode");
    lua_pushliteral(L, "__len");
}

// The place of the name in the block of the state. NULL: not there, or not there alone.
static uintptr_t *find_place(lua_State *L, uintptr_t before, uintptr_t name, uintptr_t after) {
    uintptr_t *block = (uintptr_t *)((char *)L - LUA_EXTRASPACE), *place = NULL;
    for (size_t i = 1; i + 1 < clua_get(L)->state_size / sizeof *block; i++) {
        // A string is known by what stands before its bytes, at a distance that is the same for all.
        uintptr_t header = name - block[i];
        if (header > LARGEST_HEADER || block[i - 1] + header != before || block[i + 1] + header != after) continue;
        if (place) return NULL;
        place = &block[i];
    }
    return place;
}

void clua_open_weakness(lua_State *L) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_secret);
    push_names(L);
    uintptr_t name = (uintptr_t)lua_tostring(L, -2);
    uintptr_t *place = find_place(L, (uintptr_t)lua_tostring(L, -3), name, (uintptr_t)lua_tostring(L, -1));
    if (place && secret_count) {
        lua_pushlstring(L, secret, secret_count);
        *place += (uintptr_t)lua_tostring(L, -1) - name;
        lua_rawsetp(L, LUA_REGISTRYINDEX, &key_name);  // keeps it
    }
    lua_pop(L, 3);
}

void clua_make_weak(lua_State *L, const char *mode) {
    lua_createtable(L, 0, 1);
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &key_name) == LUA_TNIL) {
        lua_pop(L, 1);
        lua_pushliteral(L, "__mode");
    }
    lua_pushstring(L, mode);
    lua_rawset(L, -3);
    lua_setmetatable(L, -2);
}
