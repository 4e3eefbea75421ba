import Lua
import PushModel

/// The state and results of a notification, as scripts see them: `push.Outcome`.
struct OutcomeRecord: LuaWritableRecord, Sendable {
    static let luaMembers: [(name: String, shape: LuaShape)] = [
        ("id", .text), ("state", .text), ("sent", .integer), ("failed", .integer),
        ("devices", [DeviceOutcomeRecord].luaShape), ("near", [String].luaShape), ("enqueued_at", .text), ("tags", .text.optional),
        ("scheduled_for", .text.optional), ("ended_at", .text.optional), ("counts", [String: [String: Int]].luaShape),
        ("notices", [String].luaShape), ("pruned", [String: [String: Int]].luaShape),
    ]

    private let outcome: NotificationOutcome
    private let devices: [DeviceOutcomeRecord]

    init(_ outcome: NotificationOutcome, _ run: FlowRun) {
        self.outcome = outcome
        devices = outcome.devices.map { DeviceOutcomeRecord(outcome: $0, name: run.deviceName(of: $0.handle)) }
    }

    func writeMembers(to writer: inout LuaWriter) {
        writer.write(outcome.id)
        writer.write(outcome.state.rawValue)
        writer.write(outcome.sent)
        writer.write(outcome.failed)
        writer.write(devices)
        writer.write(outcome.nearMisses)
        writer.write(outcome.enqueuedAt.description)
        writer.write(outcome.tags)
        writer.write(outcome.scheduledFor?.description)
        writer.write(outcome.endedAt?.description)
        writer.write(
            Dictionary(
                uniqueKeysWithValues: outcome.counts.map { platform, names in
                    (platform.shortName, Dictionary(uniqueKeysWithValues: names.map { ($0.rawValue, $1) }))
                }))
        writer.write(outcome.notices.map(\.text))
        writer.write(Dictionary(uniqueKeysWithValues: outcome.pruned.map { ($0.key.shortName, $0.value) }))
    }
}

/// `push.DeviceOutcome`.
private struct DeviceOutcomeRecord: LuaWritableRecord, Sendable {
    static let luaMembers: [(name: String, shape: LuaShape)] = [
        ("platform", .text), ("outcome", .text), ("reason", .text), ("explanation", .text), ("handle", .text), ("bytes", .integer),
        ("registration_removed", .boolean), ("name", .text.optional), ("registration", .text.optional), ("push_id", .text.optional),
        ("template", .text.optional),
    ]

    let outcome: DeviceOutcome
    let name: String?

    func writeMembers(to writer: inout LuaWriter) {
        writer.write(outcome.platform.shortName)
        writer.write(outcome.outcome.rawValue)
        writer.write(outcome.reason)
        writer.write(outcome.explanation)
        writer.write(outcome.handle.abbreviated)
        writer.write(outcome.size)
        writer.write(outcome.isRegistrationRemoved)
        writer.write(name)
        writer.write(outcome.registrationID?.text)
        writer.write(outcome.pushID)
        writer.write(outcome.templateName)
    }
}
