/// An error of a script, or of a host function that a script called.
///
/// A host function throws one to raise it in the script, where it is a table with the fields `code`, `message`, `hint`, `status`,
/// `retryable`, `where`, `tracking_id`, `details` and `kind`. An error that the script does not catch returns to the host unchanged, with
/// the location where it was raised.
public struct LuaError: Error, Sendable, Equatable {
    /// The category of an error.
    public enum Kind: String, Sendable, CaseIterable {
        /// Something outside of the script failed: a service rejected a request, a connection broke.
        case failure
        /// The script used a function incorrectly.
        case misuse
        /// The script itself failed: it called `error`, indexed nil, overflowed the stack.
        case runtime
        /// The script does not compile.
        case syntax
        /// The run used up one of its budgets.
        case budget
        /// The run or the task was cancelled.
        case cancelled
    }

    /// The category.
    public var kind: Kind
    /// A stable dotted name, such as `hub.no_target`.
    public var code: String
    /// A description of the error for people.
    public var message: String
    /// What to do about it.
    public var hint: String?
    /// The HTTP status, if a response caused the error.
    public var status: Int?
    /// Whether the same call may succeed later.
    public var isRetryable: Bool
    /// The identifier under which a remote service logged the request.
    public var trackingID: String?
    /// Further data about the error, for programs.
    public var details: LuaValue
    /// The script line. Set when the error is raised in a script.
    public var location: SourceLocation?
    /// The script lines that led to the error, innermost first.
    public var traceback: [SourceLocation]
    /// The run's annotations, see ``LuaState/run(_:id:arguments:annotations:limits:)``.
    public var annotations: [String: String]
    /// The value that the script raised, if it was not a structured error.
    public var value: LuaValue
    /// Whether `message` is about the type of `value`, because the value has no text of its own.
    package var describesType = false

    /// Makes an error.
    public init(
        kind: Kind,
        code: String,
        message: String,
        hint: String? = nil,
        status: Int? = nil,
        isRetryable: Bool = false,
        trackingID: String? = nil,
        details: LuaValue = .nil,
        location: SourceLocation? = nil,
        traceback: [SourceLocation] = [],
        annotations: [String: String] = [:],
        value: LuaValue = .nil
    ) {
        self.kind = kind
        self.code = code
        self.message = message
        self.hint = hint
        self.status = status
        self.isRetryable = isRetryable
        self.trackingID = trackingID
        self.details = details
        self.location = location
        self.traceback = traceback
        self.annotations = annotations
        self.value = value
    }
}

extension LuaError: CustomStringConvertible {
    /// The text that `tostring` returns in a script: `FILE:LINE: MESSAGE (CODE)`.
    public var description: String {
        (location.map { "\($0): " } ?? "") + "\(message) (\(code))"
    }
}

extension LuaError {
    static func misuse(_ code: String, _ message: String, hint: String? = nil) -> LuaError {
        LuaError(kind: .misuse, code: code, message: message, hint: hint)
    }

    /// The error for a field or method that objects of a type do not have.
    package static func unknownMember(_ wanted: String, of type: String, names: [String]) -> LuaError {
        let names = names.sorted()
        let meant = nearest(to: wanted, among: names)
        return .misuse(
            "script.unknown_name", "a \(type) has no field or method '\(wanted)'",
            hint: meant.map { "did you mean '\($0)'?" } ?? "it has \(names.joined(separator: ", "))")
    }

    /// The name that was probably meant by a misspelt one. The names must be sorted.
    static func nearest(to wanted: String, among names: [String]) -> String? {
        // A partial name is more likely than a misspelt other one: user for username.
        let whole = wanted.count >= 3 ? names.first { $0.hasPrefix(wanted) } ?? names.first { $0.hasSuffix(wanted) } : nil
        let near = names.min { editDistance($0, wanted) < editDistance($1, wanted) }
        // Two swapped letters count as two edits.
        let limit = min(max(2, wanted.count / 3), wanted.count - 1)
        return whole ?? near.flatMap { editDistance($0, wanted) <= limit ? $0 : nil }
    }

    static let cancelled = LuaError(kind: .cancelled, code: "cancelled", message: "the run was cancelled")
    static let taskCancelled = LuaError(kind: .cancelled, code: "cancelled", message: "the task was cancelled")

    /// Converts any error to a structured one.
    init(raisedByHost error: any Error) {
        if let error = error as? LuaError {
            self = error
        } else if let error = error as? UnreadableValue {
            self = error.error
        } else if error is CancellationError {
            self = .cancelled
        } else {
            self.init(kind: .failure, code: "host.error", message: "\(error)")
        }
    }
}
