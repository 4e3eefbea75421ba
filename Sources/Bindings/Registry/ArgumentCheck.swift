import Lua
import PushModel

/// Checks the arguments of a call against the description of its binding: the values at run time, or what the source shows of them before a
/// run. Both produce the same messages.
struct ArgumentCheck<Value: ArgumentValue> {
    struct Mistake {
        let code: String
        let message: String
        let hint: String?
        /// The key of the argument table that is wrong.
        let key: String?
        /// The value that is wrong, if there is one.
        let culprit: Value?

        var error: LuaError { .misuse(code, message, hint: hint, details: key.map { ["key": .string($0)] } ?? [:]) }
    }

    private let binding: Binding
    /// Values by parameter name; parameters that were not given are absent.
    private(set) var values: [String: Value] = [:]
    /// Mistakes in the order in which a run would find them.
    private(set) var mistakes: [Mistake] = []
    /// Whether all given arguments are known.
    private var isComplete: Bool

    /// Checks `given`, the arguments without the receiver. `isComplete`: no unknown arguments follow.
    init(_ given: [Value], for binding: Binding, isComplete: Bool = true) {
        self.binding = binding
        self.isComplete = isComplete
        if binding.receiver == nil, given.first?.content.isEmptyTable == true, given.count > binding.maximumArguments ?? given.count {
            let error = LuaError.functionAsMethod(binding)
            fail(error.code, error.message, hint: error.hint)
            return
        }
        switch binding.style {
        case .table: readNamed(given, binding.parameters)
        case .leading:
            readNamed(Array(given.dropFirst()), Array(binding.parameters.dropFirst()))
            if let first = given.first, !first.content.isNil { values[binding.parameters[0].name] = first }
        case .positional, .value: readPositional(given)
        }
        let isReadable = mistakes.isEmpty
        // An argument of the wrong type may stand for a missing one, so only the first problem is reported.
        let isPositional = if case .positional = binding.style { true } else { false }
        for parameter in binding.parameters {
            if let value = values[parameter.name] {
                check(value, parameter)
            } else if parameter.isRequired, self.isComplete, isPositional ? mistakes.isEmpty : isReadable {
                fail("args.missing", "\(binding.name) needs \"\(parameter.name)\"", hint: parameter.fix)
            }
        }
        guard mistakes.isEmpty, self.isComplete, let constraint = binding.takes.constraint else { return }
        do throws(LuaError) {
            try constraint(Set(values.keys), binding.name)
        } catch {
            guard !canHold(constraint) else { return }
            fail(error.code, error.message, hint: error.hint, key: error.key)
        }
    }

    /// Whether the constraint holds for some combination of the arguments that may be nil.
    private func canHold(_ constraint: CallForm.Constraint) -> Bool {
        let doubtful = values.filter { $0.value.canBeNil }.keys.sorted()
        let certain = Set(values.keys).subtracting(doubtful)
        guard doubtful.count <= 8 else { return true }
        return (0..<(1 << doubtful.count)).contains { choice in
            let given = doubtful.indices.filter { choice & 1 << $0 != 0 }.map { doubtful[$0] }
            return (try? constraint(certain.union(given), binding.name)) != nil
        }
    }

    private mutating func fail(_ code: String, _ message: String, hint: String? = nil, key: String? = nil, culprit: Value? = nil) {
        mistakes.append(Mistake(code: code, message: message, hint: hint, key: key, culprit: culprit))
    }

    private mutating func readNamed(_ given: [Value], _ parameters: [Parameter]) {
        let required = parameters.filter(\.isRequired)
        guard let first = given.first else { return }
        switch first.content {
        case .nil: return
        case .unknown:
            isComplete = false
            return
        case .table(let array, let fields, let isComplete):
            guard given.count == 1 else {
                return fail(
                    "args.too_many", "\(binding.name) needs one table, got \(given.count) arguments",
                    hint: "write \(binding.correctForm)", culprit: given[1])
            }
            self.isComplete = self.isComplete && isComplete
            values = fields.filter { !$0.value.content.isNil }
            let known = parameters.map(\.name)
            for key in fields.keys.sorted() where !known.contains(key) {
                let near = parameters.first { $0.mistakenFor.contains(key) }?.name ?? nearest(key, in: known)
                fail(
                    "args.unknown_key", "\(binding.name) has no key \"\(key)\"\(near.map { "; did you mean \"\($0)\"?" } ?? "")",
                    hint: "its keys are \(known.joined(separator: ", "))", key: key)
            }
            if let item = array.first {
                fail(
                    "args.unknown_key", "\(binding.name) needs named keys, got a value without a name",
                    hint: "write \(binding.correctForm)", culprit: item)
            }
        default:
            // A single required argument may be passed without a table.
            if required.count == 1, given.count == 1 {
                values[required[0].name] = first
            } else {
                let place = binding.style == .leading ? "a table last" : "one table"
                fail(
                    "args.wrong_type", "\(binding.name) needs \(place), got a \(first.content.typeName)",
                    hint: "write \(binding.correctForm)", culprit: first)
            }
        }
    }

    private mutating func readPositional(_ given: [Value]) {
        let parameters = binding.parameters
        let isVariadic = parameters.last?.isVariadic == true
        guard given.count <= parameters.count || isVariadic else {
            return fail(
                "args.too_many",
                "\(binding.name) takes \(parameters.count) argument\(parameters.count == 1 ? "" : "s"), got \(given.count)",
                hint: "write \(binding.correctForm)", culprit: given[parameters.count])
        }
        for (parameter, value) in zip(parameters, given) where !value.content.isNil || parameter.type == .any {
            values[parameter.name] = value
        }
    }

    private mutating func check(_ value: Value, _ parameter: Parameter) {
        if parameter.type == .audience, case .string(let text) = value.content, text.allSatisfy(\.isWhitespace) {
            return fail(
                "send.no_audience", "\(binding.name): \"\(parameter.name)\" is empty",
                hint: "to send to all devices, write push.everyone", key: parameter.name, culprit: value)
        }
        if case .string(let text) = value.content, parameter.isTooLong(text) {
            return fail(
                "args.too_long",
                "\(binding.name): \"\(parameter.name)\" has \(text.utf8.count) bytes, more than \(Parameter.longestText)",
                hint: "split it, or look for a string that grows in a loop", key: binding.style == .positional ? nil : parameter.name)
        }
        guard let fault = parameter.type.fault(in: value) else { return }
        var hint: String? = parameter.fix
        if case .oneOf(let names) = parameter.type, case .string(let text) = value.content, let near = nearest(text, in: names) {
            hint = "did you mean \"\(near)\"?"
        }
        fail(
            "args.wrong_type", "\(binding.name): \"\(parameter.name)\" must be \(parameter.type.phrase), got \(fault.words)",
            hint: hint, key: binding.style == .positional ? nil : parameter.name, culprit: fault.culprit)
    }
}

extension Parameter {
    /// The hint for a missing or wrong value.
    fileprivate var fix: String {
        type == .function ? "\(summary): write function() … end around the call" : summary
    }
}

extension Binding {
    /// Maximum number of arguments; nil for any number.
    fileprivate var maximumArguments: Int? {
        switch style {
        case .table: 1
        case .leading: 2
        case .positional, .value: parameters.last?.isVariadic == true ? nil : parameters.count
        }
    }
}

/// A wrong value, or the wrong part of a value, with words that complete a message.
struct ArgumentFault<Value> {
    var words: String
    var culprit: Value
}

extension ParameterType {
    /// The problem with a value; nil if it has the right type or may have it.
    func fault<Value: ArgumentValue>(in value: Value) -> ArgumentFault<Value>? {
        let content = value.content
        func fault(_ words: String) -> ArgumentFault<Value> { ArgumentFault(words: words, culprit: value) }
        switch (self, content) {
        case (_, .unknown), (.any, _), (.boolean, .boolean), (.integer, .integer), (.number, .integer), (.number, .number),
            (.duration, .integer), (.duration, .number), (.time, .integer), (.time, .number), (.table, .table), (.template, .table),
            (.function, .function), (.string, .string), (.duration, .string), (.time, .string), (.platform, .string),
            (.audience, .string), (.tag, .string), (.tagExpression, .string), (.template, .string), (.secret, .string):
            return nil
        case (.string, .bytes), (.audience, .bytes), (.tag, .bytes), (.tagExpression, .bytes), (.template, .bytes):
            return fault("text that is not UTF-8")
        case (.audience, .object(let type)):
            return type == "everyone" ? nil : fault(content.phrase)
        case (.secret, .object("secret")):
            return nil
        case (.secret, _):
            // Never show the value: a password may be a number.
            return fault("a \(content.typeName)")
        case (.object(let name), .object(let type)):
            return type == name ? nil : fault(content.phrase)
        case (.integer, .number(let number)) where number == number.rounded() && abs(number) < 9e15:
            return nil
        case (.oneOf(let names), .string(let text)):
            return names.contains(text) ? nil : fault(content.phrase)
        case (.list(let element), .table(let array, let fields, _)):
            guard fields.isEmpty else { return fault("a table with named keys") }
            for (index, item) in array.enumerated() {
                if let inner = element.fault(in: item) {
                    return ArgumentFault(words: "\(inner.words) at index \(index + 1)", culprit: inner.culprit)
                }
            }
            return nil
        case (.map(let element), .table(let array, let fields, _)), (.byPlatform(let element), .table(let array, let fields, _)):
            guard array.isEmpty else { return fault("a list") }
            for (key, item) in fields.sorted(by: { $0.key < $1.key }) {
                if let inner = element.fault(in: item) {
                    return ArgumentFault(words: "\(inner.words) for \"\(key)\"", culprit: inner.culprit)
                }
            }
            return nil
        case (.either(let types), _):
            return types.contains { $0.fault(in: value) == nil } ? nil : fault(content.phrase)
        default:
            return fault(content.phrase)
        }
    }
}

extension LuaError {
    /// The error for a method called without its object.
    static func missingReceiver(_ binding: Binding, _ type: String) -> LuaError {
        .misuse(
            "args.receiver", "\(binding.name) was called without its \(type)",
            hint: "write a colon: \(type):\(binding.shortName)(…)")
    }

    /// The error for a function called with a colon, which passes an extra argument.
    static func functionAsMethod(_ binding: Binding) -> LuaError {
        functionAsMethod(
            binding.name, of: String(binding.name.dropLast(binding.shortName.count + 1)), isTable: binding.style == .table)
    }

    static func functionAsMethod(_ name: String, of owner: String, isTable: Bool = false) -> LuaError {
        .misuse(
            "args.receiver", "\(name) is a function of \(owner), not a method", hint: "write a dot: \(name)\(isTable ? "{…}" : "(…)")")
    }

    /// The key of the argument table that is wrong.
    var key: String? {
        guard case .table(let table) = details, case .string(let key)? = table.fields["key"] else { return nil }
        return key
    }
}
