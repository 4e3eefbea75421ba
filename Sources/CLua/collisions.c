// Tables whose keys collide.
//
// Lua hashes texts with a seed, but numbers without one: a script can choose numbers that spread well in every table but the
// next larger one, and share a single place there. When the table grows, each of them is looked up behind all that went before,
// in one step of the interpreter that nothing can stop: 130,000 keys take twenty seconds. So before a large table grows its keys
// are looked at, where they stand. When growing would take too long, there is no memory for it.
//
// A table asks the allocator for its larger array of nodes while it still has the old one. Arrays of nodes are told from other
// blocks by their size. Which one belongs to the table that grows is not known; it is full, and others of its size rarely are.

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

// As in lobject.h of Lua 5.4.
typedef struct node {
    union {
        lua_Integer integer;
        lua_Number number;
    } value;
    uint8_t value_type;
    uint8_t key_type;
    int next;
    union {
        lua_Integer integer;
        lua_Number number;
    } key;
} node;
enum { NO_KEY = 0, INTEGER_KEY = LUA_TNUMBER, FLOAT_KEY = LUA_TNUMBER | 1 << 4, TYPE_BITS = 0x0F };

enum { LEAST_NODES = 4096, NODES_FOR_COUNTER = 16 };
// Steps along the chains of colliding nodes, of which a millisecond has some hundred thousand.
enum { ACCEPTED_STEPS = 10 * 1000 * 1000, ACCEPTED_FOR_NODE = 32 };
_Static_assert(CLUA_LEAST_NODE_BYTES == LEAST_NODES * sizeof(node), "the size from which on arrays of nodes are known");

// What stands before an array of nodes.
struct clua_nodes {
    clua_nodes *next, **link;
    size_t count;
    size_t unused;  // keeps what follows at a multiple of 16
};

bool clua_is_size_of_nodes(size_t size) {
    size_t count = size / sizeof(node);
    return size % sizeof(node) == 0 && (count & (count - 1)) == 0;
}

static node *nodes_of(const clua_nodes *array) { return (node *)(array + 1); }

void *clua_take_nodes(clua_context *context, size_t size) {
    clua_nodes *array = malloc(sizeof *array + size);
    if (!array) return NULL;
    array->count = size / sizeof(node);
    array->next = context->nodes;
    array->link = &context->nodes;
    if (array->next) array->next->link = &array->next;
    context->nodes = array;
    // Whatever is in the block before Lua writes to it, it is no array that is full.
    memset(nodes_of(array), 0, sizeof(node));
    return nodes_of(array);
}

void clua_give_nodes(void *block) {
    clua_nodes *array = (clua_nodes *)block - 1;
    *array->link = array->next;
    if (array->next) array->next->link = array->link;
    free(array);
}

// -- Before a table grows

static uint64_t hash_of_float(double number) {  // l_hashfloat
    int exponent;
    double scaled = frexp(number, &exponent) * -(double)INT_MIN;
    if (!(scaled >= (double)INT64_MIN && scaled < -(double)INT64_MIN)) return 0;  // no number, or without end
    unsigned hash = (unsigned)exponent + (unsigned)(int64_t)scaled;
    return hash <= INT_MAX ? hash : ~hash;
}

static bool is_full(const clua_nodes *array) {
    const node *nodes = nodes_of((clua_nodes *)array);
    for (size_t i = 0; i < array->count; i++) {
        if (nodes[i].key_type == NO_KEY) return false;
    }
    return true;
}

// Whether it takes too long to put the numbers among the keys into an array of so many nodes. Chains are as long as many keys
// share a place: the sum of the squares counts, of places or of some together.
static bool takes_long(const clua_nodes *array, size_t count) {
    size_t counters = count / NODES_FOR_COUNTER;
    int shift = __builtin_clzll(counters) + 1;
    uint32_t *counts = calloc(counters, sizeof *counts);
    if (!counts) return true;
    const node *nodes = nodes_of((clua_nodes *)array);
    uint64_t steps = 0;
    for (size_t i = 0; i < array->count; i++) {
        const node *node = &nodes[i];
        if ((node->value_type & TYPE_BITS) == LUA_TNIL) continue;
        uint64_t hash;
        if (node->key_type == INTEGER_KEY)
            hash = (uint64_t)node->key.integer;
        else if (node->key_type == FLOAT_KEY)
            hash = hash_of_float(node->key.number);
        else
            continue;
        uint64_t place = hash % ((count - 1) | 1);
        steps += counts[place * 0x9E3779B97F4A7C15u >> shift]++;
    }
    free(counts);
    return steps > ACCEPTED_STEPS + ACCEPTED_FOR_NODE * (uint64_t)count;
}

bool clua_would_collide(const clua_context *context, size_t size) {
    size_t count = size / sizeof(node);
    for (const clua_nodes *array = context->nodes; array; array = array->next) {
        // A larger one too, when most of its keys have no value any more.
        if (array->count >= count / 2 && is_full(array) && takes_long(array, count)) return true;
    }
    return false;
}
