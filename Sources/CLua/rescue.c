// Aborts interpreter steps that do not end.
//
// Some steps of the interpreter can take as long as a script wants, without any check in between. For example, a growing table (also the
// compiler's table of constants) looks up each key behind all keys with the same hash; 64 MiB suffice for minutes. When a step takes too
// long, the signal handler of the tick abandons it: it jumps to the innermost entry from the host. It does so only across C frames, and
// only if the signal interrupted Lua's own code, which holds no lock.
//
// The abandoned state must not be used any more, only closed. Closing is possible because its objects are still linked; the block sizes
// that it reports are ignored. Large blocks known only to abandoned frames are in a list and are freed as well; small ones leak.

#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "internal.h"

// -- Exits

static __thread clua_exit *volatile t_exit;

UNWATCHED static int64_t count_host_frames(const clua_context *context) { return context->frames_entered - context->frames_left; }

bool clua_exit_is_next(const clua_context *context) {
    return t_exit && t_exit->context == context && t_exit->host_frames == count_host_frames(context) - 1;
}

// A tick cannot use this exit before sigsetjmp has filled it in: the entry has begun a new step, which lasts for many ticks.
sigjmp_buf *clua_exit_open(clua_exit *way_out, clua_context *context) {
    way_out->context = context;
    way_out->host_frames = count_host_frames(context);
    way_out->outer = t_exit;
    atomic_signal_fence(memory_order_release);
    t_exit = way_out;
    return &way_out->place;
}

void clua_exit_close(const clua_exit *way_out) { t_exit = way_out->outer; }

UNWATCHED clua_context *clua_exit_context(void) {
    const clua_exit *way_out = t_exit;
    // More host frames than at the time of opening mean that there are host frames in between.
    if (!way_out || count_host_frames(way_out->context) != way_out->host_frames) return NULL;
    return way_out->context->is_standard ? NULL : way_out->context;
}

void clua_exit_take(void) { siglongjmp(t_exit->place, 1); }

// -- Where the interpreter is

static uintptr_t code_of_lua, size_of_code;

static int find_code(struct dl_phdr_info *object, size_t size, void *entry) {
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) || (uintptr_t)entry - start >= segment->p_memsz) continue;
        // If Lua is linked into the program, its code cannot be distinguished from other code.
        if ((uintptr_t)find_code - start >= segment->p_memsz) code_of_lua = start, size_of_code = segment->p_memsz;
        return 1;
    }
    return 0;
}

static void find_lua(void) { dl_iterate_phdr(find_code, (void *)lua_newstate); }

void clua_exit_prepare(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_lua);
}

UNWATCHED bool clua_exit_is_safe(const void *interrupted) {
    const mcontext_t *machine = &((const ucontext_t *)interrupted)->uc_mcontext;
#if defined(__x86_64__)
    uintptr_t counter = (uintptr_t)machine->gregs[REG_RIP];
#elif defined(__aarch64__)
    uintptr_t counter = (uintptr_t)machine->pc;
#else
    uintptr_t counter = 0;
    (void)machine;
#endif
    return counter - code_of_lua < size_of_code;
}

// -- After an exit

static int by_address(const void *left, const void *right) {
    uintptr_t a = (uintptr_t)*(clua_large *const *)left, b = (uintptr_t)*(clua_large *const *)right;
    return (a > b) - (a < b);
}

int clua_exit_taken(const clua_exit *way_out) {
    clua_context *context = way_out->context;
    clua_watch_progress();
    sigset_t tick;  // blocked in the abandoned handler
    sigemptyset(&tick);
    sigaddset(&tick, SIGURG);
    pthread_sigmask(SIG_UNBLOCK, &tick, NULL);
    const char *chunk;
    int line;
    lua_State *running = clua_watch_running();
    if (context->run && running && clua_nearest_frame(running, 0, &chunk, &line))
        clua_place_set(&context->run->stopped_at, chunk, line);
    if (context->is_abandoned) return CLUA_ABANDONED;  // abandoned by a nested entry within a host call
    context->is_abandoned = true;
    size_t count = 0;
    for (clua_large *block = context->large; block; block = block->next) count++;
    context->abandoned = malloc((count + 1) * sizeof *context->abandoned);
    if (!context->abandoned) abort();
    for (clua_large *block = context->large; block; block = block->next) context->abandoned[context->abandoned_count++] = block;
    qsort(context->abandoned, context->abandoned_count, sizeof *context->abandoned, by_address);
    return CLUA_ABANDONED;
}

void clua_free_abandoned(clua_context *context, void *block) {
    clua_large *header = (clua_large *)block - 1;
    if (!bsearch(&header, context->abandoned, context->abandoned_count, sizeof header, by_address)) free(block);
}

// -- Large blocks

static clua_large *link_large(clua_context *context, clua_large *header) {
    header->next = context->large;
    header->link = &context->large;
    if (header->next) header->next->link = &header->next;
    return context->large = header;
}

static void unlink_large(clua_large *header) {
    *header->link = header->next;
    if (header->next) header->next->link = header->link;
}

void *clua_allocate_large(clua_context *context, size_t size) {
    clua_large *header = malloc(sizeof *header + size);
    return header ? link_large(context, header) + 1 : NULL;
}

void clua_release_large(void *block) {
    clua_large *header = (clua_large *)block - 1;
    unlink_large(header);
    free(header);
}

void *clua_resize_large(clua_context *context, void *block, size_t size) {
    clua_large *header = (clua_large *)block - 1;
    unlink_large(header);
    clua_large *fresh = realloc(header, sizeof *header + size);
    link_large(context, fresh ? fresh : header);
    return fresh ? fresh + 1 : NULL;
}

void clua_free_large(clua_context *context) {
    while (context->large) clua_release_large(context->large + 1);
    free(context->abandoned);
}
