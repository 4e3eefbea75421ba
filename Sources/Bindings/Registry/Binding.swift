import Lua

/// One function of the `push` module: its body, and the description from which checks, help, stubs and reference are generated.
package struct Binding: Sendable {
    /// `push.send`, `push.tag.user`, `session:register`, `device:inbox`.
    package var name: String
    /// One sentence for help and reference.
    package var summary: String
    package var parameters: [Parameter]
    package var style: Style
    package var returns: Returns?
    /// Codes of errors that it can raise, besides misuse.
    package var errors: [String]
    /// A feature that the target must have. Without it the call raises `target.unsupported`.
    package var needs: TargetFeature?
    /// Phases in which it may be called. In other phases it raises `phase.not_allowed`.
    package var phases: Set<ScriptPhase>
    /// The capability that a plugin needs for it.
    package var capability: Capability.Kind?
    package var example: String
    /// Checks which keys may be combined.
    package var constraint: Constraint?
    package var body: Body

    /// Throws an error if a call with exactly these keys is invalid. `name` is the name of the called binding.
    package typealias Constraint = @Sendable (_ keys: Set<String>, _ name: String) throws(LuaError) -> Void

    package enum Style: Sendable {
        /// One table with named keys.
        case table
        /// Values in parameter order.
        case positional
        /// The first parameter as a value, then one table with the others.
        case leading
        /// A value to read, not a function.
        case value
    }

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
        _ name: String, _ summary: String, style: Style = .positional, parameters: [Parameter] = [],
        returns: Returns? = nil, needs: TargetFeature? = nil, phases: Set<ScriptPhase> = [.flow], capability: Capability.Kind? = nil,
        errors: [String] = [], example: String, constraint: Constraint? = nil, body: Body
    ) {
        self.name = name
        self.summary = summary
        self.style = style
        self.parameters = parameters
        self.returns = returns
        self.needs = needs
        self.phases = phases
        self.capability = capability
        self.errors = errors + (needs == nil ? [] : ["target.unsupported"])
        self.example = example
        self.constraint = constraint
        self.body = body
    }

    /// The handle before the colon: `session` for `session:register`.
    package var receiver: String? {
        name.firstIndex(of: ":").map { String(name[..<$0]) }
    }

    /// The name after the last separator: `register` for `session:register`, `user` for `push.tag.user`.
    package var shortName: String {
        String(name[(name.lastIndex { $0 == ":" || $0 == "." }.map(name.index(after:)) ?? name.startIndex)...])
    }

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

package struct Parameter: Sendable {
    package var name: String
    package var type: ParameterType
    package var isRequired: Bool
    /// The meaning of the parameter. Also the hint when it is missing.
    package var summary: String
    /// Names that people write by mistake instead of this one.
    package var mistakenFor: [String]
    /// A check of the value that `pushhost check` can make before any run.
    package var rule: Rule?

    /// Throws the error that the call itself would raise for a value of the right type.
    package typealias Rule = @Sendable (_ value: LuaValue) throws -> Void

    func ruled(by rule: @escaping Rule) -> Parameter {
        var parameter = self
        parameter.rule = rule
        return parameter
    }

    package static func required(
        _ name: String, _ type: ParameterType, _ summary: String, mistakenFor: [String] = []
    ) -> Parameter {
        Parameter(name: name, type: type, isRequired: true, summary: summary, mistakenFor: mistakenFor)
    }

    package static func optional(
        _ name: String, _ type: ParameterType, _ summary: String, mistakenFor: [String] = []
    ) -> Parameter {
        Parameter(name: name, type: type, isRequired: false, summary: summary, mistakenFor: mistakenFor)
    }
}
