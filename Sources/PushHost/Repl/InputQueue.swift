import Dispatch
import Glibc

/// What comes through a descriptor, by itself standard input: read on a thread that may wait for it.
final class InputQueue: Sendable {
    private let descriptor: Int32
    private let queue = DispatchQueue(label: "input")
    /// A pipe that ends the waiting.
    private let waking: (read: Int32, write: Int32)

    enum Input {
        /// None at the end.
        case bytes([UInt8])
        /// Somebody wants something else than to wait.
        case woken
        /// None has come by the time that was given.
        case late
    }

    init(_ descriptor: Int32 = STDIN_FILENO) {
        self.descriptor = descriptor
        var ends: [Int32] = [-1, -1]
        _ = pipe(&ends)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        waking = (ends[0], ends[1])
    }

    deinit {
        for end in [waking.read, waking.write] { close(end) }
    }

    /// Ends the waiting for input, the next one if there is none now.
    func wake() { _ = write(waking.write, [0], 1) }

    /// The next bytes, as soon as there are any.
    func next(by deadline: ContinuousClock.Instant? = nil) async throws(InputFailure) -> Input {
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

    /// For poll(2), which takes less than a month; -1 is without end.
    private static func milliseconds(until deadline: ContinuousClock.Instant?) -> Int32 {
        guard let deadline else { return -1 }
        let rest = max(.zero, deadline - .now)
        return Int32(clamping: min(rest.components.seconds, 1_000_000) * 1000 + rest.components.attoseconds / 1_000_000_000_000_000 + 1)
    }
}

struct InputFailure: Error {
    let number: Int32

    var reason: String { String(cString: strerror(number)) }
}
