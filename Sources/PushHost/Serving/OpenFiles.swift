import Glibc
import Logging
import PushCore

/// How many files and connections the process may have open.
enum OpenFiles {
    /// What the server needs beside its clients: its files, its connections to push services, and those that it takes to refuse
    /// them. Without any file left the system's libraries end the process, when they look how their threads are.
    private static let reserve = 512

    /// As many of the connections as the system has room for, at least a few; the limit is raised as far as that goes.
    static func room(for connections: Int, _ log: Logger) -> Int {
        guard let files = raisedLimit else { return connections }
        let room = max(files - reserve, files / 4)
        guard connections > room else { return connections }
        guard connections < .max else { return room }
        log.warning(
            "at most \(room) connections are open at a time, not \(connections): the system allows \(files) files (ulimit -n)")
        return room
    }

    /// The limit, raised as far as that goes.
    private static var raisedLimit: Int? {
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(kind, &limit) == 0 else { return nil }
        if limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = limit.rlim_max
            _ = setrlimit(kind, &limit)
            guard getrlimit(kind, &limit) == 0 else { return nil }
        }
        return Int(clamping: limit.rlim_cur)
    }

    /// What an event loop has open: it ends the process where it cannot have that.
    static let ofLoop = 3
    /// The event loops of the process, which all begin at once.
    static var ofSharedLoops: Int { ofLoop * max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

    /// Of a server beside its loops: the database, its sockets, connections to push services, and what commands need for a while.
    private static let ofServer = 28
    /// Of a lab in it: its ports, its files, and its connections to the services in it.
    private static let ofLab = 24
    /// With less a server serves nobody.
    private static let leastConnections = 16

    /// Throws `serve.files` where a server would run out of files at once.
    static func requireForServer(isLab: Bool) throws(PushError) {
        guard let limit = raisedLimit else { return }
        let needed = ofSharedLoops + ofServer + (isLab ? ofLab : 0) + leastConnections
        guard let free = shortage(of: needed, limit) else { return }
        throw PushError(
            "serve.files",
            "the server needs \(needed) files and sockets, and the system allows \(limit), of which \(free) are free; it was not started",
            hint: "allow more with ulimit -n, or LimitNOFILE= of systemd; each client needs one more")
    }

    /// How many are free where these are fewer than so many.
    private static func shortage(of count: Int, _ limit: Int) -> Int? {
        // The numbers that are free are the lowest, but for a few.
        var free = 0
        for number in 0..<limit where fcntl(Int32(number), F_GETFD) == -1 {
            free += 1
            if free == count { return nil }
        }
        return free
    }

    /// Throws `simulators.unusable` where so many more files cannot be opened.
    ///
    /// - Parameters:
    ///   - purpose: such as `--wire network`.
    ///   - hint: what else there is to do.
    static func require(_ count: Int, for purpose: String, hint: String? = nil) throws(PushError) {
        guard let limit = raisedLimit else { return }
        guard let free = shortage(of: count, limit) else { return }
        throw PushError(
            "simulators.unusable",
            "\(purpose) opens up to \(count) files and sockets, and the system allows \(limit) in all, of which \(free) are free",
            hint: "allow more with ulimit -n\(hint.map { ", or \($0)" } ?? "")")
    }

    /// Why sockets are not to be had, with what to do about it.
    static func hint(for error: CInt) -> String {
        switch error {
        case EMFILE: "allow more open files with ulimit -n\(raisedLimit.map { ", which is \($0)" } ?? "")"
        case ENFILE: "the whole system has as many files open as it may: end programs, or raise fs.file-max"
        default: "the system has no memory left for sockets: end programs"
        }
    }
}
