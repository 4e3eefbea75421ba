package import Lua
package import PushModel

extension LuaError {
    /// An error for a mistake in the script. It is raised at the caller's line, and `push.try` does not catch it.
    static func misuse(
        _ code: String, _ message: String, hint: String? = nil, details: [String: LuaValue] = [:]
    ) -> LuaError {
        var error = LuaError(kind: .misuse, code: code, message: message)
        error.hint = hint
        if !details.isEmpty { error.details = .table(LuaTable(fields: details)) }
        return error
    }

    /// An error for a name that a namespace does not have.
    static func unknownName(_ name: String, in label: String, known: [String]) -> LuaError {
        let near = nearest(name, in: known)
        return .misuse(
            "script.unknown_name", "\(label) has no \"\(name)\"\(near.map { "; did you mean \"\($0)\"?" } ?? "")",
            hint: "it has \(known.sorted().joined(separator: ", "))", details: ["key": .string(name)])
    }

    static var argumentsNotFirst: LuaError {
        .misuse(
            "args.not_first", "push.args must be called once, before all other functions of push",
            hint: "move push.args to the top of the script, and declare all parameters there")
    }

    static func readOnly(_ name: String, in label: String) -> LuaError {
        .misuse(
            "script.read_only", "\(label).\(name) cannot be set", hint: "keep it in a local variable", details: ["key": .string(name)])
    }

    /// An error for a call that is correct but failed.
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
    /// The error as shown outside the script.
    package init(_ error: LuaError) {
        var details: [String: JSON] = [:]
        for (name, value) in error.details.json?.object?.members ?? [] { details[name] = value }
        self.init(
            error.code, error.message, hint: error.hint, status: error.status.map { Int($0) }, isRetryable: error.isRetryable,
            details: details)
    }
}
