import HTTPTypes
import PushHub
import PushModel

/// Routes for devices that were removed because their handles are invalid, and for restoring them.
enum PrunedManagement {
    static let routes: [ManagementRoute] = [
        ManagementRoute(
            .get(
                "/api/v1/hubs/{hub}/pruned", "listPruned",
                "Devices removed because their handles are invalid, which can be restored, latest first"),
            .hub(.manage),
            [
                .query("id", id), .query("notificationId", notificationID),
                .query("reason", reason), .query("since", since), .top, .continuation("[0-9]{1,18}"),
            ], answer: .ok("A page of devices", .page(of: prunedDevice))
        ) { call async throws(PushError) in
            let found = try await call.hub.service.pruned(
                try PrunedFilter(call.values.mapValues(\.string)), below: call.text("continuation").flatMap { Int64($0) },
                limit: call.top + 1)
            let shown = found.prefix(call.top)
            return call.list(
                shown.map(\.json), continuation: found.count > shown.count ? shown.last.map { String($0.number) } : nil)
        },
        ManagementRoute(
            .post(
                "/api/v1/hubs/{hub}/pruned/restore", "restorePruned",
                "Restore the devices that match all parameters; devices that registered again are left unchanged"),
            .hub(.manage),
            body: .object(
                "NewRestoration",
                [
                    "filter?": .object(
                        "PrunedFilter", ["id?": id, "notificationId?": notificationID, "reason?": reason, "since?": since]),
                    "all?": .choice("All of them", ["everyone"]),
                    "dryRun?": .boolean("Count only, change nothing"),
                ], alternatives: ["filter", "all"]),
            answer: .ok(
                "Number of devices restored, or that would be restored",
                .object(
                    "Restoration",
                    [
                        "restored": .integer(), "registeredAgain": .integer("Devices that registered again and were left unchanged"),
                        "gone": .integer("Devices that were deleted or would have expired since"),
                        "unfit": .integer("Devices whose stored data is no longer valid; see the server's log"), "isDryRun": .boolean(),
                    ])),
            audit: AuditRule(.prunedRestore) { call, answer throws(PushError) in
                guard call.body["dryRun"]?.bool != true else { return nil }
                let restored = (try? JSON(parsing: answer.body))?["restored"]?.int ?? 0
                let filter = (call.body["filter"]?.object?.members ?? []).map { "\($0.key) \($0.value.string ?? "")" }
                return (
                    "\(restored) device\(restored == 1 ? "" : "s") of the hub \(try call.hub.record.name)",
                    ["selection": filter.isEmpty ? "all" : filter.joined(separator: ", ")]
                )
            }
        ) { call async throws(PushError) in
            let members = call.body["filter"]?.object?.members ?? []
            let filter = try PrunedFilter(Dictionary(uniqueKeysWithValues: members.map { ($0.key, $0.value.string) }))
            let isDryRun = call.body["dryRun"]?.bool == true
            let result = try await call.hub.service.restore(filter, isDryRun: isDryRun)
            return call.answer([
                "restored": .count(result.restored), "registeredAgain": .count(result.registeredAgain), "gone": .count(result.unrestorable),
                "unfit": .count(result.unfit), "isDryRun": .bool(isDryRun),
            ])
        },
    ]

    private static let id = JSONSchema.text("Id of a registration or an installation", length: 1...JSONSchema.longest)
    private static let notificationID = JSONSchema.text("Devices removed by this notification", length: 1...200)
    private static let reason = JSONSchema.text("The push service's reason, such as Unregistered", length: 1...200)
    private static let since = JSONSchema.timestamp("Devices removed from this time on")

    private static let prunedDevice = JSONSchema.object(
        "PrunedDevice",
        [
            "registrationId?": .text(), "installationId?": .text(), "userId?": .text(), "platform": .platform,
            "handle": .text("Abbreviated: enough to recognise the device, not to send to it"), "tags": .list(of: .text()),
            "reason": .text("The push service's reason"), "notificationId": .text("The notification"), "leftAt": .timestamp(),
        ])
}

extension PrunedFilter {
    fileprivate init(_ members: [String: String?]) throws(PushError) {
        self.init(
            id: members["id"] ?? nil, notificationID: members["notificationId"] ?? nil, reason: members["reason"] ?? nil,
            since: try (members["since"] ?? nil).map { text throws(PushError) in try Timestamp(given: text, "since") })
    }
}

extension PrunedDevice {
    fileprivate var json: JSON {
        let registration: String? = if case .registration(let registration) = subject { registration.id.text } else { nil }
        return .members([
            "registrationId": registration.map { .string($0) }, "installationId": registration == nil ? .string(id) : nil,
            "userId": userID.map { .string($0) }, "platform": .string(handle.platform.shortName), "handle": .string(handle.abbreviated),
            "tags": .array(tags.map { .string($0.text) }), "reason": .string(reason), "notificationId": .string(notificationID),
            "leftAt": .timestamp(time),
        ])
    }
}
