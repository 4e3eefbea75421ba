import Lua
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
    package var cure: String
    package var example: Example?

    package enum Kind: String, Sendable, CaseIterable {
        /// A correct call failed.
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
        /// The command ends before it has started anything.
        case refusal
        /// `pushhost check` reports it without running the script.
        case finding
        /// A server returns it as the response to a request.
        case answer
        /// The run continues.
        case warning

        /// The consequence for the run.
        var consequence: String {
            switch self {
            case .failure: "The call raises it; push.try and pcall catch it."
            case .misuse: "The call raises it as a mistake of the script. pcall catches it; push.try raises it again."
            case .runtime: "Lua raises it; push.try and pcall catch it."
            case .syntax: "The script does not start."
            case .budget: "The run ends. The script cannot catch it."
            case .cancelled: "The call that the task waits for raises it. The task may clean up, then it ends."
            case .refusal: "The command ends without having started anything."
            case .finding: "pushhost check reports it, with exit code 3 where it is an error, 0 where it is a warning."
            case .answer: "The server's response contains it as JSON, with code, message and hint."
            case .warning: "It is a warning. The run continues."
            }
        }
    }

    /// A mistake and its correction, as a script or a command line.
    package struct Example: Sendable {
        package enum Language: String, Sendable { case lua, sh }

        package var language: Language
        package var mistake: String
        package var cure: String

        static func lua(_ mistake: String, cure: String) -> Example { Example(language: .lua, mistake: mistake, cure: cure) }
        static func shell(_ mistake: String, cure: String) -> Example { Example(language: .sh, mistake: mistake, cure: cure) }
    }

    init(
        _ code: String, _ kinds: Kind..., means summary: String, when occasion: String, cure: String, example: Example? = nil
    ) {
        self.code = code
        self.kinds = kinds
        self.summary = summary
        self.occasion = occasion
        self.cure = cure
        self.example = example
    }

    /// Exit codes of a run that ends with this error, one per kind; none if the run continues.
    package var exitCodes: [Int32] { kinds.compactMap { Self.exitCode(code, $0) }.uniqued() }

    /// The consequences for a run, one line per kind.
    package var consequences: [String] {
        kinds.map { kind in
            let end = Self.exitCode(code, kind).map {
                kind.isCatchable ? " Uncaught, it ends the run with exit code \($0)." : " Exit code \($0)."
            }
            return kind.consequence + (end ?? "")
        }
    }

    /// The exit code of a run that ends with an error.
    package static func exitCode(of error: LuaError) -> Int32 {
        Kind(rawValue: error.kind.rawValue).flatMap { exitCode(error.code, $0) } ?? 1
    }

    private static func exitCode(_ code: String, _ kind: Kind) -> Int32? {
        if [.warning, .finding, .answer].contains(kind) { return nil }
        if code.hasPrefix("usage.") { return 2 }
        if ["target.", "sas."].contains(where: code.hasPrefix) { return 4 }
        if ["lab.key", "lab.session", "lab.answer"].contains(code) { return 4 }
        if code.hasPrefix("policy.") || ["approval.required", "approval.denied", "approval.own"].contains(code) { return 5 }
        if code.hasPrefix("budget.") { return 3 }
        return switch kind {
        case .failure, .runtime, .cancelled: 1
        case .refusal: 2
        case .misuse, .syntax, .budget: 3
        case .warning, .finding, .answer: nil
        }
    }
}

extension ErrorDescription.Kind {
    fileprivate var isCatchable: Bool { self == .failure || self == .misuse || self == .runtime }
}
