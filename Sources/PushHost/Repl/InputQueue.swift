import Dispatch
import Glibc

/// Standard input, read on a thread that may wait for it.
final class InputQueue: Sendable {
    private let queue = DispatchQueue(label: "input")
    /// A pipe that ends the waiting.
    private let waking: (read: Int32, write: Int32)

    enum Input {
        /// None at the end.
        case bytes([UInt8])
        /// Somebody wants something else than to wait.
        case woken
    }

    init() {
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
    func next() async throws(InputFailure) -> Input {
        let (input, failure): (Input, Int32) = await withCheckedContinuation { continuation in
            queue.async { [self] in continuation.resume(returning: wait()) }
        }
        guard failure == 0 else { throw InputFailure(number: failure) }
        return input
    }

    private func wait() -> (Input, failure: Int32) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        var waits = [
            pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0), pollfd(fd: waking.read, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&waits, 2, -1) < 0 {
            guard errno == EINTR else { return (.woken, errno) }
        }
        if waits[1].revents != 0 {
            _ = read(waking.read, &buffer, buffer.count)
            return (.woken, 0)
        }
        var count = read(STDIN_FILENO, &buffer, buffer.count)
        while count < 0, errno == EINTR { count = read(STDIN_FILENO, &buffer, buffer.count) }
        return (.bytes(Array(buffer.prefix(max(0, count)))), count < 0 ? errno : 0)
    }
}

struct InputFailure: Error {
    let number: Int32

    var reason: String { String(cString: strerror(number)) }
}
