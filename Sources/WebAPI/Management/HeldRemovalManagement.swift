import HTTPTypes
import PushHub
import PushModel

/// Routes for held removals: devices of notifications that would have removed too many, and the operator's decision about them.
enum HeldRemovalManagement {
    static let routes: [ManagementRoute] = [
        ManagementRoute(
            .get(
                "/api/v1/hubs/{hub}/pruned/held", "listHeldRemovals",
                "Devices whose removal is held, because their notification had too many of its audience removed; the newest first"),
            .hub(.manage),
            [
                .query("notificationId", notificationID), .query("reason", reason), .top,
                .continuation("[0-9]{1,18}"),
            ],
            answer: .ok("A page of held removals", .page(of: heldRemoval))
        ) { call async throws(PushError) in
            let found = try await call.hub.service.heldRemovals(
                HeldRemovalFilter(call.values.mapValues(\.string)), below: call.text("continuation").flatMap { Int64($0) },
                limit: call.top + 1)
            let shown = found.prefix(call.top)
            return call.list(
                shown.map(\.json), continuation: found.count > shown.count ? shown.last.map { String($0.number) } : nil)
        },
        decision(
            "apply", "applyHeldRemovals", "Remove the devices of held removals; devices that were registered again stay", .prunedApply
        ) { hub, filter, isDryRun async throws(PushError) in try await hub.applyHeldRemovals(filter, isDryRun: isDryRun) },
        decision("drop", "dropHeldRemovals", "Forget held removals; their devices stay registered", .prunedDrop) {
            hub, filter, isDryRun async throws(PushError) in try await hub.dropHeldRemovals(filter, isDryRun: isDryRun)
        },
    ]

    private static func decision(
        _ name: String, _ operation: String, _ summary: String, _ action: AuditAction,
        _ resolve: @escaping @Sendable (NotificationHub, HeldRemovalFilter, Bool) async throws(PushError) -> HeldRemovalResult
    ) -> ManagementRoute {
        ManagementRoute(
            .post("/api/v1/hubs/{hub}/pruned/\(name)", operation, summary),
            .hub(.manage),
            body: .object(
                "HeldRemovalDecision",
                [
                    "filter?": .object("HeldRemovalFilter", ["notificationId?": notificationID, "reason?": reason]),
                    "all?": .choice("All of them", ["everyone"]),
                    "dryRun?": .boolean("Count only, change nothing"),
                ], alternatives: ["filter", "all"]),
            answer: .ok(
                "How many removals it settled, or would settle",
                .object(
                    "HeldRemovalResult",
                    [
                        "devices": .integer("Removals that were applied or dropped"),
                        "outdated": .integer("Removals without effect: the device was registered again or deleted"), "isDryRun": .boolean(),
                    ])),
            audit: AuditRule(action) { call, answer throws(PushError) in
                guard call.body["dryRun"]?.bool != true else { return nil }
                let devices = (try? JSON(parsing: answer.body))?["devices"]?.int ?? 0
                let filter = (call.body["filter"]?.object?.members ?? []).map { "\($0.key) \($0.value.string ?? "")" }
                return (
                    "\(devices) held removal\(devices == 1 ? "" : "s") of the hub \(try call.hub.record.name)",
                    ["selection": filter.isEmpty ? "all" : filter.joined(separator: ", ")]
                )
            }
        ) { call async throws(PushError) in
            let members = call.body["filter"]?.object?.members ?? []
            let filter = HeldRemovalFilter(Dictionary(uniqueKeysWithValues: members.map { ($0.key, $0.value.string) }))
            let isDryRun = call.body["dryRun"]?.bool == true
            let result = try await resolve(call.hub.service, filter, isDryRun)
            return call.answer(["devices": .count(result.devices), "outdated": .count(result.outdated), "isDryRun": .bool(isDryRun)])
        }
    }

    private static let rejectedNotification = "The notification for which the push service reported the token as invalid"
    private static let notificationID = JSONSchema.text(rejectedNotification, length: 1...200)
    private static let reason = JSONSchema.text("The push service's reason, such as Unregistered", length: 1...200)

    private static let heldRemoval = JSONSchema.object(
        "HeldRemoval",
        [
            "platform": .platform, "handle": .text("Abbreviated: enough to recognise the device, not to send to it"),
            "reason": .text("The push service's reason"), "notificationId": .text(rejectedNotification),
            "heldAt": .timestamp(),
        ])
}

extension HeldRemovalFilter {
    fileprivate init(_ members: [String: String?]) {
        self.init(notificationID: members["notificationId"] ?? nil, reason: members["reason"] ?? nil)
    }
}

extension HeldRemoval {
    fileprivate var json: JSON {
        .members([
            "platform": .string(handle.platform.shortName), "handle": .string(handle.abbreviated), "reason": .string(reason),
            "notificationId": .string(notificationID), "heldAt": .timestamp(time),
        ])
    }
}
