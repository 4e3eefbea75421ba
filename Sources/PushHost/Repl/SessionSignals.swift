import Glibc
import Synchronization

/// What signals mean to a session. With somebody at a terminal Ctrl-C ends the line that runs, or the one that is typed, else
/// the session; SIGTERM always ends the session.
final class SessionSignals: Sendable {
    private let state = Mutex(State())
    private let source: any LineSource
    private let warn: @Sendable () -> Void

    private struct State {
        var cancel: (@Sendable () -> Void)?
        /// Interruptions of the line that runs.
        var count = 0
        var areFinal = false
    }

    /// - Parameter warn: Tells that a line did not end when it was interrupted: the next time the program does.
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

    var areFinal: Bool { state.withLock { $0.areFinal } }

    /// Has a line run in a task, which can be cancelled from its first moment on: a signal that comes meanwhile waits for the
    /// lock, and then finds the task.
    func begin<Answer>(_ line: () -> Task<Answer, Never>) -> Task<Answer, Never> {
        state.withLock { state in
            let task = line()
            (state.cancel, state.count) = ({ task.cancel() }, 0)
            return task
        }
    }

    /// Whether the line was interrupted.
    func lineEnds() -> Bool {
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
            defer { state.areFinal = true }
            return (state.cancel, state.areFinal)
        }
        // Nothing runs that could be cleaned up, or it does not end.
        guard let cancel, !wasFinal else { return quit() }
        Interruption.endSoon()
        cancel()
    }

    private func quit() {
        source.restore()
        _exit(ExitStatus.interrupted)
    }
}
