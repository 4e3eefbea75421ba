// Definitions that let the thread sanitizer follow Lua and Swift.

#define _GNU_SOURCE

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)

#include <dlfcn.h>
#include <setjmp.h>
#include <stdint.h>

#define UNWATCHED __attribute__((disable_sanitizer_instrumentation))

// Debian's Lua raises errors with this checked variant of longjmp, which the sanitizer does not know. It would keep every abandoned frame
// on its shadow stack, which is read with each allocation and is limited.
UNWATCHED _Noreturn void __longjmp_chk(jmp_buf environment, int value) { longjmp(environment, value); }

// The fast path of Swift's Mutex is inlined, so the sanitizer sees it. The slow path, taken under contention, is a system call that it does
// not see. Here that call reports to the sanitizer.
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

// ISO C requires a translation unit to contain a declaration.
typedef int clua_nothing_else;
