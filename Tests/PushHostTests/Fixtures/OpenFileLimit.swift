import Foundation

/// How many files the test process may have open: all suites run in it side by side, each with its sockets and pipes.
enum OpenFileLimit {
    /// What it was raised to; where the system allows no more, less than was wanted.
    static let raised: UInt = {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        if limit.rlim_cur < 8192 {
            limit.rlim_cur = min(8192, limit.rlim_max)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
        return limit.rlim_cur
    }()
}
