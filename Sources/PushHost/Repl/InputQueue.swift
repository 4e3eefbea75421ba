import Dispatch
import Glibc

/// Standard input, read on a thread that may wait for it.
final class InputQueue: Sendable {
    private let queue = DispatchQueue(label: "input")

    /// The next bytes; none at the end. Throws the error number of a failed read.
    func bytes() async throws(InputFailure) -> [UInt8] {
        let (bytes, failure) = await withCheckedContinuation { continuation in
            queue.async {
                var buffer = [UInt8](repeating: 0, count: 4096)
                var count = read(STDIN_FILENO, &buffer, buffer.count)
                while count < 0, errno == EINTR { count = read(STDIN_FILENO, &buffer, buffer.count) }
                continuation.resume(returning: (Array(buffer.prefix(max(0, count))), count < 0 ? errno : 0))
            }
        }
        guard failure == 0 else { throw InputFailure(number: failure) }
        return bytes
    }
}

struct InputFailure: Error {
    let number: Int32

    var reason: String { String(cString: strerror(number)) }
}
