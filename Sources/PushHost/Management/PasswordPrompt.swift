import Glibc
import PushCore

/// Asks for a password on the terminal, twice, without showing it.
struct PasswordPrompt {
    private let errors = Output(descriptor: STDERR_FILENO)

    var canAsk: Bool { isatty(STDIN_FILENO) == 1 && errors.isTerminal }

    /// Throws `usage.password` where nobody can be asked, where the two differ, and for none.
    func ask(for name: String) async throws(PushError) -> Secret {
        guard canAsk else {
            throw PushError(
                "usage.password", "the password of \(name) is not given, and nobody can be asked",
                hint: "write it to standard input, and say --password-stdin")
        }
        let first = try await hidden("Password of \(name): ")
        guard !first.isEmpty else { throw Self.empty }
        guard try await hidden("The same again: ") == first else {
            throw PushError("usage.password", "the two passwords differ", hint: "try again")
        }
        return first
    }

    /// Asks for something secret that exists already, once. Throws `usage.password` where nobody can be asked, and for nothing.
    func askOnce(_ question: String, _ name: String, hint: String) async throws(PushError) -> Secret {
        guard canAsk else {
            throw PushError("usage.password", "the \(name) is not given, and nobody can be asked", hint: hint)
        }
        let secret = try await hidden(question)
        guard !secret.isEmpty else { throw Self.empty }
        return secret
    }

    /// The only line of standard input. Throws `usage.password` where there is more already: the rest may have been meant, too. Its
    /// end is not waited for: whoever writes may keep it open.
    static func line() async throws(PushError) -> Secret {
        let (secret, isAlone) = try await typed()
        guard isAlone else {
            throw PushError(
                "usage.password", "standard input has more than one line", hint: "write the password alone; it cannot have line breaks")
        }
        guard !secret.isEmpty else { throw empty }
        return secret
    }

    /// A line, and whether nothing is there behind it.
    private static func typed() async throws(PushError) -> (secret: Secret, isAlone: Bool) {
        let (bytes, isAlone) = try await blocking { () throws(PushError) in try read() }
        // Repaired, it would be another password than the one that was typed.
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw PushError("usage.password", "the password is not UTF-8", hint: "write it as UTF-8, or choose another")
        }
        return (Secret(text), isAlone)
    }

    /// Past the buffer of `readLine`, which would hide from `poll` what is there.
    private static func read() throws(PushError) -> (line: [UInt8], isAlone: Bool) {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0 {
                try awaitInput(after: errno)
                continue
            }
            guard count > 0 else { return (bytes, true) }
            bytes += buffer[..<count]
            guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { continue }
            let line = bytes[..<end]
            return (Array(line.last == UInt8(ascii: "\r") ? line.dropLast() : line), end == bytes.count - 1 && !hasMore())
        }
    }

    /// Where another program has left standard input so that reading does not wait, it is waited for here: what has come so far is not
    /// the password.
    private static func awaitInput(after number: Int32) throws(PushError) {
        switch number {
        case EINTR: return
        case EAGAIN:
            var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            _ = poll(&input, 1, -1)
        default:
            throw PushError(
                "usage.password", "the password cannot be read from standard input: \(String(cString: strerror(number)))",
                hint: "write it to a pipe, or give a file")
        }
    }

    /// On a terminal the line that was typed is all there is.
    private static func hasMore() -> Bool {
        guard isatty(STDIN_FILENO) == 0 else { return false }
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        guard poll(&input, 1, 0) > 0, input.revents & Int16(POLLIN) != 0 else { return false }
        var byte: UInt8 = 0
        return Glibc.read(STDIN_FILENO, &byte, 1) > 0
    }

    private func hidden(_ question: String) async throws(PushError) -> Secret {
        let shown = Self.settings()
        // Ctrl-C leaves the terminal as it was, and so does Ctrl-\.
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

    /// Those of the terminal; nil where there are none.
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
