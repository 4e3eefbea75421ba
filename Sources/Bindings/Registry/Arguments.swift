import Lua
import PushModel

/// The checked arguments of one call. Every value has the type that the description promises.
package struct Arguments: Sendable {
    let site: LuaCallSite
    /// The object before the colon of a method call.
    let receiver: LuaObject?
    private let binding: Binding
    /// Values by parameter index; nil if not given.
    private var values: [LuaValue?]

    /// The binding's name, for error messages.
    var name: String { binding.name }

    /// Checks the arguments. Throws `args.*` for unknown keys and for missing or wrong values.
    init(_ call: LuaCall, for binding: Binding) throws(LuaError) {
        site = call.site
        self.binding = binding
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
        values = binding.parameters.map { check.values[$0.name] }
    }

    /// Reads arguments that match the binding's schema. Throws `LuaTypeMismatch` if they violate the description; the other initializer
    /// then produces the error message.
    init(_ reader: inout LuaReader, for binding: Binding) throws {
        site = try reader.read()
        self.binding = binding
        if let type = binding.receiver {
            let object = try reader.read(LuaObject.self)
            guard object.type == type else { throw LuaTypeMismatch() }
            receiver = object
        } else {
            receiver = nil
        }
        let parameters = binding.parameters
        values = Array(repeating: nil, count: parameters.count)
        let single = binding.style == .positional ? parameters.count : binding.style == .leading ? 1 : 0
        for index in 0..<single { try read(index, &reader, named: "argument \(index + 1)") }
        if single < parameters.count, reader.beginRecord() {
            for index in single..<parameters.count {
                try read(index, &reader, named: "argument \(single + 1).\(parameters[index].name)")
            }
        }
        if let constraint = binding.takes.constraint {
            do throws(LuaError) {
                try constraint(Set(parameters.indices.filter { values[$0] != nil }.map { parameters[$0].name }), binding.name)
            } catch {
                throw LuaTypeMismatch()
            }
        }
    }

    private mutating func read(_ index: Int, _ reader: inout LuaReader, named name: @autoclosure () -> String) throws {
        let value = try reader.readValue(named: name())
        let parameter = binding.parameters[index]
        if case .nil = value {
            // Nil is a valid value for a parameter of any type.
            guard !parameter.isRequired || parameter.type == .any else { throw LuaTypeMismatch() }
            return
        }
        guard parameter.fits(value) else { throw LuaTypeMismatch() }
        values[index] = value
    }
}

// MARK: - Reading

extension Arguments {
    /// Total bytes of all texts in the arguments.
    var byteCount: Int { values.reduce(0) { $0 + ($1?.byteCount ?? 0) } }

    /// Memory in bytes that a call with these arguments uses while it is in progress: the arguments, and what is made from them.
    var workingMemory: Int {
        var memory = 0
        for (value, parameter) in zip(values, binding.parameters) {
            guard let value else { continue }
            memory += value.workingMemory
            guard parameter.type == .audience || parameter.type == .tagExpression, case .string(let text) = value else { continue }
            // Each operand of an expression is a node of a tree. Most operators have two characters.
            memory += HostCost.storedText * (text.utf8.count { $0 == UInt8(ascii: "|") || $0 == UInt8(ascii: "&") } / 2)
        }
        return memory
    }

    /// Number of texts in lists and tables, such as tags.
    var innerTextCount: Int { values.reduce(0) { $0 + ($1?.innerTextCount ?? 0) } }

    func value(_ name: String) -> LuaValue? {
        binding.parameters.firstIndex { $0.name == name }.flatMap { values[$0] }
    }

    func string(_ name: String) -> String? {
        if case .string(let text)? = value(name) { text } else { nil }
    }

    func boolean(_ name: String) -> Bool? {
        if case .boolean(let value)? = value(name) { value } else { nil }
    }

    func integer(_ name: String) -> Int? {
        switch value(name) {
        case .integer(let value)?: Int(value)
        case .number(let value)?: Int(exactly: value)
        default: nil
        }
    }

    func number(_ name: String) -> Double? {
        switch value(name) {
        case .integer(let value)?: Double(value)
        case .number(let value)?: value
        default: nil
        }
    }

    func table(_ name: String) -> LuaTable? {
        if case .table(let table)? = value(name) { table } else { nil }
    }

    func strings(_ name: String) -> [String]? {
        table(name)?.array.compactMap { if case .string(let text) = $0 { text } else { nil } }
    }

    /// The payload of a handle given for a required parameter.
    func handle<Payload>(_ name: String, as type: Payload.Type) throws(LuaError) -> Payload {
        guard let payload = payload(name, as: type) else {
            throw .misuse("args.wrong_type", "\(self.name): \"\(name)\" has the wrong type")
        }
        return payload
    }

    func payload<Payload>(_ name: String, as type: Payload.Type) -> Payload? {
        if case .object(let object)? = value(name) { object.payload as? Payload } else { nil }
    }

    func receiver<Payload>(as type: Payload.Type) throws(LuaError) -> Payload {
        guard let payload = receiver?.payload as? Payload else {
            throw .misuse("args.receiver", "this method was called on another kind of object", hint: "call it with a colon")
        }
        return payload
    }

    /// A text that must not be empty.
    func text(_ name: String) throws(LuaError) -> String {
        guard let text = string(name), !text.isEmpty else {
            throw .misuse(
                "args.empty", "\(self.name): \"\(name)\" is empty", hint: "pass a non-empty text", details: ["key": .string(name)])
        }
        return text
    }

    func secret(_ name: String) -> Secret? {
        switch value(name) {
        case .string(let text)?: Secret(text)
        case .object(let object)?: object.payload as? Secret
        default: nil
        }
    }

    func duration(_ name: String) throws(LuaError) -> Duration? {
        guard let value = value(name) else { return nil }
        return try Duration(argument: value, named: name, of: self.name)
    }

    func time(_ name: String) throws(LuaError) -> Timestamp? {
        guard let value = value(name) else { return nil }
        return try Timestamp(argument: value, named: name, of: self.name)
    }

    func platform(_ name: String) throws(LuaError) -> Platform? {
        guard let text = string(name) else { return nil }
        return try Platform.named(text, key: name)
    }

    func tags(_ name: String) throws(LuaError) -> [Tag] {
        try (strings(name) ?? []).map { text throws(LuaError) in try Tag(argument: text) }
    }
}
