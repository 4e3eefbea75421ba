import Glibc
import PushRuntime
import Synchronization

/// Handles the signals of a session. At a terminal Ctrl-C interrupts the running line or the line being typed; without a terminal it ends
/// the session. SIGTERM always ends the session.
final class SessionSignals: Sendable {
    private let state = Mutex(State())
    private let source: any LineSource
    private let warn: @Sendable () -> Void

    private struct State {
        var cancel: (@Sendable () -> Void)?
        /// Number of interruptions of the running line.
        var count = 0
        var isTerminating = false
    }

    /// - Parameter warn: called when the running line was interrupted a second time; a third interruption ends the program.
    init(_ source: any LineSource, isInteractive: Bool, warn: @escaping @Sendable () -> Void) {
        self.source = source
        self.warn = warn
        Signals.watch(SIGTERM) { [self] in end() }
        Signals.watch(SIGINT) { [self] in if isInteractive { interrupt() } else { end() } }
        guard isInteractive else { return }
        for number in [SIGWINCH, SIGCONT] { Signals.watch(number) { source.redraw() } }
        Signals.watch(SIGTSTP) {
            source.restore()
            kill(getpid(), SIGSTOP)
        }
        for number in [SIGHUP, SIGQUIT] {
            Signals.watch(number) {
                source.restore()
                signal(number, SIG_DFL)
                kill(getpid(), number)
            }
        }
    }

    var isTerminating: Bool { state.withLock { $0.isTerminating } }

    /// Starts the task of a line under the lock. A signal that arrives meanwhile waits for the lock and then finds the task to cancel.
    func begin<Answer>(_ line: () -> Task<Answer, Never>) -> Task<Answer, Never> {
        state.withLock { state in
            let task = line()
            (state.cancel, state.count) = ({ task.cancel() }, 0)
            return task
        }
    }

    /// Records that the line has ended. Returns whether it was interrupted.
    func lineDidEnd() -> Bool {
        state.withLock { state in
            state.cancel = nil
            return state.count > 0
        }
    }

    private func interrupt() {
        let (cancel, count) = state.withLock { state in
            state.count += 1
            return (state.cancel, state.count)
        }
        guard let cancel else { return source.interrupt() }
        switch count {
        case 1: cancel()
        case 2: warn()
        default: quit()
        }
    }

    private func end() {
        let (cancel, wasFinal) = state.withLock { state in
            defer { state.isTerminating = true }
            return (state.cancel, state.isTerminating)
        }
        // No line is running, or an earlier signal did not end it.
        guard let cancel, !wasFinal else { return quit() }
        Interruption.endSoon()
        cancel()
    }

    private func quit() {
        source.restore()
        _exit(ExitStatus.interrupted)
    }
}
