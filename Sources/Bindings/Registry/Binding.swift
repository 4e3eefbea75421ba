import Lua

/// One function of the `push` module: its body, and the description from which checks, help, stubs and reference are generated.
package struct Binding: Sendable {
    /// `push.send`, `push.tag.user`, `session:register`, `device:inbox`.
    package var name: String
    /// One sentence for help and reference.
    package var summary: String
    /// How it is called.
    package var takes: CallForm
    package var returns: Returns?
    /// When it may be called.
    package var conditions: CallConditions
    /// Codes of errors that it can raise, besides misuse.
    package var errors: [String]
    package var example: String
    package var body: Body

    package struct Returns: Sendable {
        package var type: String
        package var summary: String
        /// The function parameter whose results are returned, as for the function of a step.
        package var resultsOf: String?

        package init(type: String, summary: String = "", resultsOf: String? = nil) {
            self.type = type
            self.summary = summary
            self.resultsOf = resultsOf
        }
    }

    package init(
        _ name: String, _ summary: String, takes: CallForm = .positional([]), returns: Returns? = nil,
        when conditions: CallConditions = .in(),
        errors: [String] = [], example: String, body: Body
    ) {
        self.name = name
        self.summary = summary
        self.takes = takes
        self.returns = returns
        self.conditions = conditions
        self.errors = errors + (conditions.needs == nil ? [] : ["target.unsupported"])
        self.example = example
        self.body = body
    }

    package var parameters: [Parameter] { takes.parameters }
    package var style: CallForm.Style { takes.style }

    /// The handle before the colon: `session` for `session:register`.
    package var receiver: String? {
        name.firstIndex(of: ":").map { String(name[..<$0]) }
    }

    /// The name after the last separator: `register` for `session:register`, `user` for `push.tag.user`.
    package var shortName: String {
        String(name[(name.lastIndex { $0 == ":" || $0 == "." }.map(name.index(after:)) ?? name.startIndex)...])
    }

    /// The form that the hint of a wrong call shows: the call, or for a table that a script returns instead, the example.
    package var correctForm: String { takes.isReturned ? example : signature }

    /// The call as help shows it: `push.send{ to=, alert= }`.
    package var signature: String {
        let names = parameters.map { $0.isRequired ? $0.name : "[\($0.name)]" }
        return switch style {
        case .leading:
            "\(name)(\(names.first ?? ""), { \(names.dropFirst().map { "\($0)=" }.joined(separator: ", ")) })"
        case .table: "\(name){ \(names.map { "\($0)=" }.joined(separator: ", ")) }"
        case .positional: "\(name)(\(names.joined(separator: ", ")))"
        case .value: name
        }
    }
}

extension Binding.Returns: ExpressibleByStringLiteral {
    package init(stringLiteral value: String) {
        self.init(type: value)
    }
}
