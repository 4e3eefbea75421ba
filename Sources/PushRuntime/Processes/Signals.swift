import Dispatch
import Glibc
import Synchronization

/// Handles signals outside of signal handlers. The handler only writes the signal's number to a pipe, because it may run at any time on any
/// thread. Watchers are called on a queue of their own.
///
/// A Dispatch signal source would lose signals that arrive before its thread handles the previous one.
package enum Signals {
    private static let queue = DispatchQueue(label: "signals")
    private static let watchers = Mutex<[Int32: [@Sendable () -> Void]]>([:])

    /// Calls the watcher for every signal of this number until the program ends.
    package static func watch(_ number: Int32, _ watcher: @escaping @Sendable () -> Void) {
        let isFirst = watchers.withLock { watchers in
            defer { watchers[number, default: []].append(watcher) }
            return watchers.isEmpty
        }
        // Creates the pipe here, outside of the handler.
        let pipe = signalPipe
        if isFirst { queue.async { deliver(from: pipe.read) } }
        var action = sigaction()
        action.__sigaction_handler.sa_handler = note
        action.sa_flags = SA_RESTART
        sigaction(number, &action, nil)
    }

    /// Gives SIGQUIT (Ctrl-\) its default action, which ends the program: the Swift runtime would treat it as a crash and start an
    /// interactive backtrace. If the parent process set SIGQUIT to ignored, as shells do for background jobs, it stays ignored.
    package static func restoreDefaultQuit() {
        if !isIgnored(SIGQUIT) { signal(SIGQUIT, SIG_DFL) }
    }

    /// Whether the parent process set the signal to ignored, as nohup does.
    package static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        sigaction(number, nil, &action)
        // SIG_IGN is the address 1, and functions cannot be compared.
        return withUnsafeBytes(of: action.__sigaction_handler) { $0.loadUnaligned(as: UInt.self) == 1 }
    }

    private static func deliver(from pipe: Int32) {
        var number: UInt8 = 0
        while true {
            guard read(pipe, &number, 1) == 1 else {
                guard errno == EINTR else { return }
                continue
            }
            for watcher in watchers.withLock({ $0[Int32(number)] ?? [] }) { watcher() }
        }
    }
}

private let signalPipe: (read: Int32, write: Int32) = {
    var ends: [Int32] = [-1, -1]
    _ = pipe(&ends)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    return (ends[0], ends[1])
}()

/// Writes the signal's number to the pipe. Calls only what is safe in a signal handler (signal-safety(7)).
private func note(_ number: Int32) {
    let saved = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = write(signalPipe.write, &byte, 1)
    errno = saved
}
