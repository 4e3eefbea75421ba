import Lua
import PushCore

extension Binding {
    static let clockNow = Binding(
        "push.clock.now", "The run's time in seconds since 1970.", returns: "number", example: "print(push.clock.now())",
        body: .sync { _, run in
            let milliseconds = run.world.clock.now.milliseconds
            return [milliseconds.isMultiple(of: 1000) ? .integer(milliseconds / 1000) : .number(Double(milliseconds) / 1000)]
        })

    static let clockISO = Binding(
        "push.clock.iso", "The run's time as ISO 8601 in UTC.", returns: "string", example: "print(push.clock.iso())",
        body: .sync { _, run in [.string(run.world.clock.now.description)] })

    static let clockAdvance = Binding(
        "push.clock.advance", "Moves the rehearsal's clock on; everybody who waits for a moment until then wakes in order.",
        parameters: [.required("duration", .duration, "how far")], errors: ["target.unsupported"],
        example: "push.clock.advance \"3d\"",
        body: .async { arguments, run in
            guard run.world.target.isSimulated else {
                throw LuaError.failure(
                    "target.unsupported", "the clock of \(run.world.target.name) cannot be moved",
                    hint: "only the embedded target and a server's lab have a virtual clock; put this into push.rehearse")
            }
            let duration = try arguments.duration("duration") ?? .zero
            try await run.sleep(for: duration)
            return []
        })

    static let wire = Binding(
        "push.wire", "What crossed a push service's wire, oldest first, the last 10,000 exchanges; credentials are masked.",
        parameters: [.optional("platform", .platform, "apns, fcm, gcm, wns or browser; all of them if absent")],
        returns: "push.Exchange[]", errors: ["target.unsupported"],
        example: "for _, exchange in ipairs(push.wire \"apns\") do print(exchange.path, exchange.status) end",
        body: .sync { arguments, run in
            guard let wire = run.world.wire else {
                throw LuaError.failure(
                    "target.unsupported", "the wires of \(run.world.target.name) cannot be seen from here",
                    hint: "wires are visible on the embedded target and in a server's lab; put this into push.rehearse")
            }
            let platform = try arguments.platform("platform")
            // Legacy registrations are served through FCM's v1 interface: one wire.
            let service = platform == .gcm ? .fcmV1 : platform
            return [.table(LuaTable(array: wire.exchanges(with: service).map(LuaValue.init)))]
        })

    static let jsonEncode = Binding(
        "push.json.encode", "Writes a value as JSON, members in alphabetical order.",
        parameters: [
            .optional("value", .any, "nil, booleans, numbers, strings and tables of these"),
            .optional("pretty", .boolean, "with line breaks"),
        ],
        returns: "string", errors: ["json.unsupported"], example: "print(push.json.encode { alert = \"Hello\" })",
        body: .sync { arguments, _ in
            guard let json = (arguments.value("value") ?? .nil).json else {
                throw LuaError.failure(
                    "json.unsupported", "the value cannot be written as JSON",
                    hint: "use tables with only names or only places; no functions, handles, NaN or text that is not UTF-8")
            }
            return [.string(json.text(pretty: arguments.boolean("pretty") ?? false, sortedKeys: true))]
        })

    static let jsonDecode = Binding(
        "push.json.decode", "Reads JSON; null is nil.",
        parameters: [.required("text", .string, "a JSON text")], returns: "any", errors: ["json.invalid"],
        example: "print(push.json.decode('{\"alert\":\"Hello\"}').alert)",
        body: .sync { arguments, _ in
            do {
                return [LuaValue(try JSON(parsing: arguments.string("text") ?? ""))]
            } catch let error as JSONError {
                throw LuaError.failure(
                    "json.invalid", "not JSON: \(error.message.asClause) at line \(error.line), column \(error.column)",
                    details: ["line": .integer(Int64(error.line)), "column": .integer(Int64(error.column))])
            }
        })
}

extension LuaValue {
    init(_ exchange: WireExchange) {
        func headers(_ list: [PushHeader]) -> LuaValue {
            .table(
                LuaTable(
                    fields: Dictionary(list.map { ($0.name, .string($0.value)) }, uniquingKeysWith: { first, _ in first })))
        }
        var fields: [String: LuaValue] = [
            "service": .string(exchange.service.shortName), "time": .string(exchange.time.description),
            "method": .string(exchange.method), "host": .string(exchange.authority), "path": .string(exchange.path),
            "headers": headers(exchange.requestHeaders), "body": LuaValue(bytes: exchange.requestBody),
            "status": .integer(Int64(exchange.status)), "response_headers": headers(exchange.responseHeaders),
            "response_body": LuaValue(bytes: exchange.responseBody),
        ]
        if let json = try? JSON(parsing: exchange.requestBody) { fields["json"] = LuaValue(json) }
        self = .table(LuaTable(fields: fields))
    }
}
