// What the thread sanitizer must be told to follow Lua and Swift.

#define _GNU_SOURCE

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)

#include <dlfcn.h>
#include <setjmp.h>
#include <stdint.h>

#define UNWATCHED __attribute__((disable_sanitizer_instrumentation))

// Lua as Debian builds it raises errors by this checked form of longjmp, which the sanitizer does not know: it would keep
// every frame that an error leaves on its own stack of calls. That stack is looked at with each allocation, and has an end.
UNWATCHED _Noreturn void __longjmp_chk(jmp_buf environment, int value) { longjmp(environment, value); }

// The module Synchronization compiles the short way of a Mutex into whoever uses it, where the sanitizer sees it. Its
// long way, when two threads meet, is a call of the kernel. So it passes here.
void __tsan_acquire(void *address);
void __tsan_release(void *address);

#define LOCK_SLOWLY "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOWLY "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define IN_SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

IN_SWIFT void clua_lock_slowly(uint32_t thread, SELF void *lock) __asm__(LOCK_SLOWLY);
IN_SWIFT void clua_unlock_slowly(SELF void *lock) __asm__(UNLOCK_SLOWLY);

UNWATCHED IN_SWIFT void clua_lock_slowly(uint32_t thread, SELF void *lock) {
    IN_SWIFT void (*original)(uint32_t, SELF void *) = (IN_SWIFT void (*)(uint32_t, SELF void *))dlsym(RTLD_NEXT, LOCK_SLOWLY);
    original(thread, lock);
    __tsan_acquire(lock);
}

UNWATCHED IN_SWIFT void clua_unlock_slowly(SELF void *lock) {
    IN_SWIFT void (*original)(SELF void *) = (IN_SWIFT void (*)(SELF void *))dlsym(RTLD_NEXT, UNLOCK_SLOWLY);
    __tsan_release(lock);
    original(lock);
}

#endif
#endif

// C wants a file to have something in it.
typedef int clua_nothing_else;
