import Dispatch
import Glibc
import PushCore
import Synchronization

/// A file of JSON lines that grows at its end, written by a thread of its own: a slow disk holds up whoever waits for a line
/// and nobody else.
final class LedgerFile: Sendable {
    let path: String
    private let descriptor: Int32
    private let queue = DispatchQueue(label: "ledger")
    private let state = Mutex(State())

    private struct State {
        var failure: PushError?
        var whenFailed: (@Sendable () -> Void)?
    }

    /// Opens the file, or makes it, for its owner alone: payloads are in it. Throws `simulate.ledger`.
    init(path: String) throws(PushError) {
        self.path = path
        descriptor = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw PushError(
                "simulate.ledger", "the ledger \(path) cannot be written: \(String(cString: strerror(errno)))",
                hint: "name a file in a folder that exists and that you may write to")
        }
        // What came before may have been cut off in the middle of a line.
        var last: UInt8 = 0x0a
        let end = lseek(descriptor, 0, SEEK_END)
        if end > 0, pread(descriptor, &last, 1, end - 1) == 1, last != 0x0a { append([0x0a]) {} }
    }

    deinit { close(descriptor) }

    /// Why a line could not be written; nothing is written after it.
    var failure: PushError? { state.withLock { $0.failure } }

    /// Called once, when a line could not be written.
    func onFailure(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.whenFailed = action } }

    /// Returns at once and calls back when the line is with the system, or cannot be. Lines are written in the order of the
    /// calls.
    func append(_ line: [UInt8], _ isWritten: @escaping @Sendable () -> Void) {
        queue.async { [self] in
            write(line)
            isWritten()
        }
    }

    private func write(_ line: [UInt8]) {
        guard failure == nil else { return }
        var start = 0
        while start < line.count {
            let count = line[start...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                start += count
            } else if errno != EINTR {
                let error = PushError(
                    "output.failed", "the ledger \(path) cannot be written any more: \(String(cString: strerror(errno)))",
                    hint: "make room, or name a file elsewhere with --ledger")
                // No part of a line stays.
                if start > 0 { ftruncate(descriptor, lseek(descriptor, 0, SEEK_END) - off_t(start)) }
                let action = state.withLock { state in
                    state.failure = error
                    return state.whenFailed.take()
                }
                action?()
                return
            }
        }
    }
}
