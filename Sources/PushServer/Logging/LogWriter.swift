import Dispatch
import Glibc
import Synchronization

/// Writes log lines on its own queue, so that a slow or stuck reader does not block the server. Lines beyond the buffer's limit are dropped
/// and counted; the log reports their number.
package final class LogWriter: Sendable {
    private struct State {
        var pending: [UInt8] = []
        var dropped = 0
        var isWriting = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let limit: Int
    private let write: @Sendable ([UInt8]) -> Bool
    private let note: @Sendable (Int) -> String
    private let queue = DispatchQueue(label: "log")
    private let state = Mutex(State())

    /// - Parameters:
    ///   - limit: size of the buffer in bytes.
    ///   - write: writes all bytes, blocking. Returns `false` on failure.
    ///   - note: returns the line that reports how many lines were dropped.
    init(
        limit: Int = 1 << 20, write: @escaping @Sendable ([UInt8]) -> Bool, note: @escaping @Sendable (Int) -> String
    ) {
        self.limit = limit
        self.write = write
        self.note = note
    }

    package convenience init(descriptor: Int32, note: @escaping @Sendable (Int) -> String) {
        self.init(write: { Self.write($0, to: descriptor) }, note: note)
    }

    /// Queues a line. Returns at once.
    package func line(_ text: String) {
        let starts = state.withLock { state in
            guard state.pending.count + text.utf8.count < limit else {
                state.dropped += 1
                return false
            }
            state.pending += text.utf8
            state.pending.append(0x0a)
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if starts { queue.async { [self] in writePending() } }
    }

    /// Waits until all lines are written, at most `time`.
    package func finish(within time: Duration = .seconds(2)) async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if state.isWriting { state.waiting.append(continuation) }
                return !state.isWriting
            }
            guard !isDone else { return continuation.resume() }
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Int(time.components.seconds * 1000))) { [self] in
                wake()
            }
        }
    }

    private func wake() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    private func writePending() {
        while true {
            let (bytes, dropped) = state.withLock { state in
                defer { (state.pending, state.dropped) = ([], 0) }
                if state.pending.isEmpty, state.dropped == 0 { state.isWriting = false }
                return (state.pending, state.dropped)
            }
            if bytes.isEmpty, dropped == 0 { return wake() }
            let all = dropped == 0 ? bytes : bytes + Array((note(dropped) + "\n").utf8)
            guard !write(all) else { continue }
            // Writing is retried at the next line.
            let lost = bytes.count { $0 == 0x0a } + dropped
            state.withLock { state in
                state.dropped += lost + state.pending.count { $0 == 0x0a }
                state.pending = []
                state.isWriting = false
            }
            return wake()
        }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var start = 0
        while start < bytes.count {
            let count = bytes[start...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                start += count
            } else if errno == EAGAIN {
                // Another process that shares the descriptor made it non-blocking.
                var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&request, 1, -1)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }
}
