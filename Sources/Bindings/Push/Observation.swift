import Lua
import PushModel

/// The run's clock, and requests to push services.
enum ObservationBindings {
    static let clockNow = Binding(
        "push.clock.now", "Returns the run's time in seconds since 1970.",
        returns: "number", when: .in(.running),
        example: "print(push.clock.now())",
        body: .sync { _, run in
            let milliseconds = run.world.clock.now.milliseconds
            return milliseconds.isMultiple(of: 1000) ? LuaValue.integer(milliseconds / 1000) : .number(Double(milliseconds) / 1000)
        })

    static let clockISO = Binding(
        "push.clock.iso", "Returns the run's time as ISO 8601 in UTC.",
        returns: "string", when: .in(.running),
        example: "print(push.clock.iso())",
        body: .sync { _, run in run.world.clock.now.description })

    static let clockAdvance = Binding(
        "push.clock.advance", "Advances the virtual clock of a rehearsal. Tasks that wait for a time up to then wake in order.",
        takes: .positional([.required("duration", .duration, "how far")]),
        when: .in(needs: .clock),
        example: "push.clock.advance \"3d\"",
        body: .async(.waiting) { arguments, run in
            guard run.world.target.isSimulated else {
                throw LuaError.failure(
                    "target.unsupported", "the clock of \(run.world.target.name) cannot be advanced",
                    hint: "only the embedded target and a server's lab have a virtual clock; put this into push.rehearse")
            }
            let duration = try arguments.duration("duration") ?? .zero
            try await run.sleep(for: duration)
        })

    static let wire = Binding(
        "push.wire", "Returns the last 10,000 requests to push services and their responses, oldest first. Credentials are masked.",
        takes: .positional([.optional("platform", .platform, "apns, fcm, gcm, wns or browser; all of them if absent")]),
        returns: "push.Exchange[]", when: .in(needs: .wires),
        example: "for _, exchange in ipairs(push.wire \"apns\") do print(exchange.path, exchange.status) end",
        body: .async { arguments, run in
            guard let wire = run.world.wire else {
                throw LuaError.failure(
                    "target.unsupported", "requests of \(run.world.target.name) to push services cannot be inspected",
                    hint: "the embedded target and a server's lab record requests; put this into push.rehearse")
            }
            let platform = try arguments.platform("platform")
            // Legacy FCM registrations are served through FCM v1, so both share one record.
            let service = platform == .gcm ? .fcmV1 : platform
            return try await wire.exchanges(with: service).map(ExchangeRecord.init)
        })
}

/// A recorded request to a push service, as scripts see it: `push.Exchange`.
private struct ExchangeRecord: LuaWritableRecord {
    static let luaMembers: [(name: String, shape: LuaShape)] = [
        ("service", .text), ("time", .text), ("method", .text), ("host", .text), ("path", .text), ("headers", [String: String].luaShape),
        ("body", .bytes), ("status", .integer), ("response_headers", [String: String].luaShape), ("response_body", .bytes),
        ("json", .value),
    ]

    let exchange: WireExchange

    func writeMembers(to writer: inout LuaWriter) {
        func headers(_ list: [PushHeader]) -> [String: String] {
            Dictionary(list.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        }
        writer.write(exchange.service.shortName)
        writer.write(exchange.time.description)
        writer.write(exchange.request.method)
        writer.write(exchange.request.authority)
        writer.write(exchange.request.path)
        writer.write(headers(exchange.request.headers))
        writer.write(LuaBytes(exchange.request.body))
        writer.write(exchange.response.status)
        writer.write(headers(exchange.response.headers))
        writer.write(LuaBytes(exchange.response.body))
        writer.write(LuaValue(body: exchange.request.body))
    }
}
