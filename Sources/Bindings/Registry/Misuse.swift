import Lua
import PushCore

extension LuaError {
    /// A mistake in the script: raised at the caller's line, not swallowed by `push.try`.
    static func misuse(
        _ code: String, _ message: String, hint: String? = nil, details: [String: LuaValue] = [:]
    ) -> LuaError {
        var error = LuaError(kind: .misuse, code: code, message: message)
        error.hint = hint
        if !details.isEmpty { error.details = .table(LuaTable(fields: details)) }
        return error
    }

    /// A name that a namespace does not have.
    static func unknownName(_ name: String, in label: String, known: [String]) -> LuaError {
        let near = nearest(name, in: known)
        return .misuse(
            "script.unknown_name", "\(label) has no \"\(name)\"\(near.map { "; did you mean \"\($0)\"?" } ?? "")",
            hint: "it has \(known.sorted().joined(separator: ", "))", details: ["key": .string(name)])
    }

    static var argumentsNotFirst: LuaError {
        .misuse(
            "args.not_first", "push.args was called twice, or after another call of push",
            hint: "declare all parameters once, first of all")
    }

    static func readOnly(_ name: String, in label: String) -> LuaError {
        .misuse(
            "script.read_only", "\(label).\(name) cannot be set", hint: "keep it in a local variable", details: ["key": .string(name)])
    }

    /// A call that failed for a reason of the world.
    static func failure(
        _ code: String, _ message: String, hint: String? = nil, details: [String: LuaValue] = [:]
    ) -> LuaError {
        var error = LuaError(kind: .failure, code: code, message: message)
        error.hint = hint
        if !details.isEmpty { error.details = .table(LuaTable(fields: details)) }
        return error
    }

    package init(_ error: PushError) {
        self.init(kind: .failure, code: error.code, message: error.message)
        hint = error.hint
        status = error.status
        isRetryable = error.isRetryable
        trackingID = error.trackingID
        if !error.details.isEmpty { details = .table(LuaTable(fields: error.details.mapValues(LuaValue.init))) }
    }
}

extension LuaValue {
    /// JSON as a script sees it; null is absent.
    init(_ json: JSON) {
        switch json {
        case .null: self = .nil
        case .bool(let value): self = .boolean(value)
        case .integer(let value): self = .integer(value)
        case .number(let value): self = .number(value)
        case .numeral(let text): self = Double(text).map { .number($0) } ?? .string(text)
        case .string(let text): self = .string(text)
        case .array(let items): self = .table(LuaTable(array: items.map(LuaValue.init)))
        case .object(let object):
            self = .table(
                LuaTable(
                    fields: Dictionary(
                        object.members.map { ($0.key, LuaValue($0.value)) }, uniquingKeysWith: { $1 })))
        }
    }

    /// The value as JSON, members in alphabetical order; nil for functions, handles and text that is not UTF-8.
    package var json: JSON? {
        switch self {
        case .nil: return .null
        case .boolean(let value): return .bool(value)
        case .integer(let value): return .integer(value)
        case .number(let value): return value.isFinite ? .number(value) : nil
        case .string(let text): return .string(text)
        case .bytes, .function, .object: return nil
        case .table(let table):
            // A list may carry its length, as table.pack and push.all give it.
            let isCounted = table.fields.count == 1 && table.fields["n"] == .integer(Int64(table.array.count))
            if table.fields.isEmpty || isCounted, !table.array.isEmpty {
                var items: [JSON] = []
                for item in table.array {
                    guard let json = item.json else { return nil }
                    items.append(json)
                }
                return .array(items)
            }
            guard table.array.isEmpty else { return nil }
            var object = JSONObject()
            for (key, value) in table.fields.sorted(by: { $0.key < $1.key }) {
                guard let json = value.json else { return nil }
                object[key] = json
            }
            return .object(object)
        }
    }
}

extension PushError {
    /// What whoever is outside of a script gets to know of its error.
    package init(_ error: LuaError) {
        var details: [String: JSON] = [:]
        for (name, value) in error.details.json?.object?.members ?? [] { details[name] = value }
        self.init(
            error.code, error.message, hint: error.hint, status: error.status.map { Int($0) }, isRetryable: error.isRetryable,
            details: details)
    }
}
