import Lua
import PushCore

/// One page of the catalogue: what an error code means and what to do about it.
package struct ErrorDescription: Sendable {
    /// `args.unknown_key`.
    package var code: String
    /// How it comes up, most often first.
    package var kinds: [Kind]
    /// What it means, one sentence.
    package var summary: String
    /// When it happens.
    package var occasion: String
    /// What to do.
    package var cure: String
    package var example: Example?

    package enum Kind: String, Sendable, CaseIterable {
        /// The world did not cooperate.
        case failure
        /// The script uses a function wrongly.
        case misuse
        /// The script itself failed.
        case runtime
        /// The script does not compile.
        case syntax
        /// A budget is used up.
        case budget
        /// The run or the task was cancelled.
        case cancelled
        /// The command ends before anything has run.
        case refusal
        /// `pushhost check` reports it, without running the script.
        case finding
        /// A server answers a request with it.
        case answer
        /// The run goes on.
        case warning

        /// What becomes of the run.
        var consequence: String {
            switch self {
            case .failure: "The call raises it; push.try and pcall catch it."
            case .misuse: "The call raises it, as a mistake of the script; pcall catches it, push.try raises it again."
            case .runtime: "Lua raises it; push.try and pcall catch it."
            case .syntax: "The script does not start."
            case .budget: "The run ends; the script cannot hold it up."
            case .cancelled: "What the task waits for raises it; the task may clean up, then it ends."
            case .refusal: "The command ends before anything has run."
            case .finding: "pushhost check reports it, with exit code 3 where it is an error, 0 where it is a warning."
            case .answer: "A server answers the request with it: code, message and hint, in JSON."
            case .warning: "It is a warning: the run goes on."
            }
        }
    }

    /// A mistake and its cure, as a script or as a command line.
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

    /// The bindings whose descriptions name the code.
    package var bindings: [Binding] { BindingRegistry.all.filter { $0.errors.contains(code) } }

    /// The exit codes of a run that it ends, one per kind; none where the run goes on.
    package var exitCodes: [Int32] { kinds.compactMap { Self.exitCode(code, $0) }.uniqued() }

    /// What becomes of a run, a line per kind.
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
