import Foundation

/// The test process's limit of open files. All suites run in it concurrently, each with its own sockets and pipes.
enum OpenFileLimit {
    /// The limit after it was raised. Smaller than wanted if the system does not allow more.
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
