import Dispatch
import Glibc
import PushRuntime
import Synchronization

/// A buffered standard stream. Uses colour if the terminal supports it, and reports write errors such as a full disk.
final class Output: Sendable {
    let isTerminal: Bool
    let hasColour: Bool
    private let descriptor: Int32
    private let state = Mutex(State())

    private struct State {
        var buffer: [UInt8] = []
        var failure: Int32 = 0
        /// Whether a progress line is on the screen.
        var hasProgress = false
        /// Whether output is held back because a question is on the screen.
        var isHeld = false
        var outputClosedAction: (@Sendable () -> Void)?
    }

    init(descriptor: Int32, colour: Bool? = nil) {
        self.descriptor = descriptor
        isTerminal = isatty(descriptor) == 1
        let isPlain = getenv("NO_COLOR").map { $0.pointee != 0 } ?? false
        let isDumb = getenv("TERM").map { String(cString: $0) == "dumb" } ?? true
        hasColour = colour ?? (isTerminal && !isPlain && !isDumb)
    }

    /// Opens `/dev/null` for each closed standard stream, so that no file or socket of the program gets its number and its output. Writing
    /// to such a stream fails.
    static func reserveStandardDescriptors() {
        signal(SIGPIPE, SIG_IGN)
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    func line(_ text: String = "") {
        state.withLock { state in
            erase(&state)
            state.buffer += text.utf8
            state.buffer.append(0x0a)
            if !state.isHeld, isTerminal || state.buffer.count > 65_536 { flush(&state) }
        }
    }

    /// Prints a line and flushes it, also if the output is not a terminal.
    func note(_ text: String) {
        line(text.printable)
        flush()
    }

    /// Prints text without a line end and flushes it: prompts and cursor movements.
    func put(_ text: String) {
        state.withLock { state in
            erase(&state)
            state.buffer += text.utf8
            flush(&state)
        }
    }

    /// Writes the buffer, so that a followed log is up to date.
    func flush() { state.withLock { if !$0.isHeld { flush(&$0) } } }

    /// Holds output back until `release()`, while a question is on the screen: lines are buffered, progress is not shown.
    func hold() {
        state.withLock { state in
            erase(&state)
            flush(&state)
            state.isHeld = true
        }
    }

    func release() {
        state.withLock { state in
            state.isHeld = false
            flush(&state)
        }
    }

    /// Shows a line that the next one replaces; on a terminal only. Cut to the terminal's width, because a wrapped line could not be
    /// erased.
    func progress(_ text: String) {
        guard isTerminal else { return }
        var remaining = columns - 1
        let shown = text.prefix { character in
            remaining -= character.columns
            return remaining >= 0
        }
        state.withLock { state in
            guard !state.isHeld else { return }
            erase(&state)
            state.buffer += Palette(isOn: hasColour).dim(String(shown)).utf8
            state.hasProgress = true
            flush(&state)
        }
    }

    /// Width of the terminal; 80 if unknown.
    var columns: Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    func eraseProgress() {
        state.withLock { state in
            erase(&state)
            flush(&state)
        }
    }

    /// Writes the rest of the buffer. Returns `false` if any write failed; `reason` is the cause.
    func finish() -> Bool {
        state.withLock { state in
            erase(&state)
            flush(&state)
            return state.failure == 0
        }
    }

    /// Writes the rest of the buffer and reports a failed write on `errors`. A reader that closed the pipe (`| head`) is not a failure.
    func finish(reportingTo errors: Output) -> Bool {
        let isWritten = finish() || isOutputClosed
        if !isWritten { errors.line("error[output.failed]: standard output could not be written: \(reason)") }
        _ = errors.finish()
        return isWritten
    }

    var isOutputClosed: Bool { state.withLock { $0.failure == EPIPE } }

    /// Sets an action that runs once after the reader of a pipe has closed it, to stop work whose output is not read.
    func onOutputClosed(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.outputClosedAction = action } }

    private var reason: String { String(cString: strerror(state.withLock { $0.failure })) }

    private func erase(_ state: inout State) {
        guard state.hasProgress else { return }
        state.buffer += "\r\u{1b}[K".utf8
        state.hasProgress = false
    }

    private func flush(_ state: inout State) {
        var start = 0
        while start < state.buffer.count, state.failure == 0 {
            let written = state.buffer[start...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                start += written
            } else if errno != EINTR {
                state.failure = errno
                if errno == EPIPE, let action = state.outputClosedAction.take() { DispatchQueue.global().async(execute: action) }
            }
        }
        state.buffer.removeAll(keepingCapacity: true)
    }
}

/// The colours of reports.
struct Palette {
    let isOn: Bool

    func green(_ text: String) -> String { paint(text, "32") }
    func red(_ text: String) -> String { paint(text, "31") }
    func yellow(_ text: String) -> String { paint(text, "33") }
    func dim(_ text: String) -> String { paint(text, "2") }
    func bold(_ text: String) -> String { paint(text, "1") }

    private func paint(_ text: String, _ code: String) -> String { isOn ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text }
}
