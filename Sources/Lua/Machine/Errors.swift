import CLua

// Converts structured errors between Swift and Lua.

extension Machine {
    // MARK: To Lua

    /// Pushes the fields of an error as a plain table. The trampoline completes and raises it.
    func pushError(_ error: LuaError, to L: OpaquePointer) {
        lua_createtable(L, 0, 12)
        func set(_ name: String, _ value: LuaValue) {
            if value == .nil { return }
            push(name, to: L)
            do { try push(value, to: L, depth: 0) } catch { lua_pushnil(L) }  // details that cannot be represented in Lua
            lua_rawset(L, -3)
        }
        for (name, value) in error.annotations.sorted(by: { $0.key < $1.key }) { set(name, .string(value)) }
        set("kind", .string(error.kind.rawValue))
        set("code", .string(error.code))
        set("message", .string(error.message))
        set("hint", error.hint.map(LuaValue.string) ?? .nil)
        set("status", error.status.map { .integer(Int64($0)) } ?? .nil)
        set("retryable", .boolean(error.isRetryable))
        set("tracking_id", error.trackingID.map(LuaValue.string) ?? .nil)
        set("details", error.details)
        set("where", error.location.map { .string("\($0)") } ?? .nil)
        if !error.traceback.isEmpty {
            set("traceback", .string(error.traceback.map(\.description).joined(separator: "\n")))
        }
    }

    // MARK: From Lua

    /// Reads the error value at an index.
    func readError(_ L: OpaquePointer, _ index: Int32, run: Run?) -> LuaError {
        let index = lua_absindex(L, index)
        guard lua_checkstack(L, 8) != 0 else {
            return LuaError(kind: .runtime, code: "script.error", message: "stack overflow")
        }
        if clua_is_error(L, index) { return readStructured(L, index, run: run) }
        var error = LuaError(kind: .runtime, code: "script.error", message: "")
        var refusal: SourceLocation?
        switch lua_type(L, index) {
        case LUA_TSTRING:
            let text = text(L, index)
            if text == "not enough memory", context.pointee.refused {
                error = .memoryBudget(limits.memory)
                context.pointee.refused = false
                refusal = SourceLocation(context.pointee.refused_at)
            } else {
                error = LuaError(positioned: text)
            }
        case LUA_TTABLE:
            error.code = field(L, index, "code") ?? "script.error"
            let text = recordedText(L, index, of: run) ?? field(L, index, "message")
            (error.message, error.describesType) = (text ?? describeTable(L, index), text == nil)
            error.value = (try? read(L, index)) ?? .nil
        case LUA_TNIL:
            error.message = "the script raised nil"
        default:
            error.value = (try? read(L, index)) ?? .nil
            (error.message, error.describesType) = ("the script raised a \(String(cString: lua_typename(L, lua_type(L, index))))", true)
            if case .integer(let number) = error.value { (error.message, error.describesType) = ("\(number)", false) }
            if case .number(let number) = error.value { (error.message, error.describesType) = ("\(number)", false) }
            if let text = recordedText(L, index, of: run) { (error.message, error.describesType) = ("the script raised \(text)", false) }
        }
        if let run {
            clua_push_origin(L, run.control.pointer, index)
            error.traceback = Self.frames(readString(L, -1))
            clua_pop(L, 1)
            // Lua reuses the text of this error, so recorded frames may belong to an earlier one.
            if error.kind == .budget, error.traceback.first != refusal { error.traceback = refusal.map { [$0] } ?? [] }
            error.location = error.location ?? error.traceback.first
            error.annotations = run.annotations
        }
        return error
    }

    private func readStructured(_ L: OpaquePointer, _ index: Int32, run: Run?) -> LuaError {
        var error = LuaError(
            kind: field(L, index, "kind").flatMap(LuaError.Kind.init(rawValue:)) ?? .failure,
            code: field(L, index, "code") ?? "script.error",
            message: field(L, index, "message") ?? "")
        func value(_ name: String) -> LuaValue {
            push(name, to: L)
            lua_rawget(L, index)
            defer { clua_pop(L, 1) }
            return (try? read(L, -1)) ?? .nil
        }
        (error.hint, error.trackingID) = (field(L, index, "hint"), field(L, index, "tracking_id"))
        if case .integer(let status) = value("status") { error.status = Int(status) }
        error.isRetryable = value("retryable") == .boolean(true)
        error.details = value("details")
        error.location = field(L, index, "where").flatMap { SourceLocation(text: $0) }
        error.traceback = Self.frames(field(L, index, "traceback"))
        for name in run?.annotations.keys.sorted() ?? [] {
            error.annotations[name] = field(L, index, name)
        }
        return error
    }

    /// The result of the value's `__tostring` when a task of the run ended with the value as its error.
    private func recordedText(_ L: OpaquePointer, _ index: Int32, of run: Run?) -> String? {
        guard let run else { return nil }
        clua_push_recorded_text(L, run.control.pointer, index)
        defer { clua_pop(L, 1) }
        return lua_type(L, -1) == LUA_TSTRING ? text(L, -1) : nil
    }

    /// Describes a raised table: its fields in a fixed order, few and shortened.
    private func describeTable(_ L: OpaquePointer, _ table: Int32) -> String {
        let most = (walked: 1_000, shown: 8)
        var fields: [(key: String, value: String)] = []
        guard lua_checkstack(L, 4) != 0 else { return "the script raised a table" }
        lua_pushnil(L)
        while lua_next(L, table) != 0 {
            let key = lua_type(L, -2) == LUA_TSTRING ? String(text(L, -2).prefix(40)) : "[\(shown(L, -2))]"
            fields.append((key, shown(L, -1)))
            clua_pop(L, 1)
            if fields.count > most.walked {
                clua_pop(L, 1)
                return "the script raised a table of more than \(most.walked) fields"
            }
        }
        if fields.isEmpty { return "the script raised a table" }
        fields.sort { ($0.key.count, $0.key) < ($1.key.count, $1.key) }
        let shown = fields.prefix(most.shown).map { "\($0.key) = \($0.value)" }.joined(separator: ", ")
        return "the script raised a table: {\(shown)\(fields.count > most.shown ? ", …" : "")}"
    }

    private func shown(_ L: OpaquePointer, _ index: Int32) -> String {
        switch lua_type(L, index) {
        case LUA_TBOOLEAN: return lua_toboolean(L, index) != 0 ? "true" : "false"
        case LUA_TNUMBER where lua_isinteger(L, index) != 0: return "\(lua_tointegerx(L, index, nil))"
        case LUA_TNUMBER: return "\(lua_tonumberx(L, index, nil))"
        case LUA_TSTRING:
            let text = text(L, index)
            return "\"\(text.prefix(60))\(text.count > 60 ? "…" : "")\""
        case LUA_TTABLE: return "{…}"
        default: return "a \(String(cString: lua_typename(L, lua_type(L, index))))"
        }
    }

    private static func frames(_ text: String?) -> [SourceLocation] {
        guard let text, !text.isEmpty else { return [] }
        return text.split(separator: "\n").compactMap { SourceLocation(text: $0) }
    }

    private func field(_ L: OpaquePointer, _ table: Int32, _ name: String) -> String? {
        push(name, to: L)
        lua_rawget(L, table)
        defer { clua_pop(L, 1) }
        return lua_type(L, -1) == LUA_TSTRING ? text(L, -1) : nil
    }

    /// Maximum length in bytes of a string in an error. Longer text is not useful, and copying it has a cost at each step.
    private static let longestText = 64 << 10

    /// A string for display: bytes that are not UTF-8 are replaced.
    private func text(_ L: OpaquePointer, _ index: Int32) -> String {
        var count = 0
        guard let start = clua_tostring(L, index, &count) else { return "" }
        let shown = UnsafeRawBufferPointer(start: start, count: min(count, Self.longestText))
        return String(decoding: shown, as: UTF8.self) + (shown.count < count ? "… (\(count) bytes)" : "")
    }

    /// The error that a stopped run ends with, at the script line where it was stopped.
    func stopError(_ run: Run) -> LuaError? {
        let control = run.control.pointer
        var error: LuaError
        switch Int(control.pointee.stop) {
        case CLUA_STOP_CPU:
            error = .cpuBudget(run.limits.cpu)
        case CLUA_STOP_WALL:
            error = .timeBudget(run.limits.wall)
        case CLUA_STOP_FUEL:
            error = LuaError(
                kind: .budget, code: "budget.instructions",
                message: "the script used more than its budget of \(run.limits.instructions ?? 0) instructions")
        case CLUA_STOP_CANCEL: error = .cancelled
        case CLUA_STOP_ACCOUNT: error = run.control.account.spentError ?? .cancelled
        default: return nil
        }
        error.location = SourceLocation(control.pointee.stopped_at)
        return error
    }
}

extension LuaError {
    static func memoryBudget(_ bytes: Int) -> LuaError {
        LuaError(
            kind: .budget, code: "budget.memory", message: "the script used more than its memory budget of \(shown(bytes))")
    }

    static func cpuBudget(_ limit: Duration) -> LuaError {
        LuaError(kind: .budget, code: "budget.cpu", message: "the script used more than its CPU budget of \(limit.shown)")
    }

    static func timeBudget(_ limit: Duration?) -> LuaError {
        LuaError(
            kind: .budget, code: "budget.wall", message: "the script took longer than its time budget of \(limit?.shown ?? "?")")
    }

    static func outputBudget(_ bytes: Int) -> LuaError {
        LuaError(
            kind: .budget, code: "budget.output", message: "the script wrote more than its output budget of \(shown(bytes))",
            hint: "print less, or look for an endless loop")
    }

    static func fileBudget(_ count: Int) -> LuaError {
        LuaError(
            kind: .budget, code: "budget.files", message: "the script opened more than its budget of \(count) files",
            hint: "look for push.run or require in an endless loop")
    }

    static func taskBudget(_ count: Int) -> LuaError {
        LuaError(
            kind: .failure, code: "budget.tasks", message: "the script already has \(count) tasks",
            hint: "await some of them before starting more")
    }

    private static func shown(_ bytes: Int) -> String {
        bytes % (1 << 20) == 0 ? "\(bytes >> 20) MiB" : bytes % (1 << 10) == 0 ? "\(bytes >> 10) KiB" : "\(bytes) bytes"
    }

    /// Parses Lua's text "file:line: message". The position is dropped if it belongs to a host chunk ("[name]:line:").
    init(positioned text: String, kind: Kind = .runtime, code: String = "script.error") {
        self.init(kind: kind, code: code, message: text)
        guard let (chunk, line, message) = Self.split(text) else { return }
        self.message = message
        if !chunk.hasPrefix("[") || chunk.hasPrefix("[string \"") {
            location = SourceLocation(chunk: chunk, line: line)
        }
    }

    private static func split(_ text: String) -> (chunk: String, line: Int, message: String)? {
        // Lua shortens a chunk's name in a message to at most this length.
        var rest = text.prefix(400).prefix { $0 != "\n" }
        while let colon = rest.firstIndex(of: ":") {
            let after = text[text.index(after: colon)...]
            let digits = after.prefix { $0.isASCII && $0.isNumber }
            let tail = after[digits.endIndex...]
            if let line = Int(digits), tail.hasPrefix(": ") {
                return (String(text[..<colon]), line, String(tail.dropFirst(2)))
            }
            rest = rest[rest.index(after: colon)...]
        }
        return nil
    }
}

extension Duration {
    /// The duration for messages: "10 s", "250 ms".
    fileprivate var shown: String {
        let nanoseconds = nanoseconds
        if nanoseconds % 1_000_000_000 == 0 { return "\(nanoseconds / 1_000_000_000) s" }
        if nanoseconds % 1_000_000 == 0 { return "\(nanoseconds / 1_000_000) ms" }
        return "\(Double(nanoseconds) / 1_000_000) ms"
    }
}

extension SourceLocation {
    init?(_ location: clua_place) {
        guard let chunk = location.chunk else { return nil }
        self.init(chunk: String(cString: chunk), line: Int(location.line))
    }
}
