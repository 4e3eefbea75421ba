import Lua
import PushModel

/// A simulated push service, as a handle for scripts: `push.simulator.apns`.
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
    /// The faults of the push services. Throws `target.unsupported` if the services are real.
    fileprivate var faults: any ServiceFaults {
        get throws(LuaError) {
            guard let faults = world.faults else {
                throw .failure(
                    "target.unsupported", "the push services of \(world.target.name) are not simulated",
                    hint: "the embedded target and a server's lab can simulate faults; put this into push.rehearse")
            }
            return faults
        }
    }
}

/// Failures of simulated push services.
enum SimulatorBindings {
    static let simulator = Binding(
        "push.simulator", "The simulated push services, for setting faults: push.simulator.apns, .fcm, .gcm, .wns, .browser.",
        takes: .value,
        returns: "push.Simulators",
        example: "push.simulator.apns:fail { reason = \"TooManyRequests\", next = 2 }", body: .prelude)

    static let simulatorFail = Binding(
        "simulator:fail",
        "Rejects notifications or access token requests with a reason of the service: the next ones, a share, or all until reset.",
        takes: .table([
            .required(
                "reason", .string, "a reason of the service, such as \"Unregistered\"; simulator:reasons() lists them",
                mistakenFor: ["with", "error", "code"]),
            .optional("next", .integer, "number of failures; all until reset if absent", mistakenFor: ["count", "times", "n"]),
            .optional("device", .object("device"), "only notifications to this device"),
            .optional("share", .number, "the share to reject, chosen at random: 0.01 is one in a hundred", mistakenFor: ["part", "rate"])
                .ruled { if let share = $0.json?.double { try InjectedRefusal.check(share: share) } },
            .optional(
                "retry_after", .duration, "Retry-After of the response, in whole seconds; that of the service by default",
                mistakenFor: ["pause", "wait"]
            ).ruled { _ = try InjectedRefusal.seconds(of: Duration(argument: $0, named: "retry_after", of: "simulator:fail")) },
            .optional(
                "at", requestKinds, "send, for notifications (the default), or token, for access tokens (FCM and WNS)",
                mistakenFor: ["where"]),
        ]),
        when: .in(needs: .faults),
        errors: [
            "simulator.reason", "simulator.count", "simulator.handle", "simulator.share", "simulator.retry_after", "simulator.token",
        ],
        example: "push.simulator.fcm:fail { reason = \"UNREGISTERED\", next = 1 }",
        body: .async { arguments, run in
            let service = try arguments.receiver(as: SimulatorObject.self).service
            try run.store(HostCost.injectedFault, arguments)
            var handle: DeviceHandle?
            if let device = arguments.payload("device", as: DeviceObject.self) { handle = try await run.lab.handle(of: device.id) }
            let pause = try arguments.duration("retry_after").map { pause throws(PushError) in try InjectedRefusal.seconds(of: pause) }
            try await run.faults.fail(
                service,
                with: InjectedRefusal(
                    try arguments.text("reason"), at: arguments.refusedRequestKind, count: try arguments.count("next"), handle: handle,
                    share: arguments.number("share") ?? 1, retryAfter: pause))
        })

    private static let requestKinds = ParameterType.oneOf(InjectedRefusal.RequestKind.allCases.map(\.rawValue))

    static let simulatorRevokeTokens = Binding(
        "simulator:revoke_tokens", "Invalidates all access tokens that the service has issued (FCM and WNS).",
        when: .in(needs: .faults), errors: ["simulator.token"],
        example: "push.simulator.fcm:revoke_tokens()",
        body: .async { arguments, run in
            try await run.faults.revokeTokens(of: arguments.receiver(as: SimulatorObject.self).service)
        })

    static let simulatorLatency = Binding(
        "simulator:latency", "Delays every response of the service by this time; 0 for none.",
        takes: .positional([.required("duration", .duration, "the delay: \"2s\"")]),
        when: .in(needs: .faults),
        example: "push.simulator.apns:latency \"2s\"",
        body: .async { arguments, run in
            let service = try arguments.receiver(as: SimulatorObject.self).service
            try await run.faults.setLatency(try arguments.duration("duration") ?? .zero, of: service)
        })

    static let simulatorDisconnect = Binding(
        "simulator:disconnect", "Breaks the connection to the service, before it accepts a request or after, without a response.",
        takes: .table([
            .optional("next", .integer, "number of times, once by default", mistakenFor: ["count", "times"]),
            .optional("after_request", .boolean, "true: the service has processed the request, which the sender cannot know"),
        ]),
        when: .in(needs: .faults), errors: ["simulator.count"],
        example: "push.simulator.wns:disconnect { next = 3 }",
        body: .async { arguments, run in
            let service = try arguments.receiver(as: SimulatorObject.self).service
            try run.store(HostCost.injectedFault, arguments)
            try await run.faults.breakConnections(
                service, count: try arguments.count("next") ?? 1, afterRequest: arguments.boolean("after_request") ?? false)
        })

    static let simulatorReset = Binding(
        "simulator:reset", "Removes all faults of the service.",
        when: .in(needs: .faults),
        example: "push.simulator.apns:reset()",
        body: .async { arguments, run in
            try await run.faults.clear(arguments.receiver(as: SimulatorObject.self).service)
        })

    static let simulatorReasons = Binding(
        "simulator:reasons", "Lists the reasons with which the service can reject requests.",
        takes: .table([.optional("at", requestKinds, "send, for notifications (the default), or token, for access tokens")]),
        returns: "string[]", when: .in(needs: .faults),
        example: "print(table.concat(push.simulator.apns:reasons(), \", \"))",
        body: .sync { arguments, run in
            let reasons = try run.faults.reasons(
                of: arguments.receiver(as: SimulatorObject.self).service, at: arguments.refusedRequestKind)
            return reasons
        })
}

extension Arguments {
    fileprivate var refusedRequestKind: InjectedRefusal.RequestKind { string("at").flatMap(InjectedRefusal.RequestKind.init) ?? .send }

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
