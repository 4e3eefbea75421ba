import Dispatch
import Glibc

/// Reads a file descriptor, by default standard input, on a thread that may block.
package final class InputReader: Sendable {
    private let descriptor: Int32
    private let queue = DispatchQueue(label: "input")
    /// A pipe whose data interrupts a waiting read.
    private let waking: (read: Int32, write: Int32)

    package enum Input {
        /// Empty at the end of the input.
        case bytes([UInt8])
        /// Interrupted by `wake()`.
        case woken
        /// No input before the deadline.
        case late
    }

    package init(_ descriptor: Int32 = STDIN_FILENO) {
        self.descriptor = descriptor
        var ends: [Int32] = [-1, -1]
        _ = pipe(&ends)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        waking = (ends[0], ends[1])
    }

    deinit {
        for end in [waking.read, waking.write] { close(end) }
    }

    /// Interrupts the current read, or the next one if none is waiting.
    package func wake() { _ = write(waking.write, [0], 1) }

    /// Waits for input, a call of `wake()` or the deadline.
    package func next(by deadline: ContinuousClock.Instant? = nil) async throws(InputFailure) -> Input {
        let (input, failure): (Input, Int32) = await withCheckedContinuation { continuation in
            queue.async { [self] in continuation.resume(returning: wait(by: deadline)) }
        }
        guard failure == 0 else { throw InputFailure(number: failure) }
        return input
    }

    private func wait(by deadline: ContinuousClock.Instant?) -> (Input, failure: Int32) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        var waits = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0), pollfd(fd: waking.read, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let ready = poll(&waits, 2, Self.milliseconds(until: deadline))
            if ready < 0 {
                guard errno == EINTR else { return (.woken, errno) }
            } else if ready == 0 {
                if let deadline, deadline <= .now { return (.late, 0) }
            } else if waits[1].revents != 0 {
                _ = read(waking.read, &buffer, buffer.count)
                return (.woken, 0)
            } else {
                let count = read(descriptor, &buffer, buffer.count)
                if count >= 0 { return (.bytes(Array(buffer.prefix(count))), 0) }
                guard errno == EINTR || errno == EAGAIN else { return (.bytes([]), errno) }
            }
        }
    }

    /// The timeout of poll(2), which accepts less than a month; -1 waits without a timeout.
    private static func milliseconds(until deadline: ContinuousClock.Instant?) -> Int32 {
        guard let deadline else { return -1 }
        let rest = max(.zero, deadline - .now)
        return Int32(clamping: min(rest.components.seconds, 1_000_000) * 1000 + rest.components.attoseconds / 1_000_000_000_000_000 + 1)
    }
}

package struct InputFailure: Error {
    let number: Int32

    package var reason: String { String(cString: strerror(number)) }
}
