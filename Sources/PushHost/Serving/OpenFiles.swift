import Glibc
import Logging

/// How many files and connections the process may have open.
enum OpenFiles {
    /// What the server needs beside its clients: its files, its connections to push services, and those that it takes to refuse
    /// them. Without any file left the system's libraries end the process, when they look how their threads are.
    private static let reserve = 512

    /// As many of the connections as the system has room for, at least a few; the limit is raised as far as that goes.
    static func room(for connections: Int, _ log: Logger) -> Int {
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(kind, &limit) == 0 else { return connections }
        if limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = limit.rlim_max
            _ = setrlimit(kind, &limit)
            guard getrlimit(kind, &limit) == 0 else { return connections }
        }
        let files = Int(clamping: limit.rlim_cur)
        let room = max(files - reserve, files / 4)
        guard connections > room else { return connections }
        guard connections < .max else { return room }
        log.warning(
            "at most \(room) connections are open at a time, not \(connections): the system allows \(files) files (ulimit -n)")
        return room
    }
}
