// CPU accounting, budgets and preemption without a permanent hook.
//
// A count hook makes every interpreter instruction take the slow path (about twice the time), so none is set by default. Instead, a timer
// on the thread's CPU clock ticks a few times per 20 ms of work. Its signal handler charges the tick to the current run. If a resume has
// lasted for a whole tick, it sets a hook from within the thread, like stand-alone `lua` does for SIGINT. An idle thread uses no CPU and
// gets no ticks.

#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

enum { TICK_NS = 5 * 1000 * 1000, HOOK_COUNT = 1000, METER_COUNT = 100, CREDIT = 1000 };
static const int64_t cleanup_grace_ns = 1000 * 1000 * 1000LL;
// Maximum time of one interpreter step; the time after which a probing hook is set; and additional time per MiB of memory: a full
// collection of small tables in random order takes about 4 ms per MiB.
static const int64_t step_ns = 300 * 1000 * 1000, question_ns = 100 * 1000 * 1000, step_ns_for_mebibyte = 10 * 1000 * 1000;

// The thread sanitizer delays signals until the thread calls an intercepted function. Lua code that computes calls none and could never be
// stopped. Therefore the handler is installed without the sanitizer's knowledge and is not instrumented.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
extern int __sigaction(int, const struct sigaction *, struct sigaction *);
#define set_handler __sigaction
// The sanitizer's clock_gettime takes locks that the interrupted code may hold.
#define read_clock(clock, time) syscall(SYS_clock_gettime, clock, time)
#endif
#endif
#ifndef set_handler
#define set_handler sigaction
#define read_clock clock_gettime
#endif

typedef struct watch {
    lua_State *volatile running;
    clua_run *volatile run;
    volatile uint64_t epoch;       // number of resumes
    volatile uint64_t seen_epoch;  // at the latest tick
    volatile int64_t ticks;
    volatile int64_t host_ns;      // CPU time outside of runs
    volatile sig_atomic_t pending;  // a hook was requested and has not executed yet
    volatile int64_t step_ns;       // CPU time since the latest sign of progress
    size_t progress_memory;               // signs of progress: changes of memory in use, host calls, other resumes
    int64_t step_frames;
    uint64_t step_epoch;
    const int32_t *runs;
    uintptr_t stack_middle;
    timer_t timer;
    bool has_timer;
} watch;

static __thread watch t_watch;

static void hook(lua_State *L, lua_Debug *unused);

// -- Accounting. The signal handler adds to these values too, so all accesses are atomic.

UNWATCHED int64_t clua_account_cpu(const clua_account *account) { return __atomic_load_n(&account->cpu_used_ns, __ATOMIC_RELAXED); }

UNWATCHED void clua_account_add_cpu(clua_account *account, int64_t nanoseconds) {
    __atomic_add_fetch(&account->cpu_used_ns, nanoseconds, __ATOMIC_RELAXED);
}

void clua_account_set_cpu(clua_account *account, int64_t nanoseconds) {
    __atomic_store_n(&account->cpu_used_ns, nanoseconds, __ATOMIC_RELAXED);
}

UNWATCHED bool clua_account_is_spent(const clua_account *account) {
    return __atomic_load_n(&account->is_spent, __ATOMIC_ACQUIRE) != 0;
}

void clua_account_set_spent(clua_account *account, bool is_spent) {
    __atomic_store_n(&account->is_spent, is_spent ? 1 : 0, __ATOMIC_RELEASE);
}

UNWATCHED static int32_t pending_stop(const clua_run *run) {
    if (run->stop) return run->stop;
    if (run->fuel_limit && run->fuel < 0) return CLUA_STOP_FUEL;
    int64_t used = clua_account_cpu(run->account);
    if (used > run->account->cpu_limit_ns) return CLUA_STOP_CPU;
    if (clua_account_is_spent(run->account)) return CLUA_STOP_ACCOUNT;
    if (run->deadline_ns && clua_monotonic_ns() > run->deadline_ns) return CLUA_STOP_WALL;
    if (run->grace_limit_ns && used > run->grace_limit_ns) return CLUA_STOP_CANCEL;
    if (run->grace_deadline_ns && clua_monotonic_ns() > run->grace_deadline_ns) return CLUA_STOP_CANCEL;
    return CLUA_STOP_NONE;
}

UNWATCHED static bool has_undelivered_cancel(const clua_run *run) { return !run->grace_limit_ns && clua_run_is_cancelled(run); }

// A script may spend milliseconds per instruction, in long library functions. An urgent hook therefore waits for one instruction only.
UNWATCHED static int hook_count(const clua_run *run) {
    return run && (pending_stop(run) || has_undelivered_cancel(run)) ? 1 : HOOK_COUNT;
}

// Whether the coroutine's hook is missing, or was set before the stop became urgent.
UNWATCHED static bool needs_hook(lua_State *L, int count) { return lua_gethook(L) != hook || lua_gethookcount(L) > count; }

// With the debug library a script may have its own hook, which is replaced only if a stop is urgent.
UNWATCHED static bool has_other_hook(lua_State *L) {
    lua_Hook present = lua_gethook(L);
    return present && present != hook;
}

UNWATCHED static bool has_others(const watch *w) { return w->runs && __atomic_load_n(w->runs, __ATOMIC_RELAXED) > 1; }

UNWATCHED static void watch_step(watch *w, const void *interrupted) {
    const clua_context *context = clua_exit_context();
    if (!context || context->used != w->progress_memory || context->frames_entered != w->step_frames || w->epoch != w->step_epoch) {
        w->step_ns = 0;
        if (context) w->progress_memory = context->used, w->step_frames = context->frames_entered;
        w->step_epoch = w->epoch;
        return;
    }
    w->step_ns += TICK_NS;
    if (w->step_ns < question_ns) return;
    // If the step ends, the hook executes at the next instruction and reports progress. A permanent hook executes anyway.
    if (w->running && w->run && !w->run->fuel_limit && needs_hook(w->running, 1)) {
        w->pending = 1;
        lua_sethook(w->running, hook, LUA_MASKCOUNT, 1);
    }
    if (w->step_ns > step_ns + (int64_t)(context->used >> 20) * step_ns_for_mebibyte && clua_exit_is_safe(interrupted)) clua_exit_take();
}

UNWATCHED static void on_tick(int signal_number, siginfo_t *information, void *interrupted) {
    (void)signal_number, (void)information;
    watch *w = &t_watch;
    clua_run *run = w->run;
    w->ticks++;
    watch_step(w, interrupted);
    int missed = timer_getoverrun(w->timer);
    int64_t spent = (int64_t)TICK_NS * (1 + (missed > 0 ? missed : 0));
    if (!run) {
        __atomic_add_fetch(&w->host_ns, spent, __ATOMIC_RELAXED);
        return;
    }
    clua_account_add_cpu(run->account, spent);
    if (run->is_bystander && run->grace_limit_ns) run->grace_limit_ns += spent;  // bystanders must not reduce the time for the cleanup
    if (w->seen_epoch == w->epoch && w->running) {
        // Setting a hook walks all frames of the stack. A hook that is set waits for the next instruction. Setting it at every tick would
        // leave no time to get there while a deep stack unwinds.
        int count = hook_count(run);
        // A run alone on the thread is not preempted.
        if (count != 1 && (!has_others(w) || has_other_hook(w->running))) return;
        if (!w->pending || needs_hook(w->running, count)) {
            w->pending = 1;
            // A permanent hook checks `pending` itself; setting it again would restart its count.
            if (!run->fuel_limit || count == 1) lua_sethook(w->running, hook, LUA_MASKCOUNT, count);
        }
    }
    w->seen_epoch = w->epoch;
}

void clua_watch_start(const char *name, const int32_t *runs) {
    watch *w = &t_watch;
    char short_name[16];  // the maximum length on Linux
    snprintf(short_name, sizeof short_name, "%s", name);
    clua_exit_prepare();
    pthread_setname_np(pthread_self(), short_name);
    memset(w, 0, sizeof *w);
    w->runs = runs;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        void *lowest;
        size_t size;
        if (pthread_attr_getstack(&attributes, &lowest, &size) == 0) w->stack_middle = (uintptr_t)lowest + size / 2;
        pthread_attr_destroy(&attributes);
    }
    struct sigaction action = {.sa_sigaction = on_tick, .sa_flags = SA_RESTART | SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    set_handler(SIGURG, &action, NULL);
    sigset_t tick_signal;  // a thread inherits its creator's mask; libdispatch's workers block nearly all signals
    sigemptyset(&tick_signal);
    sigaddset(&tick_signal, SIGURG);
    pthread_sigmask(SIG_UNBLOCK, &tick_signal, NULL);
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGURG};
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &w->timer) != 0) return;
    w->has_timer = true;
    struct itimerspec every = {.it_interval = {0, TICK_NS}, .it_value = {0, TICK_NS}};
    timer_settime(w->timer, 0, &every, NULL);
}

void clua_watch_stop(void) {
    watch *w = &t_watch;
    if (w->has_timer) timer_delete(w->timer);
    w->has_timer = false;
}

int64_t clua_ticks(void) { return t_watch.ticks; }

// Exchanges only if there is something to exchange, because this is called after each piece of work.
int64_t clua_take_host_ns(void) {
    return t_watch.host_ns ? __atomic_exchange_n(&t_watch.host_ns, 0, __ATOMIC_RELAXED) : 0;
}

// -- Instruction budgets
//
// Only a run with such a budget gets a permanent hook, on each of its coroutines. New coroutines inherit the hook but not its count, so
// many short ones would escape it: each is charged a whole count. Charges depend only on what the script does, not on addresses, hashes or
// the clock, so it stops at the same point in every process.

static void meter(lua_State *L, clua_run *run) {
    if (!run || !run->fuel_limit || !L || lua_gethook(L) == hook) return;
    lua_sethook(L, hook, LUA_MASKCOUNT, METER_COUNT);
    run->credit -= METER_COUNT;
}

void clua_charge_coroutine(lua_State *L) {
    clua_run *run = clua_get(L)->run;
    clua_charge(L, run && run->fuel_limit ? METER_COUNT : 1);
}

void clua_run_refuel(clua_run *run, int64_t instructions) {
    run->fuel_limit = run->fuel = instructions;
    run->credit = CREDIT;
}

static void settle_charges(clua_run *run) {
    if (run->fuel_limit) run->fuel -= CREDIT - run->credit;
    run->credit = CREDIT;
}

clua_watch_scope clua_watch_enter(lua_State *L, clua_run *run) {
    watch *w = &t_watch;
    clua_watch_scope previous = {w->running, w->run};
    w->running = NULL;  // the handler must never see a coroutine with the wrong run
    w->run = run;
    w->epoch++;
    w->pending = 0;
    meter(L, run);
    w->running = L;
    return previous;
}

void clua_watch_leave(clua_watch_scope previous) {
    watch *w = &t_watch;
    w->running = NULL;
    w->run = previous.run;
    w->epoch++;
    w->pending = 0;
    w->running = previous.running;
}

lua_State *clua_watch_switch(lua_State *L) {
    watch *w = &t_watch;
    lua_State *before = w->running;
    meter(L, w->run);
    w->running = L;
    // A hook that was set on the previous coroutine and did not execute is needed here. An existing hook stays: setting it again would
    // restart its count, and many short coroutines would never reach its end.
    if (w->pending && L) {
        int count = hook_count(w->run);
        if (needs_hook(L, count) && (count == 1 || !has_other_hook(L))) lua_sethook(L, hook, LUA_MASKCOUNT, count);
    }
    return before;
}

lua_State *clua_watch_running(void) { return t_watch.running; }

bool clua_stack_is_short(void) { return (uintptr_t)__builtin_frame_address(0) < t_watch.stack_middle; }

void clua_watch_progress(void) { t_watch.step_ns = 0; }

void clua_hook_now(lua_State *L) { lua_sethook(L, hook, LUA_MASKCOUNT, 1); }

// -- Budgets

UNWATCHED int64_t clua_monotonic_ns(void) {
    struct timespec now;
    read_clock(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int64_t clua_thread_cpu_ns(void) {
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return used.tv_sec * 1000000000LL + used.tv_nsec;
}

void clua_run_cancel(clua_run *run) { __atomic_store_n(&run->cancel_requested, 1, __ATOMIC_RELEASE); }

void clua_run_forget_cancel(clua_run *run) { __atomic_store_n(&run->cancel_requested, 0, __ATOMIC_RELEASE); }

UNWATCHED bool clua_run_is_cancelled(const clua_run *run) {
    return __atomic_load_n(&run->cancel_requested, __ATOMIC_ACQUIRE) != 0;
}

void clua_count_add(int32_t *count, int32_t change) { __atomic_add_fetch(count, change, __ATOMIC_RELAXED); }

bool clua_run_check(clua_run *run) {
    run->stop = pending_stop(run);
    return run->stop != CLUA_STOP_NONE;
}

static void raise_stop(lua_State *L, clua_run *run) {
    const char *chunk;
    int line;
    if (!run->stopped_at.chunk && clua_nearest_frame(L, 0, &chunk, &line)) clua_place_set(&run->stopped_at, chunk, line);
    run->credit = 0;  // the next charge raises again
    // From here on every instruction raises again: code that catches this gets no further than its next instruction.
    clua_hook_now(L);
    lua_pushliteral(L, "stopped");
    lua_error(L);
}

// Raised once, as an error that can be caught, so that the script can clean up.
static void raise_cancellation(lua_State *L, clua_run *run) {
    run->grace_limit_ns = clua_account_cpu(run->account) + cleanup_grace_ns;
    clua_raise_cancelled(L);
}

void clua_settle(lua_State *L) {
    clua_run *run = clua_get(L)->run;
    clua_watch_progress();
    settle_charges(run);
    luaL_checkstack(L, 1, NULL);
    if (clua_run_check(run)) raise_stop(L, run);
    if (has_undelivered_cancel(run) && !run->is_bystander) raise_cancellation(L, run);
}

static void hook(lua_State *L, lua_Debug *unused) {
    (void)unused;
    clua_watch_progress();
    clua_context *context = clua_get(L);
    clua_run *run = context->run;
    bool is_metered = run && run->fuel_limit;
    if (is_metered) {
        run->fuel -= lua_gethookcount(L);
        settle_charges(run);
        if (!t_watch.pending && !run->stop && run->fuel >= 0) return;
    }
    t_watch.pending = 0;
    if (run && clua_run_check(run)) raise_stop(L, run);
    if (!is_metered)
        lua_sethook(L, NULL, 0, 0);
    else if (lua_gethookcount(L) != METER_COUNT)
        lua_sethook(L, hook, LUA_MASKCOUNT, METER_COUNT);
    if (!run) return;
    bool is_cancelled = has_undelivered_cancel(run);
    if (is_cancelled && !run->is_bystander) raise_cancellation(L, run);
    // A run alone on the thread keeps it, so the order of its operations does not depend on a clock. A bystander of a cancellation yields,
    // so that the driver can deliver the cancellation.
    if ((has_others(&t_watch) || is_cancelled) && context->no_yield == 0 && lua_isyieldable(L)) {
        context->preempted = 1;
        context->host_yield = 1;
        lua_yield(L, 0);
    }
}
