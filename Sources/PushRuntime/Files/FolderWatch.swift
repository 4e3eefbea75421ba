import Dispatch
import Glibc
package import PushModel
import Synchronization

/// Waits for changes of files (inotify). The caller determines what has changed.
package final class FolderWatch: Sendable {
    private let descriptor: Int32
    /// A pipe whose data interrupts the wait for events.
    private let wake: (read: Int32, write: Int32)
    private let isStopped = Mutex(false)
    /// The names to watch in each folder, by watch descriptor.
    private let watched = Mutex<[Int32: FolderNames]>([:])
    private let queue = DispatchQueue(label: "watch")
    /// Whether to stop when the reader of standard output has closed it.
    private let endsWithOutput: Bool

    /// The quiet time that ends a burst of writes, and the maximum length of a burst.
    private let quiet: Duration
    private let longestBurst: Duration

    /// Throws `watch.failed`.
    package init(
        endsWithOutput: Bool, quiet: Duration = .milliseconds(60), longestBurst: Duration = .seconds(5)
    ) throws(PushError) {
        self.endsWithOutput = endsWithOutput
        self.quiet = quiet
        self.longestBurst = longestBurst
        var ends: [Int32] = [0, 0]
        descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0, pipe(&ends) == 0 else { throw Self.failure(errno) }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        wake = (ends[0], ends[1])
    }

    deinit {
        for end in [descriptor, wake.read, wake.write] { close(end) }
    }

    /// Watches everything that determines where `paths` lead, and all entries of `folders`, and stops watching anything else. Returns
    /// `false` if some folders cannot be watched because they are not readable. Throws `watch.failed`.
    package func follow(_ paths: Set<String>, allIn folders: Set<String>) throws(PushError) -> Bool {
        var trail = PathWatcher(descriptor)
        for path in paths { try trail.follow(path) }
        for folder in folders { try trail.watch(folder, .all) }
        let old = watched.withLock { watched in
            defer { watched = trail.watched }
            return watched.keys.filter { trail.watched[$0] == nil }
        }
        for number in old { inotify_rm_watch(descriptor, number) }
        return trail.isComplete
    }

    /// Ends the current wait and all later ones. Callable from any thread.
    package func stop() {
        isStopped.withLock { $0 = true }
        look()
    }

    /// Ends the current wait as if a change had happened. Callable from any thread.
    package func look() { _ = write(wake.write, [0], 1) }

    /// Waits for a change and the end of its burst, or until `limit` has passed. Returns `false` if the watch was stopped or the output was
    /// closed.
    package func next(within limit: Duration?) async -> Bool {
        await onQueue { [self] in
            switch listen(for: limit) {
            case .changes: settleNow()
            case .nothing: true
            case .end: false
            }
        }
    }

    /// Waits for the end of a burst. Returns `false` as `next(within:)` does.
    package func settle() async -> Bool { await onQueue { [self] in settleNow() } }

    private func onQueue(_ work: @escaping @Sendable () -> Bool) async -> Bool {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: work()) }
        }
    }

    private func settleNow() -> Bool {
        let end = ContinuousClock.now + longestBurst
        while ContinuousClock.now < end {
            switch listen(for: quiet) {
            case .changes: continue
            case .nothing: return true
            case .end: return false
            }
        }
        return true
    }

    private enum ReadResult { case changes, nothing, end }

    private func listen(for limit: Duration?) -> ReadResult {
        let deadline = limit.map { ContinuousClock.now + $0 }
        while true {
            let left = deadline.map { Int32((max(.zero, $0 - .now) / .milliseconds(1)).rounded(.up)) }
            // For the output only its end matters, which poll always reports.
            var waits = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0), pollfd(fd: wake.read, events: Int16(POLLIN), revents: 0),
                pollfd(fd: endsWithOutput ? STDOUT_FILENO : -1, events: 0, revents: 0),
            ]
            poll(&waits, nfds_t(waits.count), left ?? -1)
            if isStopped.withLock({ $0 }) || waits[2].revents != 0 { return .end }
            if hasChanges() { return .changes }
            if let deadline, deadline <= .now { return .nothing }
        }
    }

    /// Reads all pending events. Returns whether any of them is relevant.
    private func hasChanges() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        var isNews = false
        while read(wake.read, &buffer, buffer.count) > 0 { isNews = true }
        while case let count = read(descriptor, &buffer, buffer.count), count > 0 {
            isNews = watched.withLock { matter(buffer[..<count], $0) } || isNews
        }
        return isNews
    }

    /// Parses events (inotify(7)): the watch descriptor, the mask, the cookie, the length of the name, and the name padded with zeros.
    /// Events without a name are about the folder itself; descriptor -1 means that events were lost.
    private func matter(_ events: ArraySlice<UInt8>, _ watched: [Int32: FolderNames]) -> Bool {
        events.withUnsafeBytes { bytes in
            var start = 0
            while start + 16 <= bytes.count {
                let number = bytes.loadUnaligned(fromByteOffset: start, as: Int32.self)
                let end = start + 16 + Int(bytes.loadUnaligned(fromByteOffset: start + 12, as: UInt32.self))
                let name = String(decoding: bytes[(start + 16)..<min(end, bytes.count)].prefix { $0 != 0 }, as: UTF8.self)
                if number == -1 { return true }
                if let names = watched[number], name.isEmpty || names.contains(name) { return true }
                start = end
            }
            return false
        }
    }

    static func failure(_ number: Int32, _ folder: String? = nil) -> PushError {
        let hint: String? =
            switch (number, folder) {
            case (ENOSPC, _): "watch fewer folders, or raise the system's limit: sysctl fs.inotify.max_user_watches"
            case (EMFILE, nil): "end other programs that watch files, or raise the limits: sysctl fs.inotify.max_user_instances, ulimit -n"
            case (ENFILE, nil): "end other programs, or raise the system's limit: sysctl fs.file-max"
            default: nil
            }
        let what = folder.map { "the folder \($0)" } ?? "files"
        return PushError("watch.failed", "\(what) cannot be watched: \(String(cString: strerror(number)))", hint: hint)
    }
}

/// The names to watch in a folder.
enum FolderNames {
    case all
    case some(Set<String>)

    func contains(_ name: String) -> Bool {
        switch self {
        case .all: true
        case .some(let names): names.contains(name)
        }
    }

    func union(_ other: FolderNames) -> FolderNames {
        guard case .some(let names) = self, case .some(let others) = other else { return .all }
        return .some(names.union(others))
    }
}
