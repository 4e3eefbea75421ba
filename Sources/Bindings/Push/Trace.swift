import Lua
import PushCore

extension Binding {
    static let trace = Binding(
        "push.trace", "Why a device shows a notification, or does not: its way, a line each, and one sentence.", style: .table,
        parameters: [
            .required("notification", .string, "the id that push.send returned", mistakenFor: ["id", "outcome"]),
            .optional(
                "device", .either([.object("device"), .string]),
                "a phone, or an installation, a registration, a handle or its beginning, a user; all devices are counted if absent",
                mistakenFor: ["phone", "installation", "registration", "handle", "user"]),
        ],
        returns: "push.Trace", phases: .running, capability: .hubRead,
        errors: ["device.not_found", "notification.forgotten", "notification.not_found", "target.unsupported"],
        example: "print(push.trace { notification = outcome.id, device = \"alice-1\" }.sentence)",
        body: .async { arguments, run in
            let question = TraceQuestion(notification: try arguments.text("notification"), device: try await arguments.tracedDevice(run))
            return TraceRecord(try await run.world.hub.trace(question))
        })
}

extension Arguments {
    /// A phone is known to a hub by its handle; one without the app by its name, where phones are simulated.
    fileprivate func tracedDevice(_ run: FlowRun) async throws -> String? {
        guard case .object(let object)? = value("device"), let phone = object.payload as? DeviceObject else { return string("device") }
        let lab = try run.lab
        do throws(PushError) {
            return try await lab.handle(of: phone.id).text
        } catch {
            guard error.code == "device.uninstalled" else { throw error }
            return phone.name
        }
    }
}

/// A trace as a script sees it: `push.Trace`.
private struct TraceRecord: LuaWritableRecord, Sendable {
    static let luaMembers: [(name: String, shape: LuaShape)] = [
        ("notification", .text), ("state", .text), ("device", .text.optional), ("platform", .text.optional), ("result", .text.optional),
        ("cause", .text.optional), ("sentence", .text.optional), ("advice", .text.optional), ("lines", [TraceLineRecord].luaShape),
        ("others", [TracedRecord].luaShape), ("causes", [TraceCountRecord].luaShape), ("near", [String].luaShape),
    ]

    private let answer: TraceAnswer

    init(_ answer: TraceAnswer) { self.answer = answer }

    func writeMembers(to writer: inout LuaWriter) {
        let first = answer.traces.first
        writer.write(answer.notification)
        writer.write(answer.state.rawValue)
        writer.write(first?.device)
        writer.write(first?.platform?.shortName)
        writer.write(first?.cause.result.rawValue)
        writer.write(first?.cause.rawValue)
        writer.write(first?.sentence)
        writer.write(first?.cause.advice)
        writer.write(first?.lines.map(TraceLineRecord.init) ?? [])
        writer.write(answer.traces.dropFirst().map(TracedRecord.init))
        writer.write(answer.counts.map(TraceCountRecord.init))
        writer.write(answer.nearMisses)
    }
}

/// `push.TraceLine`.
private struct TraceLineRecord: LuaWritableRecord, Sendable {
    static let luaMembers: [(name: String, shape: LuaShape)] = [
        ("step", .text), ("text", .text), ("is_cause", .boolean), ("time", .text.optional), ("is_good", .boolean.optional),
    ]

    let line: DeliveryTrace.Line

    func writeMembers(to writer: inout LuaWriter) {
        writer.write(line.step.rawValue)
        writer.write(line.text)
        writer.write(line.isCause)
        writer.write(line.time?.description)
        writer.write(line.isGood)
    }
}

/// `push.TracedDevice`.
private struct TracedRecord: LuaWritableRecord, Sendable {
    static let luaMembers: [(name: String, shape: LuaShape)] = [
        ("device", .text), ("result", .text), ("cause", .text), ("sentence", .text), ("lines", [TraceLineRecord].luaShape),
    ]

    let trace: DeliveryTrace

    func writeMembers(to writer: inout LuaWriter) {
        writer.write(trace.device)
        writer.write(trace.cause.result.rawValue)
        writer.write(trace.cause.rawValue)
        writer.write(trace.sentence)
        writer.write(trace.lines.map(TraceLineRecord.init))
    }
}

/// `push.TraceCount`.
private struct TraceCountRecord: LuaWritableRecord, Sendable {
    static let luaMembers: [(name: String, shape: LuaShape)] = [
        ("cause", .text), ("result", .text), ("devices", .integer), ("example", .text), ("sentence", .text),
    ]

    let count: TraceAnswer.Count

    func writeMembers(to writer: inout LuaWriter) {
        writer.write(count.cause.rawValue)
        writer.write(count.cause.result.rawValue)
        writer.write(count.devices)
        writer.write(count.example)
        writer.write(count.sentence)
    }
}

extension TypeDescription {
    private static let result = TraceCause.Result.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: "|")

    static let trace = TypeDescription(
        "push.Trace", "The way of a notification to a device; of all devices, where none was named, the counts.",
        fields: [
            Field("notification", "string", "the notification's id"),
            Field("state", "push.State", "how it stands"),
            Field("device", "string", "the device, as it was asked for", isOptional: true),
            Field("platform", "push.Platform", "the push service that reaches it", isOptional: true),
            Field("result", result, "whether the user has seen it, may still, or nobody but the phone knows", isOptional: true),
            Field("cause", "push.TraceCause", "why, for programs", isOptional: true),
            Field("sentence", "string", "why, for people", isOptional: true),
            Field("advice", "string", "what to do", isOptional: true),
            Field("lines", "push.TraceLine[]", "the way, in the order of time"),
            Field("others", "push.TracedDevice[]", "further devices of the user who was named"),
            Field("causes", "push.TraceCount[]", "how many devices ended how, where none was named"),
            Field("near", "string[]", "where it reached nobody: what comes close, in words"),
        ])

    static let traceLine = TypeDescription(
        "push.TraceLine", "A step on the way of a notification.",
        fields: [
            Field("step", DeliveryTrace.Step.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: "|"), "where on the way"),
            Field("text", "string", "what happened"),
            Field("is_cause", "boolean", "whether this is why"),
            Field("time", "string", "when, ISO 8601, where that was kept", isOptional: true),
            Field("is_good", "boolean", "whether it went on from there, where something was decided", isOptional: true),
        ])

    static let tracedDevice = TypeDescription(
        "push.TracedDevice", "Another device of the user for whom a trace was asked.",
        fields: [
            Field("device", "string", "its installation or registration"),
            Field("result", result, "whether the user has seen it, may still, or nobody but the phone knows"),
            Field("cause", "push.TraceCause", "why, for programs"),
            Field("sentence", "string", "why, for people"),
            Field("lines", "push.TraceLine[]", "the way, in the order of time"),
        ])

    static let traceCount = TypeDescription(
        "push.TraceCount", "How many devices of a notification had one cause.",
        fields: [
            Field("cause", "push.TraceCause", "why, for programs"),
            Field("result", result, "whether the user has seen it, may still, or nobody but the phone knows"),
            Field("devices", "integer", "how many"),
            Field("example", "string", "one of them, to trace; empty where none is known"),
            Field("sentence", "string", "why, of the example"),
        ])

    static let traceCause = TypeDescription(
        "push.TraceCause", "Why a device shows a notification, or does not.", values: TraceCause.allCases.map(\.rawValue))
}
