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
