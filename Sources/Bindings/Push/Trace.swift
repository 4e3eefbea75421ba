import Lua
import PushModel

/// Tracing a notification.
enum TraceBindings {
    static let trace = Binding(
        "push.trace", "Explains why a device did or did not show a notification: the delivery steps, and a summary sentence.",
        takes: .table([
            .required("notification", .string, "the id that push.send returned", mistakenFor: ["id", "outcome"]),
            .optional(
                "device", .either([.object("device"), .string]),
                "a device, or the id of an installation or registration, a handle or its beginning, or a user; if absent, all devices are "
                    + "counted",
                mistakenFor: ["phone", "installation", "registration", "handle", "user"]),
        ]),
        returns: "push.Trace", when: .in(.running, capability: .hubRead),
        errors: ["device.not_found", "notification.forgotten", "notification.not_found", "target.unsupported"],
        example: "print(push.trace { notification = outcome.id, device = \"alice-1\" }.sentence)",
        body: .async { arguments, run in
            let question = TraceQuestion(notification: try arguments.text("notification"), device: try await arguments.tracedDevice(run))
            return TraceRecord(try await run.world.hub.trace(question))
        })
}

extension Arguments {
    /// The device to trace. A hub knows a device by its handle; a simulated device without the app is traced by name.
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

/// A trace, as scripts see it: `push.Trace`.
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
        "push.Trace", "The delivery of a notification to a device, or the counts of all devices.",
        fields: [
            Field("notification", "string", "the notification's id"),
            Field("state", "push.State", "its state"),
            Field("device", "string", "the device as requested", isOptional: true),
            Field("platform", "push.Platform", "the push service that reaches it", isOptional: true),
            Field("result", result, "whether the user has seen it, may still see it, or only the device knows", isOptional: true),
            Field("cause", "push.TraceCause", "the cause, for programs", isOptional: true),
            Field("sentence", "string", "the cause, as a sentence", isOptional: true),
            Field("advice", "string", "what to do", isOptional: true),
            Field("lines", "push.TraceLine[]", "the delivery steps in chronological order"),
            Field("others", "push.TracedDevice[]", "further devices of the requested user"),
            Field("causes", "push.TraceCount[]", "number of devices by cause, if no device was requested"),
            Field("near", "string[]", "if it reached no device: similar tags and expressions"),
        ])

    static let traceLine = TypeDescription(
        "push.TraceLine", "A step in the delivery of a notification.",
        fields: [
            Field("step", DeliveryTrace.Step.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: "|"), "the delivery step"),
            Field("text", "string", "what happened"),
            Field("is_cause", "boolean", "whether this step is the cause"),
            Field("time", "string", "when, ISO 8601, if recorded", isOptional: true),
            Field("is_good", "boolean", "for a decision, whether delivery continued", isOptional: true),
        ])

    static let tracedDevice = TypeDescription(
        "push.TracedDevice", "Another device of the requested user.",
        fields: [
            Field("device", "string", "its installation or registration"),
            Field("result", result, "whether the user has seen it, may still see it, or only the device knows"),
            Field("cause", "push.TraceCause", "the cause, for programs"),
            Field("sentence", "string", "the cause, as a sentence"),
            Field("lines", "push.TraceLine[]", "the delivery steps in chronological order"),
        ])

    static let traceCount = TypeDescription(
        "push.TraceCount", "The number of devices of a notification with the same cause.",
        fields: [
            Field("cause", "push.TraceCause", "the cause, for programs"),
            Field("result", result, "whether the user has seen it, may still see it, or only the device knows"),
            Field("devices", "integer", "how many"),
            Field("example", "string", "one of them, to trace; empty if none is known"),
            Field("sentence", "string", "the cause for the example, as a sentence"),
        ])

    static let traceCause = TypeDescription(
        "push.TraceCause", "Why a device did or did not show a notification.", values: TraceCause.allCases.map(\.rawValue))
}
