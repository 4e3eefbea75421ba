import Glibc
import PushRuntime
import Synchronization

/// Reads lines from a terminal, with editing, history and completion.
///
/// The terminal is in raw mode only while a line is typed. In that mode Ctrl-C is a key; while a line runs, it sends SIGINT.
final class EditingLineReader: LineSource {
    typealias Completer = @Sendable (_ before: String) async -> Completion?

    private let input = InputReader()
    private let screen: Output
    private let settings = TerminalSettings()
    private let complete: Completer
    private let state = Mutex(State())

    private struct State {
        var editor = LineEditor()
        var decoder = KeyDecoder()
        /// Keys that have been read but not processed.
        var pending: [Key] = []
        var isInterrupted = false
        var isStale = false
    }

    private enum Event {
        case key(Key)
        case interrupted
        case stale
        case end
    }

    /// Turns xterm's bracketed paste mode on and off, in which pasted text arrives between two markers.
    private static let pasteMarks = (on: "\u{1b}[?2004h", off: "\u{1b}[?2004l")

    init(screen: Output, complete: @escaping Completer) {
        self.screen = screen
        self.complete = complete
    }

    func restore() {
        if settings.restore() { screen.put(Self.pasteMarks.off) }
    }

    func interrupt() {
        state.withLock { $0.isInterrupted = true }
        input.wake()
    }

    func redraw() {
        state.withLock { $0.isStale = true }
        input.wake()
    }

    func discard() {
        state.withLock { ($0.pending, $0.decoder) = ([], KeyDecoder()) }
        tcflush(STDIN_FILENO, TCIFLUSH)
    }

    func next(prompt: String) async -> LineInput {
        takeKeys()
        defer { if settings.takeLines() { screen.put(Self.pasteMarks.off) } }
        state.withLock { state in
            state.editor.begin()
            (state.isInterrupted, state.isStale) = (false, false)
        }
        draw(prompt)
        while true {
            switch await nextEvent() {
            case .key(let key):
                if let line = await take(key, prompt) { return line }
            case .interrupted:
                screen.put("^C\n")
                return .interrupted
            case .stale:
                takeKeys()
                draw(prompt)
            case .end:
                screen.put("\n")
                return .end
            }
        }
    }

    private func takeKeys() {
        settings.takeSingleKeys()
        screen.put(Self.pasteMarks.on)
    }

    /// Processes a key. Returns the line's result if the key ends the line, otherwise nil.
    private func take(_ key: Key, _ prompt: String) async -> LineInput? {
        switch state.withLock({ $0.editor.take(key) }) {
        case .edited: if state.withLock({ $0.pending.isEmpty }) { draw(prompt) }
        case .entered:
            // Show the whole line, of which `draw` may have shown only a part.
            let line = state.withLock { $0.editor.text }
            screen.put("\r\(prompt)\(line.printable)\u{1b}[K\n")
            return .line(line)
        case .interrupted:
            screen.put("^C\n")
            return .interrupted
        case .endOfInput:
            screen.put("\n")
            return .end
        case .completion:
            await offerNames()
            draw(prompt)
        case .clearScreen:
            screen.put("\u{1b}[H\u{1b}[2J")
            draw(prompt)
        case .suspended: kill(getpid(), SIGTSTP)
        case .nothing: break
        }
        return nil
    }

    private func nextEvent() async -> Event {
        while true {
            let event: Event? = state.withLock { state in
                if state.isInterrupted { return .interrupted }
                if state.isStale {
                    state.isStale = false
                    return .stale
                }
                return state.pending.isEmpty ? nil : .key(state.pending.removeFirst())
            }
            if let event { return event }
            guard let input = try? await input.next() else { return .end }
            guard case .bytes(let bytes) = input else { continue }
            if bytes.isEmpty { return .end }
            state.withLock { state in
                for byte in bytes {
                    if let key = state.decoder.take(byte) { state.pending.append(key) }
                }
            }
        }
    }

    private func draw(_ prompt: String) {
        let columns = screen.columns
        let view = state.withLock { $0.editor.view(columns: columns - prompt.count) }
        let column = prompt.count + view.column
        screen.put("\r\(prompt)\(view.text)\u{1b}[K\r\(column > 0 ? "\u{1b}[\(column)C" : "")")
    }

    /// Inserts the common prefix of the completions, or lists them.
    private func offerNames() async {
        let before = state.withLock { $0.editor.textBeforeCursor }
        guard let completion = await complete(before), !completion.names.isEmpty else { return }
        let common = completion.common
        if common.count > completion.typed.count {
            state.withLock { $0.editor.replaceBeforeCursor(completion.typed.count, with: common) }
        } else if completion.names.count > 1 {
            let names = completion.names.map { name in name.drop { $0 == " " }.prefix { $0 != " " } }.map(String.init)
            let width = (names.map(\.count).max() ?? 0) + 2
            let perRow = max(1, screen.columns / width)
            var rows = "\n"
            for start in stride(from: 0, to: names.count, by: perRow) {
                let row = names[start..<min(start + perRow, names.count)].map { $0.padded(to: width) }.joined()
                rows += row.prefix(screen.columns - 1) + "\n"
            }
            screen.put(rows)
        }
    }
}

/// Switches the terminal's input mode and restores the original settings.
final class TerminalSettings: Sendable {
    private let original = Mutex<termios?>(nil)

    /// Raw mode: keys arrive one by one, without echo, Ctrl-C included. Output processing stays on.
    func takeSingleKeys() {
        original.withLock { original in
            var settings = termios()
            guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return }
            if original == nil { original = settings }
            settings.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
            settings.c_iflag &= ~tcflag_t(IXON | ICRNL | INLCR)
            // c_cc[5] is VTIME and c_cc[6] is VMIN: a read waits without a timeout for one byte.
            settings.c_cc.5 = 0
            settings.c_cc.6 = 1
            tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
        }
    }

    /// Restores line mode, except that Ctrl-D stays a key: the terminal would turn one typed ahead into an end of input, which is lost on
    /// the return to raw mode. Returns `false` if raw mode was never entered.
    func takeLines() -> Bool {
        original.withLock { original in
            guard var settings = original else { return false }
            // c_cc[4] is VEOF; 0 disables it.
            settings.c_cc.4 = 0
            tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
            return true
        }
    }

    /// Restores the original settings. Returns `false` if they were not changed.
    func restore() -> Bool {
        original.withLock { original in
            guard var settings = original else { return false }
            tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
            original = nil
            return true
        }
    }
}
