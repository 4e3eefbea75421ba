import Lua

/// One function of the `push` module: its description, from which its checks, help, stubs and reference come, and its body.
package struct Binding: Sendable {
    /// `push.send`, `push.tag.user`, `session:register`, `device:inbox`.
    package var name: String
    /// One sentence.
    package var summary: String
    package var parameters: [Parameter]
    package var style: Style
    package var returns: Returns?
    /// Codes of the errors it may raise besides misuse.
    package var errors: [String]
    /// What it needs of the target: without it, it raises `target.unsupported`.
    package var needs: TargetFeature?
    /// Where it may be called: anywhere else it raises `phase.not_allowed`.
    package var phases: Set<ScriptPhase>
    /// What a plugin must have been granted for it.
    package var capability: Capability.Kind?
    package var example: String
    /// Which of the keys go together.
    package var constraint: Constraint?
    package var body: Body

    /// Raises what is wrong with a call, of the binding with this name, that has these keys and no others.
    package typealias Constraint = @Sendable (_ keys: Set<String>, _ name: String) throws(LuaError) -> Void

    package enum Style: Sendable {
        /// One table with named keys.
        case table
        /// Values in the order of the parameters.
        case positional
        /// The first parameter's value, then one table with the others.
        case leading
        /// No function: a value that is there to be read.
        case value
    }

    package struct Returns: Sendable {
        package var type: String
        package var summary: String
        /// The parameter whose own results are returned: what a step's function returns.
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

    /// `session` for `session:register`.
    package var receiver: String? {
        name.firstIndex(of: ":").map { String(name[..<$0]) }
    }

    /// `register` for `session:register`, `user` for `push.tag.user`.
    package var shortName: String {
        String(name[(name.lastIndex { $0 == ":" || $0 == "." }.map(name.index(after:)) ?? name.startIndex)...])
    }

    /// `push.send{ to=, alert= }`, as help shows it.
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
    /// What it means; also the cure when it is missing.
    package var summary: String
    /// What people write instead when they do not know the name.
    package var mistakenFor: [String]
    /// Refuses, before any run, what every run would refuse.
    package var rule: Rule?

    /// Throws what the call itself would raise for a value of the right type.
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
