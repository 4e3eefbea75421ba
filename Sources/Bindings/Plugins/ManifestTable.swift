import Lua
import PushModel

/// A table in a plugin's manifest, read key by key. Errors are `plugin.manifest` and include the path of the value.
struct ManifestTable {
    /// The file, for error messages.
    let file: String
    /// The path of the table, such as `hooks.before_send`; empty for the manifest itself.
    let path: String
    let fields: [String: LuaValue]

    /// - Parameter keys: The allowed keys; nil allows any.
    init(_ value: LuaValue, file: String, path: String, keys: [String]?) throws(LuaError) {
        self.file = file
        self.path = path
        guard case .table(let table) = value else {
            throw Self.refusal(file, path, "must be a table with names, got \(value.phrase)")
        }
        guard table.array.isEmpty else {
            throw Self.refusal(file, path, "must be a table with names, got one with an unnamed value", hint: "write NAME = VALUE")
        }
        fields = table.fields
        guard let keys else { return }
        for key in fields.keys.sorted() where !keys.contains(key) {
            let near = nearest(key, in: keys)
            throw Self.refusal(
                file, path.isEmpty ? key : "\(path).\(key)", "is not a key of \(path.isEmpty ? "a plugin" : path)",
                hint: (near.map { "did you mean \"\($0)\"? " } ?? "") + "its keys are \(keys.joined(separator: ", "))")
        }
    }

    static func refusal(_ file: String, _ path: String, _ what: String, hint: String? = nil) -> LuaError {
        .misuse(
            "plugin.manifest", "\(file): \(path.isEmpty ? "the result of the file" : path) \(what)", hint: hint,
            details: ["key": .string(path)])
    }

    func keyPath(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    func refusal(_ key: String, _ what: String, hint: String? = nil) -> LuaError { Self.refusal(file, keyPath(key), what, hint: hint) }

    private func wrong(_ key: String, _ wanted: String, hint: String?) -> LuaError {
        let given = fields[key] ?? .nil
        return refusal(key, given == .nil ? "is missing: it must be \(wanted)" : "must be \(wanted), got \(given.phrase)", hint: hint)
    }

    /// The text at a key; nil if there is none.
    func text(_ key: String, _ wanted: String = "a string") throws(LuaError) -> String? {
        switch fields[key] {
        case nil: return nil
        case .string(let text): return text
        default: throw wrong(key, wanted, hint: nil)
        }
    }

    func requiredText(_ key: String, _ wanted: String, hint: String? = nil) throws(LuaError) -> String {
        guard case .string(let text)? = fields[key], !text.isEmpty else { throw wrong(key, wanted, hint: hint) }
        return text
    }

    func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String, of type: Choice.Type
    ) throws(LuaError) -> Choice? where Choice.RawValue == String {
        guard let text = try text(key) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let all = Choice.allCases.map(\.rawValue)
            throw refusal(
                key, "must be one of \(all.joined(separator: ", ")), got \"\(text)\"",
                hint: nearest(text, in: all).map { "did you mean \"\($0)\"?" })
        }
        return choice
    }

    func function(_ key: String) throws(LuaError) -> LuaFunctionReference {
        guard case .function(let function)? = fields[key] else { throw wrong(key, "a function", hint: nil) }
        return function
    }

    func duration(_ key: String, in range: ClosedRange<Duration>, _ shown: String) throws(LuaError) -> Duration? {
        guard let value = fields[key] else { return nil }
        let duration: Duration
        do { duration = try Duration(argument: value, named: key, of: keyPath(key)) } catch {
            throw refusal(key, "must be a duration such as \"50ms\" or \"2s\", got \(value.phrase)")
        }
        guard range.contains(duration) else { throw refusal(key, "must be \(shown), got \(value.phrase)") }
        return duration
    }

    func boolean(_ key: String) throws(LuaError) -> Bool? {
        switch fields[key] {
        case nil: return nil
        case .boolean(let flag): return flag
        default: throw wrong(key, "true or false", hint: nil)
        }
    }

    func number(_ key: String) throws(LuaError) -> Double? {
        switch fields[key] {
        case nil: return nil
        case .integer(let number): return Double(number)
        case .number(let number): return number
        default: throw wrong(key, "a number", hint: nil)
        }
    }

    /// The list at a key; empty if there is none.
    func list(_ key: String, of wanted: String) throws(LuaError) -> [LuaValue] {
        switch fields[key] {
        case nil: return []
        case .table(let table) where table.fields.isEmpty: return table.array
        default: throw wrong(key, "a list of \(wanted)", hint: nil)
        }
    }

    func texts(_ key: String) throws(LuaError) -> [String] {
        var texts: [String] = []
        for (index, item) in try list(key, of: "strings").enumerated() {
            guard case .string(let text) = item else { throw refusal("\(key)[\(index + 1)]", "must be a string, got \(item.phrase)") }
            texts.append(text)
        }
        return texts
    }

    func table(_ key: String, keys: [String]?) throws(LuaError) -> ManifestTable? {
        guard let value = fields[key] else { return nil }
        return try ManifestTable(value, file: file, path: keyPath(key), keys: keys)
    }
}
