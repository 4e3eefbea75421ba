import Dispatch
import Glibc
import PushCore
import Synchronization

/// Waits for something to happen to files (inotify). What it was is for the waiting to find out.
final class FolderWatch: Sendable {
    private let descriptor: Int32
    /// A pipe that ends the waiting for events.
    private let wake: (read: Int32, write: Int32)
    private let isStopped = Mutex(false)
    /// By the number of its watch, which names in a folder matter.
    private let watched = Mutex<[Int32: FolderNames]>([:])
    private let queue = DispatchQueue(label: "watch")
    /// Whether there is nothing to watch for once nobody reads what the program prints.
    private let endsWithOutput: Bool

    /// How long nothing must happen for a burst of writes to be over, and how long one may be.
    private let quiet: Duration
    private let longestBurst: Duration

    /// Throws `watch.failed`.
    init(
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

    /// Watches everything that decides what these paths lead to, and all that happens in these folders; and nothing else
    /// any more. False when some of it cannot be watched, because a folder may not be read. Throws `watch.failed`.
    func follow(_ paths: Set<String>, allIn folders: Set<String>) throws(PushError) -> Bool {
        var trail = PathTrail(descriptor)
        for path in paths { try trail.follow(path) }
        for folder in folders { try trail.watch(folder, .all) }
        let old = watched.withLock { watched in
            defer { watched = trail.watched }
            return watched.keys.filter { trail.watched[$0] == nil }
        }
        for number in old { inotify_rm_watch(descriptor, number) }
        return trail.isComplete
    }

    /// Ends all waiting, that of the future too. May be called on any thread.
    func stop() {
        isStopped.withLock { $0 = true }
        look()
    }

    /// Ends the waiting of the moment, as if something had happened. May be called on any thread.
    func look() { _ = write(wake.write, [0], 1) }

    /// Waits until something has happened, and nothing more for a moment, or until so much time is over. False when it was
    /// stopped, or, where that ends it, nobody reads what the program prints.
    func next(within limit: Duration?) async -> Bool {
        await onQueue { [self] in
            switch listen(for: limit) {
            case .news: settleNow()
            case .nothing: true
            case .end: false
            }
        }
    }

    /// Waits until nothing has happened for a moment. False as in `next`.
    func settle() async -> Bool { await onQueue { [self] in settleNow() } }

    private func onQueue(_ work: @escaping @Sendable () -> Bool) async -> Bool {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: work()) }
        }
    }

    private func settleNow() -> Bool {
        let end = ContinuousClock.now + longestBurst
        while ContinuousClock.now < end {
            switch listen(for: quiet) {
            case .news: continue
            case .nothing: return true
            case .end: return false
            }
        }
        return true
    }

    private enum Heard { case news, nothing, end }

    private func listen(for limit: Duration?) -> Heard {
        let deadline = limit.map { ContinuousClock.now + $0 }
        while true {
            let left = deadline.map { Int32((max(.zero, $0 - .now) / .milliseconds(1)).rounded(.up)) }
            // Of the output only its end is of interest, which poll always tells.
            var waits = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0), pollfd(fd: wake.read, events: Int16(POLLIN), revents: 0),
                pollfd(fd: endsWithOutput ? STDOUT_FILENO : -1, events: 0, revents: 0),
            ]
            poll(&waits, nfds_t(waits.count), left ?? -1)
            if isStopped.withLock({ $0 }) || waits[2].revents != 0 { return .end }
            if hasNews() { return .news }
            if let deadline, deadline <= .now { return .nothing }
        }
    }

    /// Takes what has happened; answers whether any of it matters.
    private func hasNews() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        var isNews = false
        while read(wake.read, &buffer, buffer.count) > 0 { isNews = true }
        while case let count = read(descriptor, &buffer, buffer.count), count > 0 {
            isNews = watched.withLock { matter(buffer[..<count], $0) } || isNews
        }
        return isNews
    }

    /// An event is the number of its watch, two words of no interest here, the length of a name, and the name with zeros
    /// behind it (inotify(7)). Without a name it is about the folder itself, with the number -1 events were lost.
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

/// Which names in a folder matter.
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
