import Glibc
import PushCore

/// A question to whoever sits at the terminal, before something is done that cannot be taken back.
struct Question: Sendable {
    let text: String
    /// Of the error where it is not answered with yes.
    let code: String

    /// Throws where the answer is no, or nobody can be asked.
    func ask(on errors: Output) async throws(PushError) {
        guard isatty(STDIN_FILENO) == 1, errors.isTerminal else {
            throw PushError(code, "\(text) Nobody can be asked", hint: "say --yes")
        }
        errors.put("\(text.printable) [y/N] ")
        let answer = try await blocking { () throws(PushError) in readLine() ?? "" }
        guard ["y", "yes"].contains(answer.lowercased()) else {
            throw PushError(code, "nothing was done", hint: "answer y, or say --yes")
        }
    }
}

/// Asks one at a time, so that an answer is one to the question that is shown.
actor Questions {
    private var turns = Turns<String>()

    func ask(_ question: Question, on errors: Output) async throws(PushError) {
        if !turns.take("") { await withCheckedContinuation { turns.wait("", $0) } }
        defer { turns.leave("") }
        for isAsked in [false, true] {
            if isAsked { try await question.ask(on: errors) }
            if Task.isCancelled { throw PushError("cancelled", "the run has ended") }
        }
    }
}
