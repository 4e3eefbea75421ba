import Glibc
package import Logging
package import PushModel

/// The limit of open files and sockets of the process.
package enum DescriptorLimit {
    /// Descriptors reserved for files, connections to push services, and connections that are accepted to be rejected. The system's
    /// libraries end the process if it runs out of descriptors.
    private static let reserve = 512

    /// Raises the limit and returns how many of a server's `connections` it allows.
    package static func connectionLimit(for connections: Int, isLab: Bool, _ log: Logger) -> Int {
        guard let files = raisedLimit else { return connections }
        let limit = connectionLimit(in: files, beside: filesOfServer(isLab: isLab))
        guard connections > limit else { return connections }
        guard connections < .max else { return limit }
        log.warning(
            "limiting connections to \(limit), not \(connections): the system allows \(files) files (ulimit -n)")
        return limit
    }

    /// Raises the limit and returns how many connections it allows to a program that runs simulators.
    ///
    /// - Parameter threads: number of its own event loops.
    package static func simulatorConnectionLimit(threads: Int) -> Int {
        raisedLimit.map { connectionLimit(in: $0, beside: filesOfSimulators(threads: threads)) } ?? .max
    }

    /// Raises the limit and returns how many connections it allows to the owner's commands.
    package static var commandConnectionLimit: Int { raisedLimit.map { max($0 - reserve, $0 / 4) / 4 } ?? .max }

    /// The number of connections that leaves the reserve free. With a low limit it is a quarter of the limit, if the program's own files
    /// allow that.
    private static func connectionLimit(in files: Int, beside own: Int) -> Int {
        max(files - reserve, min(files / 4, files - own - closing))
    }

    /// The limit after raising it to the maximum; nil if it cannot be read.
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

    /// Descriptors of an event loop. SwiftNIO ends the process if it cannot open them.
    package static let filesPerLoop = 3
    /// Descriptors of the process's shared event loops, which all start at once.
    package static var sharedLoopFiles: Int { filesPerLoop * max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

    /// Descriptors of a server besides its loops: the database, its sockets, connections to push services, and temporary needs of commands.
    private static let ofServer = 28
    /// Additional descriptors of a lab: its ports, its files, and connections to its services.
    private static let labFiles = 24
    /// Descriptors of simulators besides their loops: ports, keys, the ledger, and temporary needs of the system's libraries.
    private static let ofSimulators = 24
    /// The minimum number of client connections.
    private static let minimumConnections = 16
    /// Connections that are accepted while others close, or to be rejected.
    private static let closing = 8

    private static func filesOfServer(isLab: Bool) -> Int { sharedLoopFiles + ofServer + (isLab ? labFiles : 0) }

    private static func filesOfSimulators(threads: Int) -> Int { sharedLoopFiles + threads * filesPerLoop + ofSimulators }

    /// Throws `serve.files` if the process may not open enough files for a server.
    package static func requireForServer(isLab: Bool) throws(PushError) {
        guard let limit = raisedLimit else { return }
        let needed = filesOfServer(isLab: isLab) + minimumConnections
        guard let free = shortage(of: needed, limit) else { return }
        throw PushError(
            "serve.files",
            "the server needs \(needed) files and sockets, and the system allows \(limit), of which \(free) are free; not started",
            hint: "raise the limit with ulimit -n, or with LimitNOFILE= of systemd; each client needs one file")
    }

    /// Throws `simulators.unusable` if the process may not open enough files for simulators and their clients.
    ///
    /// - Parameters:
    ///   - threads: number of the program's own event loops.
    ///   - purpose: what needs them, for example `pushhost simulate apns`.
    package static func requireForSimulators(threads: Int, for purpose: String) throws(PushError) {
        try require(filesOfSimulators(threads: threads) + minimumConnections, for: purpose)
    }

    /// The number of free descriptors if it is less than `count`, else nil.
    private static func shortage(of count: Int, _ limit: Int) -> Int? {
        // Most free descriptors have low numbers, so this loop ends early.
        var free = 0
        for number in 0..<limit where fcntl(Int32(number), F_GETFD) == -1 {
            free += 1
            if free == count { return nil }
        }
        return free
    }

    /// Throws `simulators.unusable` if `count` more files cannot be opened.
    ///
    /// - Parameters:
    ///   - purpose: what needs them, for example `--wire network`.
    ///   - hint: an alternative to raising the limit.
    package static func require(_ count: Int, for purpose: String, hint: String? = nil) throws(PushError) {
        guard let limit = raisedLimit else { return }
        guard let free = shortage(of: count, limit) else { return }
        throw PushError(
            "simulators.unusable",
            "\(purpose) opens up to \(count) files and sockets, and the system allows \(limit) in all, of which \(free) are free",
            hint: "allow more with ulimit -n\(hint.map { ", or \($0)" } ?? "")")
    }

    /// What to do about an error on opening a socket.
    package static func hint(for error: CInt) -> String {
        switch error {
        case EMFILE: "allow more open files with ulimit -n\(raisedLimit.map { ", which is \($0)" } ?? "")"
        case ENFILE: "the system has too many open files: end programs, or raise fs.file-max"
        default: "the system has no memory for sockets: end programs"
        }
    }
}
