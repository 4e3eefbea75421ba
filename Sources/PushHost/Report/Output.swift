import Dispatch
import Glibc
import Synchronization

/// Standard output, buffered, with colour where a terminal wants it, and an error that is not lost when the disk is full.
final class Output: Sendable {
    let isTerminal: Bool
    let hasColour: Bool
    private let descriptor: Int32
    private let state = Mutex(State())

    private struct State {
        var buffer: [UInt8] = []
        var failure: Int32 = 0
        /// Text of the progress line that stands on the screen.
        var hasProgress = false
        /// Somebody is asked something on the same screen.
        var isHeld = false
        var whenReaderIsLost: (@Sendable () -> Void)?
    }

    init(descriptor: Int32, colour: Bool? = nil) {
        self.descriptor = descriptor
        isTerminal = isatty(descriptor) == 1
        let isPlain = getenv("NO_COLOR").map { $0.pointee != 0 } ?? false
        let isDumb = getenv("TERM").map { String(cString: $0) == "dumb" } ?? true
        hasColour = colour ?? (isTerminal && !isPlain && !isDumb)
    }

    /// Takes the places of standard streams that are closed, so that no file or socket of ours gets what is printed:
    /// writing to them fails, as it should.
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

    /// A line that is on the screen at once, also where nobody sits before it.
    func note(_ text: String) {
        line(text.printable)
        flush()
    }

    /// Text without the end of a line, on the screen at once: prompts, and what moves the cursor.
    func put(_ text: String) {
        state.withLock { state in
            erase(&state)
            state.buffer += text.utf8
            flush(&state)
        }
    }

    /// Hands over what is buffered: a log that somebody follows shows how far it is.
    func flush() { state.withLock { if !$0.isHeld { flush(&$0) } } }

    /// Leaves the screen as it is until `release()`, for a question that stands there: lines wait, and no progress is shown.
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

    /// A line that the next one replaces; only on a terminal. It is cut to the width there: of one that goes on in the next
    /// row only the last row could be erased.
    func progress(_ text: String) {
        guard isTerminal else { return }
        var room = columns - 1
        let shown = text.prefix { character in
            room -= character.columns
            return room >= 0
        }
        state.withLock { state in
            guard !state.isHeld else { return }
            erase(&state)
            state.buffer += Palette(isOn: hasColour).dim(String(shown)).utf8
            state.hasProgress = true
            flush(&state)
        }
    }

    /// Of the terminal.
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

    /// Writes what is left. False when something could not be written; `reason` says why.
    func finish() -> Bool {
        state.withLock { state in
            erase(&state)
            flush(&state)
            return state.failure == 0
        }
    }

    /// Writes what is left; says so on `errors` when that fails. A reader that has seen enough (`| head`) is no failure.
    func finish(reportingTo errors: Output) -> Bool {
        let isWritten = finish() || hasLostReader
        if !isWritten { errors.line("error[output.failed]: standard output could not be written: \(reason)") }
        _ = errors.finish()
        return isWritten
    }

    var hasLostReader: Bool { state.withLock { $0.failure == EPIPE } }

    /// Called once, soon after the reader of a pipe has gone: what is still to be done is done for nobody.
    func onLostReader(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.whenReaderIsLost = action } }

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
                if errno == EPIPE, let action = state.whenReaderIsLost.take() { DispatchQueue.global().async(execute: action) }
            }
        }
        state.buffer.removeAll(keepingCapacity: true)
    }
}

/// The few colours of a report.
struct Palette {
    let isOn: Bool

    func green(_ text: String) -> String { paint(text, "32") }
    func red(_ text: String) -> String { paint(text, "31") }
    func yellow(_ text: String) -> String { paint(text, "33") }
    func dim(_ text: String) -> String { paint(text, "2") }
    func bold(_ text: String) -> String { paint(text, "1") }

    private func paint(_ text: String, _ code: String) -> String { isOn ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text }
}

extension String {
    /// What a terminal must not be told by a script or a notification: control characters become visible.
    var printable: String {
        guard unicodeScalars.contains(where: { $0.isControl }) else { return self }
        var safe = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "\t": safe += "    "
            case _ where scalar.isControl: safe += "\\u{\(String(scalar.value, radix: 16))}"
            default: safe.unicodeScalars.append(scalar)
            }
        }
        return safe
    }

    func padded(to width: Int) -> String {
        count < width ? self + String(repeating: " ", count: width - count) : self
    }
}

extension Unicode.Scalar {
    fileprivate var isControl: Bool {
        value < 0x20 || (0x7f...0x9f).contains(value) || (0x202a...0x202e).contains(value)
            || (0x2066...0x2069).contains(value)
    }
}
