import Dispatch
import Glibc
import Synchronization

/// Signals of the process. A handler that may run at any moment in any thread writes their numbers into a pipe; whoever
/// watches for one is called on a queue of its own.
///
/// A signal source of Dispatch would lose those that come before its thread has got to it.
enum Signals {
    private static let queue = DispatchQueue(label: "signals")
    private static let watchers = Mutex<[Int32: [@Sendable () -> Void]]>([:])

    /// Calls the watcher for every signal of this number, for as long as the program runs.
    static func watch(_ number: Int32, _ watcher: @escaping @Sendable () -> Void) {
        let isFirst = watchers.withLock { watchers in
            defer { watchers[number, default: []].append(watcher) }
            return watchers.isEmpty
        }
        // The pipe is made here, not in the handler.
        let pipe = signalPipe
        if isFirst { queue.async { tell(from: pipe.read) } }
        var action = sigaction()
        action.__sigaction_handler.sa_handler = note
        action.sa_flags = SA_RESTART
        sigaction(number, &action, nil)
    }

    /// Leaves Ctrl-\ and SIGQUIT to the system, which ends the program: the Swift runtime takes them for a crash and would
    /// begin a dialogue. Where whoever started the program has it ignore them, as a shell its background, that stays.
    static func leaveQuitToTheSystem() {
        if !isIgnored(SIGQUIT) { signal(SIGQUIT, SIG_DFL) }
    }

    /// Whether whoever started the program has it ignore the signal, as nohup does.
    static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        sigaction(number, nil, &action)
        // SIG_IGN is the address 1, and functions cannot be compared.
        return withUnsafeBytes(of: action.__sigaction_handler) { $0.loadUnaligned(as: UInt.self) == 1 }
    }

    private static func tell(from pipe: Int32) {
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

/// Does nothing but what a signal handler may do (signal-safety(7)).
private func note(_ number: Int32) {
    let saved = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = write(signalPipe.write, &byte, 1)
    errno = saved
}
