import Foundation
import HostSupport
import Synchronization
import Testing

/// A program in its own process that a test interacts with: the test writes to its input and waits for output. Standard output and
/// standard error are one stream.
final class Dialogue: Sendable {
    private let child: Child
    /// The write end of the program's input, or the terminal if it has one.
    private let input: Int32
    /// The time after which a program that does not print what a test waits for counts as hanging.
    private static let longestWait = Duration.seconds(600)
    private let state = Mutex((unheard: [UInt8](), isInputOpen: true, hasEnded: false))

    /// The program did not print the expected text within ten minutes. It has been killed.
    struct Silence: Error, CustomStringConvertible {
        let wanted: String
        let heard: String

        var description: String { "waited for \"\(wanted)\", heard \"\(heard)\"" }
    }

    init(
        _ arguments: [String], tool: String = BuiltProgram.executable.path, in folder: URL = BuiltProgram.root,
        environment: [String: String] = [:], onTerminal: Bool = false, columns: UInt16 = 200
    ) throws {
        let ends = Child.whileNoneIsMade {
            var (own, other): (Int32, Int32) = (-1, -1)
            if onTerminal {
                var size = winsize(ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
                openpty(&own, &other, nil, nil, &size)
            } else {
                var ends: [Int32] = [-1, -1]
                pipe(&ends)
                (other, own) = (ends[0], ends[1])
            }
            for end in [own, other] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            return (own: own, other: other)
        }
        input = ends.own
        let streams: Child.Streams =
            onTerminal ? .terminal(path: try Self.name(ofTerminal: ends.other), master: ends.own) : .pipe(input: ends.other)
        // A test may wait longer than the default time limit of a script.
        var arguments = arguments
        if tool == BuiltProgram.executable.path, let command = arguments.first, ["run", "test", "repl"].contains(command) {
            arguments.insert(contentsOf: ["--cpu-limit", "10m"] + (command == "test" ? ["--timeout", "10m"] : []), at: 1)
        }
        let variables = ["TERM": "xterm", "NO_COLOR": "1"].merging(environment) { $1 }
        child = try Child(tool, arguments, in: folder.path, environment: variables, streams: streams)
        close(ends.other)
        close(child.errors.descriptor)
    }

    deinit {
        if state.withLock({ $0.isInputOpen }) { close(input) }
        if child.output.descriptor != input { close(child.output.descriptor) }
        // A child without a `waitpid` would hide the exits of all other children from the tests.
        guard !state.withLock({ $0.hasEnded }) else { return }
        child.signal(SIGKILL)
        _ = child.waitForEnd()
    }

    /// Uses `ttyname_r`: the buffer of `ttyname` is shared by all tests, and a program would get another one's terminal.
    private static func name(ofTerminal terminal: Int32) throws -> String {
        var name = [CChar](repeating: 0, count: 128)
        try #require(ttyname_r(terminal, &name, name.count) == 0)
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Types on the terminal, or writes to the pipe.
    func say(_ text: String) {
        let bytes = Array(text.utf8)
        var start = 0
        while start < bytes.count {
            let count = bytes[start...].withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            start += count
        }
    }

    func signal(_ number: Int32) { child.signal(number) }

    /// The process id.
    var id: pid_t { child.id }

    /// Whether a signal has stopped the program.
    var isStopped: Bool {
        // The state follows the name, which is in parentheses (proc_pid_stat(5)).
        let status = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8)
        return status?.split(separator: ")").last?.hasPrefix(" T ") == true
    }

    /// Waits until the program prints `text`. Returns the unread output up to and including it. Sends the signal as soon as the text
    /// has appeared.
    @discardableResult
    func hear(_ text: String, thenSignal number: Int32? = nil) async throws -> String {
        let wanted = Array(text.utf8)
        let heard: (text: String, isComplete: Bool) = await onThread { [self] in
            // A server that keeps logging other things must not keep a test waiting forever.
            let deadline = ContinuousClock.now + Self.longestWait
            while true {
                let found = state.withLock { state -> String? in
                    guard let place = state.unheard.firstRange(of: wanted) else { return nil }
                    defer { state.unheard.removeSubrange(..<place.upperBound) }
                    return String(decoding: state.unheard[..<place.upperBound], as: UTF8.self)
                }
                if let found {
                    if let number { signal(number) }
                    return (found, true)
                }
                guard ContinuousClock.now < deadline, listen() else {
                    return (state.withLock { String(decoding: $0.unheard, as: UTF8.self) }, false)
                }
            }
        }
        guard heard.isComplete else {
            child.signal(SIGKILL)
            throw Silence(wanted: text, heard: heard.text)
        }
        return heard.text
    }

    /// Closes the input and waits for the exit. Returns the remaining output and the exit code, which is 128 plus the signal's number
    /// if a signal killed the program. For a program that a signal ends, leave the input open: the end of input could win.
    func end(closingInput: Bool = true) async -> (output: String, status: Int32) {
        if closingInput, child.output.descriptor != input,
            state.withLock({ state in
                defer { state.isInputOpen = false }
                return state.isInputOpen
            })
        {
            close(input)
        }
        let rest = await onThread { [self] in
            while listen() {}
            return state.withLock { String(decoding: $0.unheard, as: UTF8.self) }
        }
        // It has closed its output, or has printed nothing for too long.
        if kill(child.id, 0) == 0, isSilent { child.signal(SIGKILL) }
        let status = await child.end()
        state.withLock { $0.hasEnded = true }
        return (rest, status & 0x7f != 0 ? 128 + status & 0x7f : status >> 8 & 0xff)
    }

    /// Whether there is nothing to read, while the output is still open.
    private var isSilent: Bool {
        var wait = pollfd(fd: child.output.descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&wait, 1, 0) == 0
    }

    /// Reads what is available; waits up to ten minutes for it. Returns `false` at the end of the output.
    private func listen() -> Bool {
        var wait = pollfd(fd: child.output.descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&wait, 1, Int32(Self.longestWait.components.seconds) * 1_000) > 0 else { return false }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(child.output.descriptor, &buffer, buffer.count)
        guard count > 0 else { return false }
        state.withLock { $0.unheard += buffer[..<count] }
        return true
    }

    private func onThread<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: work()) }
        }
    }
}
