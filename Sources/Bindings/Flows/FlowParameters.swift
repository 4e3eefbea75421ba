package import Lua
package import PushModel

/// Arguments of a flow, from the command line or from a caller.
package struct FlowParameters: Sendable {
    /// Options as given: `--user alice` is `("user", "alice")`. A flag without a value has nil.
    package var given: [(name: String, value: String?)]
    /// Whether only the declaration is wanted. `push.args` then ends the run before anything else happens.
    package var isDescribing: Bool
    /// Values by parameter name, if they do not come from a command line. There are no options then.
    package var values: JSONObject?
    /// Whether undeclared and invalid values are ignored. Used for events, which carry more than a flow declares.
    package var ignoresInvalidValues: Bool
    /// Names of values that are secret even if the flow does not declare them so.
    package var secrets: [String]
    /// The user whose request the flow answers.
    package var caller: Session?

    package init(
        given: [(name: String, value: String?)] = [], isDescribing: Bool = false, values: JSONObject? = nil,
        ignoresInvalidValues: Bool = false,
        secrets: [String] = [], caller: Session? = nil
    ) {
        self.given = given
        self.isDescribing = isDescribing
        self.values = values
        self.ignoresInvalidValues = ignoresInvalidValues
        self.secrets = secrets
        self.caller = caller
    }

    /// Option names reserved by the program.
    package static let reserved: Set<String> = [
        "seed", "json", "trace", "timeout", "timings", "target", "hub", "backend", "authority", "config", "help", "version", "watch", "yes",
        "filter", "color", "no-color", "memory", "fail-on-no-target", "tutorial-mode", "cpu-limit", "memory-limit", "instruction-limit",
        "wire",
    ]
}

/// One declared parameter of a flow.
package struct FlowParameter: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable { case string, integer, number, boolean, duration, json }

    package var name: String
    package var kind: Kind
    package var defaultValue: LuaValue?
    package var summary: String
    package var minimum: Double?
    package var maximum: Double?
    package var choices: [String]
    package var isRequired: Bool
    /// Whether the value is never stored and is shown as `***`.
    package var isSecret: Bool

    /// The option as help shows it: `--devices <integer>`.
    package var flag: String {
        kind == .boolean ? "--\(flagName)" : "--\(flagName) <\(choices.isEmpty ? kind.rawValue : choices.joined(separator: "|"))>"
    }

    var flagName: String { name.replacing("_", with: "-") }
}

/// The declared parameters of a flow in alphabetical order, as `--help` lists them.
package struct FlowDeclaration: Error, Sendable, Equatable {
    package var parameters: [FlowParameter]

    package init(parameters: [FlowParameter]) { self.parameters = parameters }

    /// Reads the table given to `push.args`. Throws `args.declaration`.
    init(_ table: LuaTable) throws(LuaError) {
        guard table.array.isEmpty else {
            throw Self.refuse("push.args takes named parameters", "write user = { type = \"string\", default = \"alice\" }")
        }
        var parameters: [FlowParameter] = []
        for (name, value) in table.fields.sorted(by: { $0.key < $1.key }) {
            do throws(LuaError) {
                parameters.append(try FlowParameter(name, value))
            } catch {
                var error = error
                if error.details == .nil { error.details = .table(LuaTable(fields: ["key": .string(name)])) }
                throw error
            }
        }
        self.parameters = parameters
    }

    fileprivate static func refuse(_ message: String, _ hint: String? = nil, key: String? = nil) -> LuaError {
        .misuse("args.declaration", message, hint: hint, details: key.map { ["key": .string($0)] } ?? [:])
    }

    /// The script's values for a command line. Throws `usage.*` if an option is unknown, invalid or missing. `hostOptions` are the
    /// program's own options, for "did you mean" suggestions.
    func resolve(_ given: [(name: String, value: String?)], hostOptions: Set<String> = []) throws(LuaError) -> LuaTable {
        var values: [String: LuaValue] = [:]
        for parameter in parameters { values[parameter.name] = parameter.defaultValue }
        for (flag, text) in given {
            let negated = flag.hasPrefix("no-") && parameters.contains { $0.flagName == flag.dropFirst(3) && $0.kind == .boolean }
            let name = negated ? String(flag.dropFirst(3)) : flag
            guard let parameter = parameters.first(where: { $0.flagName == name || $0.name == name }) else {
                let near = nearest(flag, in: parameters.map(\.flagName) + hostOptions.sorted())
                throw .misuse(
                    "usage.unknown_option", "unknown option \"--\(flag)\"\(near.map { "; did you mean \"--\($0)\"?" } ?? "")",
                    hint: parameters.isEmpty
                        ? "the flow has no options"
                        : "options of the flow: \(parameters.map { "--\($0.flagName)" }.joined(separator: ", "))")
            }
            if negated, let text {
                throw .misuse("usage.option", "--\(flag) takes no value, got \(text)", hint: "write --\(flag)")
            }
            values[parameter.name] = try parameter.value(of: negated ? "false" : text)
        }
        for parameter in parameters where parameter.isRequired && values[parameter.name] == nil {
            throw .misuse(
                "usage.missing_option", "the flow needs \(parameter.flag)",
                hint: parameter.summary.isEmpty ? nil : parameter.summary)
        }
        return LuaTable(fields: values)
    }
}

extension FlowParameter {
    private static let keys = ["type", "default", "desc", "min", "max", "choices", "required", "secret"]

    fileprivate init(_ name: String, _ value: LuaValue) throws(LuaError) {
        guard name.first?.isLetter == true, name.utf8.allSatisfy({ $0.isPropertyCharacter }) else {
            throw FlowDeclaration.refuse(
                "\"\(name)\" cannot be a parameter's name", "use letters, digits and _, beginning with a letter")
        }
        guard !FlowParameters.reserved.contains(name.replacing("_", with: "-")) else {
            throw FlowDeclaration.refuse("\"\(name)\" is an option of pushhost itself", "choose another name")
        }
        guard case .table(let table) = value, table.array.isEmpty else {
            throw FlowDeclaration.refuse(
                "the parameter \"\(name)\" must be a table, got \(value.phrase)",
                "write \(name) = { type = \"string\", default = … }")
        }
        for key in table.fields.keys.sorted() where !Self.keys.contains(key) {
            let near = nearest(key, in: Self.keys)
            throw FlowDeclaration.refuse(
                "the parameter \"\(name)\" has no key \"\(key)\"\(near.map { "; did you mean \"\($0)\"?" } ?? "")",
                "its keys are \(Self.keys.joined(separator: ", "))", key: key)
        }
        self.name = name
        kind = .string
        if let type = table.fields["type"] {
            guard case .string(let text) = type, let named = Kind(rawValue: text) else {
                throw FlowDeclaration.refuse(
                    "the parameter \"\(name)\" has an unknown type", "types are \(Kind.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            kind = named
        }
        func refuse(_ key: String, _ wanted: String) -> LuaError {
            FlowDeclaration.refuse(
                "\"\(key)\" of the parameter \"\(name)\" must be \(wanted), got \((table.fields[key] ?? .nil).phrase)")
        }
        summary = ""
        if let given = table.fields["desc"] {
            guard case .string(let text) = given else { throw refuse("desc", "a string") }
            summary = text
        }
        minimum = nil
        maximum = nil
        for key in ["min", "max"] {
            guard let given = table.fields[key] else { continue }
            guard let bound = given.double else { throw refuse(key, "a number") }
            guard kind == .integer || kind == .number else {
                throw FlowDeclaration.refuse(
                    "\"\(key)\" is not allowed for the type of \"\(name)\"", "only integers and numbers have bounds")
            }
            if key == "min" { minimum = bound } else { maximum = bound }
        }
        choices = []
        if let given = table.fields["choices"] {
            guard case .table(let list) = given, list.fields.isEmpty, !list.array.isEmpty else {
                throw refuse("choices", "a list of strings")
            }
            for item in list.array {
                guard case .string(let text) = item else { throw refuse("choices", "a list of strings") }
                choices.append(text)
            }
            guard kind == .string else {
                throw FlowDeclaration.refuse("\"choices\" is not allowed for the type of \"\(name)\"", "only strings have choices")
            }
        }
        isRequired = false
        if let given = table.fields["required"] {
            guard case .boolean(let flag) = given else { throw refuse("required", "true or false") }
            isRequired = flag
        }
        isSecret = false
        if let given = table.fields["secret"] {
            guard case .boolean(let flag) = given else { throw refuse("secret", "true or false") }
            isSecret = flag
        }
        defaultValue = nil
        if let given = table.fields["default"] {
            guard kind.accepts(given) else {
                throw FlowDeclaration.refuse("the default of \"\(name)\" must be of type \(kind.rawValue), got \(given.phrase)")
            }
            if let fault = fault(of: given) {
                throw FlowDeclaration.refuse("the default of \"\(name)\" is invalid: \(fault)")
            }
            defaultValue = given
        } else if kind == .boolean {
            defaultValue = .boolean(false)
        }
    }

    fileprivate func value(of text: String?) throws(LuaError) -> LuaValue {
        func refuse(_ why: String) -> LuaError {
            .misuse("usage.option", "--\(flagName)\(text.map { " \($0)" } ?? ""): \(why)", hint: "write \(flag)")
        }
        guard let text else {
            if kind == .boolean { return .boolean(true) }
            throw refuse("the value is missing")
        }
        let value: LuaValue
        switch kind {
        case .string: value = .string(text)
        case .boolean:
            switch text.lowercased() {
            case "true", "yes", "1": value = .boolean(true)
            case "false", "no", "0": value = .boolean(false)
            default: throw refuse("write true or false")
            }
        case .integer:
            guard let number = Int64(text) ?? Double(text).flatMap(Int64.init(exactly:)) else {
                throw refuse("it must be a whole number")
            }
            value = .integer(number)
        case .number:
            guard let number = Double(text), number.isFinite else { throw refuse("it must be a number") }
            value = .number(number)
        // A plain number is in seconds.
        case .duration: value = .string(Double(text) == nil ? text : "\(text)s")
        case .json:
            guard let json = try? JSON(parsing: text) else { throw refuse("it must be JSON") }
            value = LuaValue(json)
        }
        if let fault = fault(of: value) { throw refuse(fault) }
        return value
    }

    /// Which bound or choice the value violates; nil if none.
    func fault(of value: LuaValue) -> String? {
        if let number = value.double, kind != .duration {
            if let minimum, number < minimum { return "the minimum is \(minimum.short)" }
            if let maximum, number > maximum { return "the maximum is \(maximum.short)" }
        }
        if case .string(let text) = value {
            if kind == .duration, Duration(parsing: text) == nil { return "it must be a duration such as 90s or 1h" }
            if !choices.isEmpty, !choices.contains(text) { return "choose one of \(choices.joined(separator: ", "))" }
        }
        return nil
    }
}

extension FlowParameter.Kind {
    fileprivate func accepts(_ value: LuaValue) -> Bool {
        switch (self, value) {
        case (.string, .string), (.boolean, .boolean), (.integer, .integer), (.number, .integer), (.number, .number),
            (.duration, .string), (.duration, .integer), (.duration, .number):
            true
        case (.json, _): value.json != nil
        default: false
        }
    }
}

extension LuaValue {
    fileprivate var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }
}

extension Double {
    var short: String { self == rounded() && abs(self) < 1e15 ? String(Int64(self)) : String(self) }
}
