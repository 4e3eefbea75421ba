import Glibc

/// What ends a child process that hangs.
enum HangGuard {
    /// Lets the kernel end the process once it has used so much CPU time from now on, without writing its memory to a file.
    ///
    /// CPU time, because other work of the machine, or a sanitizer, may make anything take its time. For what hangs without
    /// computing there are two minutes.
    static func arm(milliseconds: Int = 10_000) {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(4), &none)  // RLIMIT_CORE
        var timer = itimerval()
        timer.it_value = timeval(tv_sec: milliseconds / 1_000, tv_usec: milliseconds % 1_000 * 1_000)
        setitimer(__itimer_which_t(2), &timer, nil)  // ITIMER_PROF
        _ = alarm(120)
    }
}
