import Lua
import PushCore

/// The checked arguments of one call: every value has the type that the description promises.
package struct Arguments: Sendable {
    let call: LuaCall
    /// The binding's, for messages.
    let name: String
    /// The object before the colon.
    let receiver: LuaObject?
    private let values: [String: LuaValue]

    /// Raises `args.*` for what does not fit the description: unknown keys, missing or wrong values.
    init(_ call: LuaCall, for binding: Binding) throws(LuaError) {
        self.call = call
        name = binding.name
        var given = call.arguments
        if let type = binding.receiver {
            guard case .object(let object)? = given.first, object.type == type else {
                throw .misuse(
                    "args.receiver", "\(binding.name) was called without its \(type)",
                    hint: "write a colon: \(type):\(binding.shortName)(…)")
            }
            receiver = object
            given.removeFirst()
        } else {
            receiver = nil
        }
        var values: [String: LuaValue] = [:]
        switch binding.style {
        case .table: values = try Self.named(given, binding.parameters, binding)
        case .leading:
            values = try Self.named(Array(given.dropFirst()), Array(binding.parameters.dropFirst()), binding)
            if let name = binding.parameters.first?.name { values[name] = given.first }
        case .positional, .value: values = try Self.positional(given, binding)
        }
        for parameter in binding.parameters {
            guard let value = values[parameter.name], value != .nil else {
                guard !parameter.isRequired else {
                    throw .misuse(
                        "args.missing", "\(binding.name) needs \"\(parameter.name)\"", hint: parameter.summary)
                }
                values[parameter.name] = nil
                continue
            }
            try Self.check(value, parameter.type, name: parameter.name, binding)
        }
        self.values = values
    }

    private static func named(
        _ given: [LuaValue], _ parameters: [Parameter], _ binding: Binding
    ) throws(LuaError) -> [String: LuaValue] {
        let required = parameters.filter(\.isRequired)
        guard let first = given.first, first != .nil else { return [:] }
        guard case .table(let table) = first else {
            // One required argument may stand alone.
            if required.count == 1, given.count == 1 { return [required[0].name: first] }
            throw .misuse(
                "args.wrong_type",
                "\(binding.name) takes \(binding.style == .leading ? "a" : "one") table\(binding.style == .leading ? " last" : ""), got a \(first.typeName)",
                hint: "write \(binding.signature)")
        }
        guard given.count == 1 else {
            throw .misuse(
                "args.too_many", "\(binding.name) takes one table, got \(given.count) arguments",
                hint: "write \(binding.signature)")
        }
        let known = parameters.map(\.name)
        for key in table.fields.keys.sorted() where !known.contains(key) {
            let near = parameters.first { $0.mistakenFor.contains(key) }?.name ?? nearest(key, in: known)
            throw .misuse(
                "args.unknown_key", "\(binding.name) has no key \"\(key)\"\(near.map { "; did you mean \"\($0)\"?" } ?? "")",
                hint: "its keys are \(known.joined(separator: ", "))", details: ["key": .string(key)])
        }
        guard table.array.isEmpty else {
            throw .misuse(
                "args.unknown_key", "\(binding.name) takes named keys, got a value without a name",
                hint: "write \(binding.signature)")
        }
        return table.fields
    }

    private static func positional(_ given: [LuaValue], _ binding: Binding) throws(LuaError) -> [String: LuaValue] {
        let parameters = binding.parameters
        guard given.count <= parameters.count else {
            throw .misuse(
                "args.too_many", "\(binding.name) takes \(parameters.count) arguments, got \(given.count)",
                hint: "write \(binding.signature)")
        }
        return Dictionary(zip(parameters.map(\.name), given), uniquingKeysWith: { $1 })
    }

    private static func check(
        _ value: LuaValue, _ type: ParameterType, name: String, _ binding: Binding
    ) throws(LuaError) {
        guard let fault = type.fault(in: value) else { return }
        var hint = binding.parameters.first { $0.name == name }?.summary
        if case .oneOf(let names) = type, case .string(let text) = value, let near = nearest(text, in: names) {
            hint = "did you mean \"\(near)\"?"
        }
        throw .misuse(
            "args.wrong_type", "\(binding.name): \"\(name)\" must be \(type.phrase), got \(fault)", hint: hint,
            details: binding.style != .positional ? ["key": .string(name)] : [:])
    }
}

extension ParameterType {
    /// What is wrong with the value, as the end of a sentence; nil when it fits.
    fileprivate func fault(in value: LuaValue) -> String? {
        switch (self, value) {
        case (.any, _), (.string, .string), (.boolean, .boolean), (.integer, .integer), (.number, .integer),
            (.number, .number), (.platform, .string), (.duration, .integer), (.duration, .number), (.duration, .string), (.time, .integer),
            (.time, .number), (.time, .string), (.audience, .string), (.secret, .string), (.table, .table),
            (.function, .function):
            return nil
        case (.string, .bytes), (.audience, .bytes):
            return "text that is not UTF-8"
        case (.audience, .object(let object)):
            return object.type == "everyone" ? nil : value.phrase
        case (.secret, .object(let object)) where object.type == "secret":
            return nil
        case (.secret, _):
            // Never the value: a password may be a number.
            return "a \(value.typeName)"
        case (.object(let name), .object(let object)):
            return object.type == name ? nil : value.phrase
        case (.integer, .number(let number)) where number == number.rounded() && abs(number) < 9e15:
            return nil
        case (.oneOf(let names), .string(let text)):
            return names.contains(text) ? nil : value.phrase
        case (.list(let element), .table(let table)):
            guard table.fields.isEmpty else { return "a table with named keys" }
            for (index, item) in table.array.enumerated() {
                if let fault = element.fault(in: item) { return "\(fault) at place \(index + 1)" }
            }
            return nil
        case (.map(let element), .table(let table)):
            guard table.array.isEmpty else { return "a list" }
            for (key, item) in table.fields.sorted(by: { $0.key < $1.key }) {
                if let fault = element.fault(in: item) { return "\(fault) for \"\(key)\"" }
            }
            return nil
        case (.either(let types), _):
            return types.contains { $0.fault(in: value) == nil } ? nil : value.phrase
        default:
            return value.phrase
        }
    }
}

// MARK: - Reading

extension Arguments {
    func value(_ name: String) -> LuaValue? { values[name] }

    func string(_ name: String) -> String? {
        if case .string(let text)? = values[name] { text } else { nil }
    }

    func boolean(_ name: String) -> Bool? {
        if case .boolean(let value)? = values[name] { value } else { nil }
    }

    func integer(_ name: String) -> Int? {
        switch values[name] {
        case .integer(let value)?: Int(value)
        case .number(let value)?: Int(exactly: value)
        default: nil
        }
    }

    func table(_ name: String) -> LuaTable? {
        if case .table(let table)? = values[name] { table } else { nil }
    }

    func strings(_ name: String) -> [String]? {
        table(name)?.array.compactMap { if case .string(let text) = $0 { text } else { nil } }
    }

    func payload<Payload>(_ name: String, as type: Payload.Type) -> Payload? {
        if case .object(let object)? = values[name] { object.payload as? Payload } else { nil }
    }

    func receiver<Payload>(as type: Payload.Type) throws(LuaError) -> Payload {
        guard let payload = receiver?.payload as? Payload else {
            throw .misuse("args.receiver", "this method was called on something else", hint: "call it with a colon")
        }
        return payload
    }

    /// Text that must not be empty.
    func text(_ name: String) throws(LuaError) -> String {
        guard let text = string(name), !text.isEmpty else {
            throw .misuse("args.empty", "\"\(name)\" is empty", hint: "give it some text", details: ["key": .string(name)])
        }
        return text
    }

    func secret(_ name: String) -> Secret? {
        switch values[name] {
        case .string(let text)?: Secret(text)
        case .object(let object)?: object.payload as? Secret
        default: nil
        }
    }

    func duration(_ name: String) throws(LuaError) -> Duration? {
        switch values[name] {
        case nil: return nil
        case .integer(let seconds)? where seconds >= 0 && Double(seconds) <= Duration.longest: return .seconds(seconds)
        case .number(let seconds)? where seconds >= 0 && seconds <= Duration.longest: return .seconds(seconds)
        case .string(let text)? where Duration(parsing: text) != nil: return Duration(parsing: text)
        case let value?:
            throw .misuse(
                "args.duration", "\"\(name)\" must be a duration, got \(value.phrase)",
                hint: "write \"500ms\", \"90s\", \"5m\", \"1h30m\", \"3d\" or a number of seconds; the longest is \"36600d\"",
                details: ["key": .string(name)])
        }
    }

    func time(_ name: String) throws(LuaError) -> Timestamp? {
        switch values[name] {
        case nil: return nil
        case .integer(let seconds)? where (-(1 << 40)...(1 << 40)).contains(seconds): return Timestamp(seconds: seconds)
        case .number(let seconds)? where abs(seconds) < 1e12: return Timestamp(milliseconds: Int64(seconds * 1000))
        case .string(let text)? where Timestamp(iso8601: text) != nil: return Timestamp(iso8601: text)
        case let value?:
            throw .misuse(
                "args.time", "\"\(name)\" is no time: \(value.phrase)",
                hint: "write ISO 8601, such as \"2026-01-05T09:00:00Z\", or a number of seconds",
                details: ["key": .string(name)])
        }
    }

    func tags(_ name: String) throws(LuaError) -> [Tag] {
        do {
            return try (strings(name) ?? []).map { text throws(TagError) in try Tag(text) }
        } catch {
            throw LuaError(PushError(error))
        }
    }
}

extension Duration {
    /// A hundred years in seconds: longer is a mistake.
    fileprivate static let longest: Double = 100 * 366 * 86_400

    /// `500ms`, `90s`, `5m`, `1h30m`, `3d`, `1.5s`; nil for anything else.
    package init?(parsing text: String) {
        var total: Double = 0
        var rest = text[...]
        var parts = 0
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            guard let value = Double(digits) else { return nil }
            rest.removeFirst(digits.count)
            let unit = rest.prefix { $0.isASCII && $0.isLetter }
            rest.removeFirst(unit.count)
            switch unit {
            case "ms": total += value / 1000
            case "s": total += value
            case "m", "min": total += value * 60
            case "h": total += value * 3600
            case "d": total += value * 86_400
            case "w": total += value * 604_800
            default: return nil
            }
            parts += 1
        }
        guard parts > 0, total <= Duration.longest else { return nil }
        self = .milliseconds(Int64((total * 1000).rounded()))
    }
}
