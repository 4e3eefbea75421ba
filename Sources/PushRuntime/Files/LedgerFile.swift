import Dispatch
import Glibc
package import PushModel
import Synchronization

/// An append-only file of JSON lines, written on its own queue: a slow disk delays only callers that wait for a line.
package final class LedgerFile: Sendable {
    package let path: String
    private let descriptor: Int32
    private let queue = DispatchQueue(label: "ledger")
    private let state = Mutex(State())

    private struct State {
        var failure: PushError?
        var failureAction: (@Sendable () -> Void)?
    }

    /// Opens or creates the file, readable by its owner only because it contains payloads. Throws `simulate.ledger`.
    package init(path: String) throws(PushError) {
        self.path = path
        descriptor = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw PushError(
                "simulate.ledger", "the ledger \(path) cannot be written: \(String(cString: strerror(errno)))",
                hint: "use a file in an existing, writable folder")
        }
        // The last line may be incomplete after a crash: start on a new line.
        var last: UInt8 = 0x0a
        let end = lseek(descriptor, 0, SEEK_END)
        if end > 0, pread(descriptor, &last, 1, end - 1) == 1, last != 0x0a { append([0x0a]) {} }
    }

    deinit { close(descriptor) }

    /// Why a line could not be written. After a failure nothing more is written.
    package var failure: PushError? { state.withLock { $0.failure } }

    /// Sets an action that is called once, at the first failure.
    package func onFailure(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.failureAction = action } }

    /// Appends a line in the order of the calls. Returns at once; `isWritten` is called after the write, also if it failed.
    package func append(_ line: [UInt8], _ isWritten: @escaping @Sendable () -> Void) {
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
                    "output.failed", "the ledger \(path) can no longer be written: \(String(cString: strerror(errno)))",
                    hint: "free disk space, or use another file with --ledger")
                // Remove the incomplete line.
                if start > 0 { ftruncate(descriptor, lseek(descriptor, 0, SEEK_END) - off_t(start)) }
                let action = state.withLock { state in
                    state.failure = error
                    return state.failureAction.take()
                }
                action?()
                return
            }
        }
    }
}
