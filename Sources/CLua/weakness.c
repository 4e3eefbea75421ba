// Prevents scripts from creating weak tables.
//
// A chain through the keys of a weak table, in an order unlike that of its nodes, costs the collector one traversal of the whole table per
// link: 20,000 links take three seconds in one step that cannot be stopped. A script makes a table weak with the name "__mode" in a
// metatable, at any time and in ways that cannot be intercepted.
//
// In a sandbox the name is therefore replaced by one that scripts do not know. Lua stores metamethod names as string pointers in the block
// of its state. There is no API to change them; the pointer is found by its neighbours. If it is not found, nothing is changed.

#include <pthread.h>
#include <string.h>
#include <sys/random.h>

#include "internal.h"

static const char key_name;
enum { LARGEST_HEADER = 64 };

// The secret name, for all states of the process. Empty if none has been made yet.
static char secret[40];  // the maximum length of Lua's short strings
static size_t secret_count;

static void make_secret(void) {
    static const char name[] = "__mode";
    size_t random = sizeof secret - strlen(name);
    memcpy(secret, name, strlen(name));
    if (getrandom(secret + strlen(name), random, 0) == (ssize_t)random) secret_count = sizeof secret;
}

// Pushes the name with its two neighbours in Lua's list.
static void push_names(lua_State *L) {
    lua_pushliteral(L, "__gc");
    lua_pushliteral(L, "__mode");
    lua_pushliteral(L, "__len");
}

// The position of the name's pointer in the state's block. NULL if it is missing or ambiguous.
static uintptr_t *find_name_pointer(lua_State *L, uintptr_t before, uintptr_t name, uintptr_t after) {
    uintptr_t *block = (uintptr_t *)((char *)L - LUA_EXTRASPACE), *place = NULL;
    for (size_t i = 1; i + 1 < clua_get(L)->state_size / sizeof *block; i++) {
        // A string pointer is recognized by its distance from the string's bytes, which is the same for all strings.
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
    uintptr_t *place = find_name_pointer(L, (uintptr_t)lua_tostring(L, -3), name, (uintptr_t)lua_tostring(L, -1));
    if (place && secret_count) {
        lua_pushlstring(L, secret, secret_count);
        *place += (uintptr_t)lua_tostring(L, -1) - name;
        lua_rawsetp(L, LUA_REGISTRYINDEX, &key_name);  // prevents its collection
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
