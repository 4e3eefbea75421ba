import PushLab
import PushModel
import PushRuntime
import Synchronization

/// Reads lines without editing: from a pipe, a file, or a terminal that cannot move its cursor.
final class PlainLineReader: LineSource {
    private let input = InputReader()
    /// Where prompts are shown; nil if the input or the output is not a terminal.
    private let screen: Output?
    private let state = Mutex(State())

    private struct State {
        var pending: [UInt8] = []
        /// How many leading bytes of `pending` are known to contain no line end.
        var searched = 0
        var isAtEnd = false
        var isInterrupted = false

        /// Removes and returns the next complete line, without its line end. The last line of the input may lack one.
        mutating func takeLine() -> [UInt8]? {
            guard let end = pending[searched...].firstIndex(of: 0x0a) else {
                searched = pending.count
                guard isAtEnd, !pending.isEmpty else { return nil }
                defer { (pending, searched) = ([], 0) }
                return pending
            }
            defer {
                pending.removeSubrange(...end)
                searched = 0
            }
            let line = pending[..<end]
            return Array(line.last == 0x0d ? line.dropLast() : line)
        }
    }

    init(screen: Output?) {
        self.screen = screen
    }

    func restore() {}

    func redraw() {}

    func interrupt() {
        state.withLock { $0.isInterrupted = true }
        input.wake()
    }

    func discard() {
        guard screen != nil else { return }
        state.withLock { ($0.pending, $0.searched) = ([], 0) }
    }

    func next(prompt: String) async -> LineInput {
        screen?.put(prompt)
        state.withLock { $0.isInterrupted = false }
        while true {
            if state.withLock({ $0.isInterrupted }) {
                screen?.put("\n")
                return .interrupted
            }
            if let line = state.withLock({ $0.takeLine() }) { return Self.input(line) }
            if state.withLock({ $0.isAtEnd }) { return .end }
            do throws(InputFailure) {
                guard case .bytes(let bytes) = try await input.next() else { continue }
                let isTooLong = state.withLock { state in
                    state.pending += bytes
                    state.isAtEnd = bytes.isEmpty
                    return state.pending.count > ScriptFile.limit && !bytes.contains(0x0a)
                }
                if isTooLong { return .broken(PushError("input.too_large", "a line has more than \(ScriptFile.limit >> 20) MiB")) }
            } catch {
                return .broken(PushError("input.failed", "standard input cannot be read: \(error.reason)"))
            }
        }
    }

    private static func input(_ line: [UInt8]) -> LineInput {
        guard let text = String(validating: line, as: UTF8.self) else {
            return .unreadable(PushError("script.encoding", "the line is not UTF-8", hint: "write UTF-8"))
        }
        return .line(text)
    }
}
