import Glibc
import PushCore

/// The folder that holds everything a server keeps. One server at a time uses it.
final class DataFolder: Sendable {
    let path: String
    private let lock: Int32

    /// Makes the folder where there is none. Throws `data.unusable` and `data.in_use`.
    init(path: String) throws(PushError) {
        self.path = path
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw Self.unusable(path, errno) }
        lock = open("\(path)/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw Self.unusable(path, errno) }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            let number = errno
            close(lock)
            guard number == EWOULDBLOCK else { throw Self.unusable(path, number) }
            throw PushError(
                "data.in_use", "another server uses the data folder \(path)", hint: "end it, or name another folder with --data")
        }
    }

    deinit { close(lock) }

    var database: String { file("pushhost.sqlite") }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    static func unusable(_ path: String, _ number: Int32) -> PushError {
        PushError(
            "data.unusable", "the data folder \(path) cannot be used: \(String(cString: strerror(number)))",
            hint: "name a folder that you may write to with --data")
    }
}
