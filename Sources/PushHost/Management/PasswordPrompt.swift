import Glibc
import PushModel
import PushRuntime

/// Reads a password: from the terminal without echo, or from standard input.
struct PasswordPrompt {
    private let errors = Output(descriptor: STDERR_FILENO)

    var canAsk: Bool { isatty(STDIN_FILENO) == 1 && errors.isTerminal }

    /// Asks twice. Throws `usage.password` if there is no terminal, the answers differ, or they are empty.
    func ask(for name: String) async throws(PushError) -> Secret {
        guard canAsk else {
            throw PushError(
                "usage.password", "no password for \(name): not a terminal",
                hint: "pass --password-stdin, and write it to standard input")
        }
        let first = try await hidden("Password of \(name): ")
        guard !first.isEmpty else { throw Self.empty }
        guard try await hidden("Repeat: ") == first else {
            throw PushError("usage.password", "the two passwords differ", hint: "try again")
        }
        return first
    }

    /// Asks once for an existing secret. Throws `usage.password` if there is no terminal or the answer is empty.
    func askOnce(_ question: String, _ name: String, hint: String) async throws(PushError) -> Secret {
        guard canAsk else {
            throw PushError("usage.password", "no \(name): not a terminal", hint: hint)
        }
        let secret = try await hidden(question)
        guard !secret.isEmpty else { throw Self.empty }
        return secret
    }

    /// Reads the password from standard input, which must be a single line. Throws `usage.password` if more has arrived, because it may
    /// belong to the password. Does not wait for the end of input, because the writer may keep it open.
    static func line() async throws(PushError) -> Secret {
        let (secret, isAlone) = try await typed()
        guard isAlone else {
            throw PushError(
                "usage.password", "standard input has more than one line", hint: "write only the password; it cannot contain line breaks")
        }
        guard !secret.isEmpty else { throw empty }
        return secret
    }

    /// Reads a line, and whether it is all that has arrived.
    private static func typed() async throws(PushError) -> (secret: Secret, isAlone: Bool) {
        let (bytes, isAlone) = try await blocking { () throws(PushError) in try read() }
        // Repairing invalid UTF-8 would change the password.
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw PushError("usage.password", "the password is not UTF-8", hint: "write it as UTF-8, or choose another")
        }
        return (Secret(text), isAlone)
    }

    /// Reads without the buffer of `readLine`, which would hide further input from `poll`.
    private static func read() throws(PushError) -> (line: [UInt8], isAlone: Bool) {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0 {
                try waitForInput(after: errno)
                continue
            }
            guard count > 0 else { return (bytes, true) }
            bytes += buffer[..<count]
            guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { continue }
            let line = bytes[..<end]
            return (Array(line.last == UInt8(ascii: "\r") ? line.dropLast() : line), end == bytes.count - 1 && !hasMore())
        }
    }

    /// Waits for input if another program has made standard input non-blocking. What has arrived so far is not the whole password.
    private static func waitForInput(after number: Int32) throws(PushError) {
        switch number {
        case EINTR: return
        case EAGAIN:
            var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            _ = poll(&input, 1, -1)
        default:
            throw PushError(
                "usage.password", "the password cannot be read from standard input: \(String(cString: strerror(number)))",
                hint: "write it to a pipe, or use a file")
        }
    }

    /// Whether more input has arrived. On a terminal, the line is all there is.
    private static func hasMore() -> Bool {
        guard isatty(STDIN_FILENO) == 0 else { return false }
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        guard poll(&input, 1, 0) > 0, input.revents & Int16(POLLIN) != 0 else { return false }
        var byte: UInt8 = 0
        return Glibc.read(STDIN_FILENO, &byte, 1) > 0
    }

    private func hidden(_ question: String) async throws(PushError) -> Secret {
        let shown = Self.settings()
        // Signals that end the program restore the terminal first.
        for number in [SIGINT, SIGQUIT, SIGTERM, SIGHUP] where !Signals.isIgnored(number) {
            Signals.watch(number) {
                Self.restore(shown)
                _exit(ExitStatus.interrupted)
            }
        }
        Self.hide(shown)
        errors.put(question.printable)
        defer {
            Self.restore(shown)
            errors.put("\n")
        }
        return try await Self.typed().secret
    }

    /// The terminal's settings; nil without a terminal.
    private static func settings() -> termios? {
        var settings = termios()
        return tcgetattr(STDIN_FILENO, &settings) == 0 ? settings : nil
    }

    private static func hide(_ shown: termios?) {
        guard var settings = shown else { return }
        settings.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
    }

    private static func restore(_ settings: termios?) {
        guard var settings else { return }
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
    }

    private static let empty = PushError("usage.password", "the password is empty", hint: "choose one")
}
