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
                throw .missingReceiver(binding, type)
            }
            receiver = object
            given.removeFirst()
        } else {
            receiver = nil
        }
        let check = ArgumentCheck(given, for: binding)
        if let mistake = check.mistakes.first { throw mistake.error }
        values = check.values
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
        guard let value = values[name] else { return nil }
        return try Duration(argument: value, named: name)
    }

    func time(_ name: String) throws(LuaError) -> Timestamp? {
        guard let value = values[name] else { return nil }
        return try Timestamp(argument: value, named: name)
    }

    func platform(_ name: String) throws(LuaError) -> Platform? {
        guard let text = string(name) else { return nil }
        return try Platform.named(text, key: name)
    }

    func tags(_ name: String) throws(LuaError) -> [Tag] {
        try (strings(name) ?? []).map { text throws(LuaError) in try Tag(argument: text) }
    }
}
