import Glibc

/// Ends a child process that hangs.
enum HangGuard {
    /// Makes the kernel end the process after this much more CPU time, without a core dump.
    ///
    /// The limit is CPU time because other processes or a sanitizer may slow the test down. A process that hangs without
    /// computing is ended after two minutes.
    static func arm(milliseconds: Int = 10_000) {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(4), &none)  // RLIMIT_CORE
        var timer = itimerval()
        timer.it_value = timeval(tv_sec: milliseconds / 1_000, tv_usec: milliseconds % 1_000 * 1_000)
        setitimer(__itimer_which_t(2), &timer, nil)  // ITIMER_PROF
        _ = alarm(120)
    }
}
