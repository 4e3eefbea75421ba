import Lua
import PushCore

/// A simulated push service in a script's hands: `push.simulator.apns`.
final class SimulatorObject: Sendable {
    let service: Platform

    init(_ service: Platform) {
        self.service = service
    }

    static let type = LuaObjectType.handle(
        "simulator", of: SimulatorObject.self, describe: { "simulator of \($0.service.displayName)" },
        properties: ["service": { .string($0.service.shortName) }])
}

extension FlowRun {
    /// Raises `target.unsupported` where the push services are the real ones.
    fileprivate var faults: any ServiceFaults {
        get throws(LuaError) {
            guard let faults = world.faults else {
                throw .failure(
                    "target.unsupported", "the push services of \(world.target.name) are not simulated",
                    hint: "faults exist on the embedded target and in a server's lab; put this into push.rehearse")
            }
            return faults
        }
    }
}

extension Binding {
    static let simulator = Binding(
        "push.simulator", "The simulated push services, to make them fail: push.simulator.apns, .fcm, .gcm, .wns, .browser.",
        style: .value, returns: "push.Simulators", example: "push.simulator.apns:fail { reason = \"TooManyRequests\", next = 2 }",
        body: .prelude)

    static let simulatorFail = Binding(
        "simulator:fail",
        "Refuses notifications, or access tokens, with a word of the service's own: the next ones, a share, or all until reset.",
        style: .table,
        parameters: [
            .required(
                "reason", .string, "the service's word, such as \"Unregistered\": simulator:reasons() lists them",
                mistakenFor: ["with", "error", "code"]),
            .optional("next", .integer, "how many; all until reset if absent", mistakenFor: ["count", "times", "n"]),
            .optional("device", .object("device"), "only those to this phone"),
            .optional("share", .number, "the part that is refused, drawn by lot: 0.01 is one of a hundred", mistakenFor: ["part", "rate"])
                .ruled { if let share = $0.json?.double { try OrderedRefusal.check(share: share) } },
            .optional(
                "retry_after", .duration, "how long the answer asks to wait, in whole seconds; as the service has it if absent",
                mistakenFor: ["pause", "wait"]
            ).ruled { _ = try OrderedRefusal.seconds(of: Duration(argument: $0, named: "retry_after", of: "simulator:fail")) },
            .optional(
                "at", places, "send, for notifications (the default), or token, where access tokens are given out: FCM and WNS",
                mistakenFor: ["where"]),
        ],
        needs: .faults,
        errors: [
            "simulator.reason", "simulator.count", "simulator.handle", "simulator.share", "simulator.retry_after", "simulator.token",
        ],
        example: "push.simulator.fcm:fail { reason = \"UNREGISTERED\", next = 1 }",
        body: .async { arguments, run in
            let service = try arguments.receiver(as: SimulatorObject.self).service
            var handle: DeviceHandle?
            if let device = arguments.payload("device", as: DeviceObject.self) { handle = try await run.lab.handle(of: device.id) }
            let pause = try arguments.duration("retry_after").map { pause throws(PushError) in try OrderedRefusal.seconds(of: pause) }
            try await run.faults.fail(
                service,
                with: OrderedRefusal(
                    try arguments.text("reason"), at: arguments.refusedPlace, count: try arguments.count("next"), handle: handle,
                    share: arguments.number("share") ?? 1, retryAfter: pause))
        })

    private static let places = ParameterType.oneOf(OrderedRefusal.Place.allCases.map(\.rawValue))

    static let simulatorRevokeTokens = Binding(
        "simulator:revoke_tokens", "Makes all access tokens bad that the service has given out: FCM and WNS.",
        needs: .faults, errors: ["simulator.token"], example: "push.simulator.fcm:revoke_tokens()",
        body: .async { arguments, run in
            try await run.faults.revokeTokens(of: arguments.receiver(as: SimulatorObject.self).service)
        })

    static let simulatorLatency = Binding(
        "simulator:latency", "Lets every answer of the service take this long; 0 for none.",
        parameters: [.required("duration", .duration, "how long: \"2s\"")], needs: .faults,
        example: "push.simulator.apns:latency \"2s\"",
        body: .async { arguments, run in
            let service = try arguments.receiver(as: SimulatorObject.self).service
            try await run.faults.setLatency(try arguments.duration("duration") ?? .zero, of: service)
        })

    static let simulatorDisconnect = Binding(
        "simulator:disconnect", "Breaks the connection to the service: before it takes a request, or after, without an answer.",
        style: .table,
        parameters: [
            .optional("next", .integer, "how many times; once if absent", mistakenFor: ["count", "times"]),
            .optional("after_request", .boolean, "true: the service has taken the request, and the sender cannot know"),
        ],
        needs: .faults, errors: ["simulator.count"], example: "push.simulator.wns:disconnect { next = 3 }",
        body: .async { arguments, run in
            let service = try arguments.receiver(as: SimulatorObject.self).service
            try await run.faults.breakConnections(
                service, count: try arguments.count("next") ?? 1, afterRequest: arguments.boolean("after_request") ?? false)
        })

    static let simulatorReset = Binding(
        "simulator:reset", "Takes back all faults of the service.", needs: .faults,
        example: "push.simulator.apns:reset()",
        body: .async { arguments, run in
            try await run.faults.clear(arguments.receiver(as: SimulatorObject.self).service)
        })

    static let simulatorReasons = Binding(
        "simulator:reasons", "The words with which the service can refuse.", style: .table,
        parameters: [.optional("at", places, "send, for notifications (the default), or token, for access tokens")],
        returns: "string[]", needs: .faults,
        example: "print(table.concat(push.simulator.apns:reasons(), \", \"))",
        body: .sync { arguments, run in
            let reasons = try run.faults.reasons(
                of: arguments.receiver(as: SimulatorObject.self).service, at: arguments.refusedPlace)
            return reasons
        })
}

extension Arguments {
    fileprivate var refusedPlace: OrderedRefusal.Place { string("at").flatMap(OrderedRefusal.Place.init) ?? .send }

    fileprivate func count(_ name: String) throws(LuaError) -> Int? {
        guard let count = integer(name) else { return nil }
        guard count > 0 else {
            throw .misuse(
                "simulator.count", "\(self.name): \"\(name)\" must be at least 1, got \(count)",
                hint: "give a number from 1 on, or leave it out",
                details: ["key": .string(name)])
        }
        return count
    }
}
