import Dispatch
import Glibc
import PushCore

/// Waits for something to happen in folders (inotify). What it was is for the waiting to find out: names of files that
/// editors write beside the ones they replace are of no use.
final class FolderWatch: Sendable {
    private let descriptor: Int32
    /// A pipe that ends the waiting.
    private let stopping: (read: Int32, write: Int32)
    private let queue = DispatchQueue(label: "watch")

    /// How long nothing must happen for a burst of writes to be over, and how long a burst can be.
    private static let quiet: Int32 = 60
    private static let longestBurst = 30

    /// Throws `watch.failed`.
    init() throws(PushError) {
        var ends: [Int32] = [0, 0]
        descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0, pipe(&ends) == 0 else { throw Self.failure() }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        stopping = (ends[0], ends[1])
    }

    deinit {
        for end in [descriptor, stopping.read, stopping.write] { close(end) }
    }

    /// Watches these folders too. Of a folder that is not there, the nearest one above it. Throws `watch.failed`.
    func add(_ folders: Set<String>) throws(PushError) {
        let mask = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF
        for folder in folders.sorted() {
            var path = folder
            while inotify_add_watch(descriptor, path, UInt32(mask)) < 0 {
                guard errno == ENOENT || errno == ENOTDIR, path != ".", path != "/" else { throw Self.failure() }
                path = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
            }
        }
    }

    /// Ends all waiting, that of the future too. May be called on any thread.
    func stop() { _ = write(stopping.write, [0], 1) }

    /// Waits until something has happened, and nothing more for a moment. False when it was stopped.
    func nextChange() async -> Bool {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                guard wait(-1) else { return continuation.resume(returning: false) }
                continuation.resume(returning: settleNow())
            }
        }
    }

    /// Waits until nothing has happened for a moment. False when it was stopped.
    func settle() async -> Bool {
        await withCheckedContinuation { continuation in
            queue.async { [self] in continuation.resume(returning: settleNow()) }
        }
    }

    private func settleNow() -> Bool {
        for _ in 0..<Self.longestBurst {
            guard hasEvents() else { break }
            guard wait(Self.quiet) else { return false }
        }
        return !isStopped
    }

    /// Waits for an event for so many milliseconds at most. False when it was stopped.
    private func wait(_ timeout: Int32) -> Bool {
        var waits = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0), pollfd(fd: stopping.read, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&waits, 2, timeout) < 0, errno == EINTR {}
        return waits[1].revents == 0
    }

    private var isStopped: Bool { !wait(0) }

    /// Forgets what has happened; answers whether anything had.
    private func hasEvents() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        var found = false
        while read(descriptor, &buffer, buffer.count) > 0 { found = true }
        return found
    }

    private static func failure() -> PushError {
        let hint = "the system's limits are fs.inotify.max_user_watches and max_user_instances"
        return PushError("watch.failed", "files cannot be watched: \(String(cString: strerror(errno)))", hint: hint)
    }
}
