package import Lua
import PushModel

/// A page of the catalogue: the meaning of an error code, and what to do about it.
package struct ErrorDescription: Sendable {
    /// `args.unknown_key`.
    package var code: String
    /// The ways in which the code occurs, most frequent first.
    package var kinds: [Kind]
    /// The meaning, in one sentence.
    package var summary: String
    /// The circumstances in which it occurs.
    package var occasion: String
    /// What to do.
    package var fix: String
    package var example: Example?

    /// A place where the error can occur, and what follows there.
    package enum Kind: String, Sendable, CaseIterable {
        /// A correct call of a script failed.
        case failure
        /// The script uses a function incorrectly.
        case misuse
        /// Lua raised an error in the script.
        case runtime
        /// The script does not compile.
        case syntax
        /// A budget is exceeded.
        case budget
        /// The run or the task was cancelled.
        case cancelled
        /// The command line or a file that it names is invalid.
        case refusal
        /// A command fails during its work.
        case breakdown
        /// `pushhost check` reports it without running the script.
        case finding
        /// A server returns it as the response to a request.
        case answer
        /// A server reports it in its log or for its job, and continues.
        case log
        /// The run continues.
        case warning
        /// A line of `pushhost repl` fails.
        case line
        /// A test of `pushhost test` fails.
        case test
        /// A program that uses the libraries receives it.
        case program
    }

    /// A mistake and its correction, as a script or a command line.
    package struct Example: Sendable {
        package enum Language: String, Sendable { case lua, sh }

        package var language: Language
        package var mistake: String
        package var fix: String

        static func lua(_ mistake: String, fix: String) -> Example { Example(language: .lua, mistake: mistake, fix: fix) }
        static func shell(_ mistake: String, fix: String) -> Example { Example(language: .sh, mistake: mistake, fix: fix) }
    }

    init(
        _ code: String, _ kinds: Kind..., means summary: String, when occasion: String, fix: String, example: Example? = nil
    ) {
        self.code = code
        self.kinds = kinds
        self.summary = summary
        self.occasion = occasion
        self.fix = fix
        self.example = example
    }

    /// Exit codes of a run or a command that ends with this error, one per kind; none if it continues.
    package var exitCodes: [Int32] { kinds.compactMap { Self.exitCode(code, $0) }.uniqued() }

    /// What follows from the error, one line per place where it can occur.
    package var effects: [String] { (kinds + responses).map(effect) }

    /// The exit code of a run that ends with an error.
    package static func exitCode(of error: LuaError) -> Int32 {
        Kind(rawValue: error.kind.rawValue).flatMap { exitCode(error.code, $0) } ?? 1
    }

    /// `answer`, if the page gives an HTTP status but does not list the kind.
    private var responses: [Kind] {
        let isListed = [.answer, .log, .program].contains(where: kinds.contains)
        return isListed || !occasion.contains(/[Ss]tatus \d{3}/) ? [] : [.answer]
    }

    private func effect(_ kind: Kind) -> String {
        let exit = Self.exitCode(code, kind).map { "exit code \($0)" } ?? ""
        return switch kind {
        case .failure: "In a script: push.try and pcall catch it; uncaught, \(exit)."
        case .misuse: "In a script: a mistake, which pcall catches and push.try raises again; uncaught, \(exit)."
        case .runtime: "In a script: Lua raises it, push.try and pcall catch it; uncaught, \(exit)."
        case .syntax: "In a script: the script does not start; \(exit)."
        case .budget: "In a script: the run ends, and the script cannot catch the error; \(exit)."
        case .cancelled: "In a script: the waiting call raises it, the task may clean up and then ends; \(exit)."
        case .refusal: "Command: \(exit)."
        case .breakdown: "Command: it fails; \(exit)."
        case .finding: "pushhost check: a finding; exit code 3 for an error, 0 for a warning."
        case .answer: "HTTP: an error response. A command that receives it: exit code \(Self.isPolicy(code) ? 5 : 4)."
        case .log: "Server: it reports the error and continues."
        case .warning: "In a script: a warning; the run continues."
        case .line: "pushhost repl: the line fails, the session continues; if its lines come through a pipe, \(exit)."
        case .test: "pushhost test: the test fails; \(exit)."
        case .program: "Swift program: the call of the library throws it."
        }
    }

    private static func exitCode(_ code: String, _ kind: Kind) -> Int32? {
        if [.warning, .finding, .answer, .log, .program].contains(kind) { return nil }
        if code.hasPrefix("usage.") { return 2 }
        if ["target.", "sas.", "control."].contains(where: code.hasPrefix) { return 4 }
        if ["lab.key", "lab.session", "lab.answer"].contains(code) { return 4 }
        if isPolicy(code) { return 5 }
        if code.hasPrefix("budget.") { return 3 }
        return switch kind {
        case .failure, .runtime, .cancelled, .breakdown, .line, .test: 1
        case .refusal: 2
        case .misuse, .syntax, .budget: 3
        case .warning, .finding, .answer, .log, .program: nil
        }
    }

    private static func isPolicy(_ code: String) -> Bool {
        code.hasPrefix("policy.") || ["approval.required", "approval.denied", "approval.own"].contains(code)
    }
}
