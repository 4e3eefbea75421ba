import Dispatch
import Glibc
import PushCore
import Synchronization

/// A question to whoever sits at the terminal, before something is done that cannot be taken back.
struct Question: Sendable {
    let text: String
    /// Of the error where it is not answered with yes.
    let code: String

    /// Throws where the answer is no, or nobody can be asked; `cancelled` where nobody waits for the answer any more.
    func ask(on errors: Output) async throws(PushError) {
        guard isatty(STDIN_FILENO) == 1, errors.isTerminal else {
            throw PushError(code, "\(text) Nobody can be asked", hint: "say --yes")
        }
        // What was typed before was no answer to this.
        tcflush(STDIN_FILENO, TCIFLUSH)
        errors.put("\(text.printable) [y/N] ")
        guard let answer = await Self.answer() else {
            errors.line()
            throw PushError("cancelled", "the run has ended")
        }
        guard ["y", "yes"].contains(answer.lowercased()) else {
            throw PushError(code, "nothing was done", hint: "answer y, or say --yes")
        }
    }

    /// How often is looked whether somebody still waits for the answer, in milliseconds.
    private static let patience: Int32 = 100

    /// A line; empty at the end of the input, nil where the task was cancelled: the line that comes then is another question's.
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
            if poll(&input, 1, patience) > 0 { return readLine() ?? "" }
        }
        return nil
    }

    private final class Flag: Sendable {
        private let state = Mutex(false)

        var isRaised: Bool { state.withLock { $0 } }
        func raise() { state.withLock { $0 = true } }
    }
}

/// Asks one at a time, so that an answer is one to the question that is shown.
actor Questions {
    private var turns = Turns<String>()

    /// - Parameter screen: what is printed on the same terminal meanwhile.
    func ask(_ question: Question, on errors: Output, over screen: Output) async throws(PushError) {
        if !turns.take("") { await withCheckedContinuation { turns.wait("", $0) } }
        defer { turns.leave("") }
        screen.hold()
        defer { screen.release() }
        for isAsked in [false, true] {
            if isAsked { try await question.ask(on: errors) }
            if Task.isCancelled { throw PushError("cancelled", "the run has ended") }
        }
    }
}
