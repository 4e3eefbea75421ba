import Glibc
import PushCore

/// Asks for a password on the terminal, twice, without showing it.
struct PasswordPrompt {
    private let errors = Output(descriptor: STDERR_FILENO)

    /// Throws `usage.password` where nobody can be asked, where the two differ, and for none.
    func ask(for name: String) async throws(PushError) -> Secret {
        guard isatty(STDIN_FILENO) == 1, errors.isTerminal else {
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

    /// The only line of standard input. Throws `usage.password` where there are more: the rest may have been meant, too.
    static func line() async throws(PushError) -> Secret {
        let secret = try await typed()
        // On a terminal the line that was typed is all there is.
        let isAlone = try await blocking { () throws(PushError) in isatty(STDIN_FILENO) == 1 || readLine(strippingNewline: false) == nil }
        guard isAlone else {
            throw PushError(
                "usage.password", "standard input has more than one line", hint: "write the password alone; it cannot have line breaks")
        }
        guard !secret.isEmpty else { throw empty }
        return secret
    }

    /// What `readLine` cannot read as UTF-8 it would replace: another password than the one that was typed.
    private static func typed() async throws(PushError) -> Secret {
        let text = try await blocking { () throws(PushError) in readLine() ?? "" }
        guard !text.unicodeScalars.contains("\u{FFFD}") else {
            throw PushError("usage.password", "the password is not UTF-8", hint: "write it as UTF-8, or choose another")
        }
        return Secret(text)
    }

    private func hidden(_ question: String) async throws(PushError) -> Secret {
        let shown = Self.hide()
        errors.put(question.printable)
        // Ctrl-C leaves the terminal as it was.
        for number in [SIGINT, SIGTERM, SIGHUP] {
            Signals.watch(number) {
                Self.restore(shown)
                _exit(ExitStatus.interrupted)
            }
        }
        defer {
            Self.restore(shown)
            errors.put("\n")
        }
        return try await Self.typed()
    }

    /// The settings from before; nil where there are none.
    private static func hide() -> termios? {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        let before = settings
        settings.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
        return before
    }

    private static func restore(_ settings: termios?) {
        guard var settings else { return }
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
    }

    private static let empty = PushError("usage.password", "the password is empty", hint: "choose one")
}
