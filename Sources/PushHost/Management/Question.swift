import Dispatch
import Glibc
import PushModel
import PushRuntime
import Synchronization

/// Asks the user at the terminal to confirm something that cannot be undone.
struct Question: Sendable {
    /// What needs confirmation, as a clause without a full stop: `This revokes key ci for all hubs`.
    let text: String
    /// What follows from it, as another clause.
    var consequence: String?
    /// Code of the error if the answer is not yes.
    let code: String

    /// Throws if the user does not answer yes or there is no terminal, and `cancelled` if the task is cancelled meanwhile.
    func ask(on errors: Output) async throws(PushError) {
        guard isatty(STDIN_FILENO) == 1, errors.isTerminal else {
            let clause = text.hasPrefix("This ") ? "t\(text.dropFirst())" : text
            throw PushError(
                code, "\(clause), which needs confirmation; not a terminal, so nothing was done", hint: "pass --yes to confirm")
        }
        // Discards input that was typed before the question.
        tcflush(STDIN_FILENO, TCIFLUSH)
        let question = consequence.map { "\(text). \($0)" } ?? text
        errors.put("\(question.printable). [y/N] ")
        guard let answer = await Self.answer() else {
            errors.line()
            throw PushError("cancelled", "the run has ended")
        }
        guard ["y", "yes"].contains(answer.lowercased()) else {
            throw PushError(code, "not confirmed, nothing was done", hint: "answer y, or pass --yes")
        }
    }

    /// How often to check for cancellation, in milliseconds.
    private static let pollInterval: Int32 = 100

    /// Reads a line; empty at the end of the input. Nil if the task is cancelled, so that the next line answers the next question.
    private static func answer() async -> String? {
        let isOver = Flag()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(returning: line(until: isOver)) }
            }
        } onCancel: {
            isOver.raise()
        }
    }

    private static func line(until isOver: Flag) -> String? {
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        while !isOver.isRaised {
            if poll(&input, 1, pollInterval) > 0 { return readLine() ?? "" }
        }
        return nil
    }

    private final class Flag: Sendable {
        private let state = Mutex(false)

        var isRaised: Bool { state.withLock { $0 } }
        func raise() { state.withLock { $0 = true } }
    }
}

/// Asks one question at a time, so that an answer belongs to the question that is shown.
actor ConfirmationQueue {
    private var lock = KeyedLock<String>()

    /// - Parameter screen: other output to the same terminal, held until the question is answered.
    func ask(_ question: Question, on errors: Output, over screen: Output) async throws(PushError) {
        if !lock.acquire("") { await withCheckedContinuation { lock.wait("", $0) } }
        defer { lock.release("") }
        screen.hold()
        defer { screen.release() }
        for isAsked in [false, true] {
            if isAsked { try await question.ask(on: errors) }
            if Task.isCancelled { throw PushError("cancelled", "the run has ended") }
        }
    }
}
