import HTTPTypes
import HubWire
import PushHub
import PushModel

/// Routes for notifications and their results.
enum NotificationManagement {
    static let routes: [ManagementRoute] = [
        SendManagement.route, TextSendManagement.route,
        ManagementRoute(
            .get("/api/v1/hubs/{hub}/notifications", "listNotifications", "The notifications, newest first"),
            .hub(.send),
            [
                .query("scheduled", .boolean("Whether to list only scheduled ones")),
                .query(
                    "prefix", .text("Only those whose id begins with this text; a page may be shorter than requested", length: 1...80)),
                .top,
                .continuation(number),
            ], answer: .ok("A page of notifications", .page(of: notification)), refusals: [403]
        ) { call async throws(PushError) in
            let (found, next) = try await call.notifications(call.hub.service)
            return call.list(found.map(\.json), continuation: next.map { String($0) })
        },
        ManagementRoute(
            .get("/api/v1/hubs/{hub}/notifications/{id}", "getNotification", "One notification"),
            .hub(.send), answer: .ok("The notification", notification), refusals: [403]
        ) { call async throws(PushError) in
            call.answer(try await call.hub.service.notification(call.name("id")).json)
        },
        ManagementRoute(
            .delete(
                "/api/v1/hubs/{hub}/notifications/{id}", "cancelNotification",
                "Cancel a scheduled notification, or stop one in progress; its record stays"),
            .hub(.send), answer: .deleted, refusals: [403],
            audit: AuditRule(.notificationCancel, isFrequent: true) { call, _ throws(PushError) in
                (call.name("id"), ["hub": try call.hub.record.name])
            }
        ) { call async throws(PushError) in
            try await call.hub.service.cancel(notification: call.name("id"))
            return WebAnswer(.noContent)
        },
        ManagementRoute(
            .get(
                "/api/v1/hubs/{hub}/notifications/{id}/devices", "listNotificationDevices",
                "Results of a notification per device, in the order in which they arrived; a page may be shorter than requested"),
            .hub(.send), [.outcome("outcome"), .top, .continuation(number)],
            answer: .ok("A page of devices", .page(of: device)), refusals: [403]
        ) { call async throws(PushError) in
            let service = try call.hub.service
            let sequence = try await service.notification(call.name("id")).sequence
            let (found, next) = try await call.devices(of: sequence, service)
            return call.list(found.map { number, device in device.json(number) }, continuation: next.map { String($0) })
        },
    ]

    private static let number = "[0-9]{1,18}"

    static let notification = JSONSchema.object(
        "Notification",
        [
            "notificationId": .text(), "state": .choice(nil, NotificationOutcome.State.allCases.map(\.rawValue)),
            "tagExpression?": .text("Absent for a broadcast and for a direct send"),
            "handles?": .integer("Number of device handles of a direct send", 1...Int64(Audience.maximumDevices)),
            "enqueuedAt": .timestamp(),
            "startedAt?": .timestamp(), "endedAt?": .timestamp(), "scheduledFor?": .timestamp(),
            "targetPlatforms": .list("Platforms with outcomes", of: .platform),
            "outcomes": .map("Number of devices by platform and outcome", of: .map(of: .integer())),
            "nearMisses?": .list("Near misses, if no device matched", of: .text()),
            "notices?": .list("Notices for operators, such as tokens of another environment", of: .text()),
            "deferredUntil?": .timestamp("When the hub sends to the first of the devices that a plugin has deferred"),
            "pruned?": .map(
                "Number of devices removed because of invalid handles, by platform and the push service's reason",
                of: .map(of: .integer())),
        ])

    private static let device = JSONSchema.object(
        "DeviceOutcome",
        [
            "number": .integer("From 1, in the order of results", 1...Int64.max), "platform": .platform,
            "registrationId?": .text("Absent for a direct send"),
            "handle": .text("Abbreviated: enough to recognise the device, not to send to it"),
            "installationId?": .text("The registration's installation"), "template?": .text("Its name"),
            "outcome": .outcome, "reason?": .text("The push service's reason"), "explanation?": .text("What it means and what to do"),
            "pushId?": .text("The push service's id of the push"), "bytes": .integer("Size of the rendered body"),
            "isRegistrationRemoved": .boolean("Whether the registration was removed because its handle is invalid"),
        ])
}

extension ManagementCall {
    /// Maximum number of devices examined for one page.
    private static let maximumExaminedDevices = 10_000

    /// Maximum number of notifications examined for one page.
    private static let maximumExaminedNotifications = 1000

    /// Returns matching notifications, newest first, and the sequence below which the next page begins.
    fileprivate func notifications(_ service: NotificationHub) async throws(PushError) -> (found: [StoredNotification], next: Int64?) {
        let isScheduled = values["scheduled"]?.bool == true
        let prefix = text("prefix")
        let step = prefix == nil ? top + 1 : Self.examinedAtOnce
        var found: [StoredNotification] = []
        var before = text("continuation").flatMap { Int64($0) }
        var examined = 0
        while examined < Self.maximumExaminedNotifications {
            let part = try await service.notifications(before: before, limit: step, isScheduled: isScheduled)
            for notification in part where prefix.map({ notification.outcome.id.utf8.starts(with: $0.utf8) }) ?? true {
                if found.count == top { return (found, before) }
                found.append(notification)
                before = notification.sequence
            }
            if part.count < step { return (found, nil) }
            before = part.last?.sequence
            examined += part.count
        }
        return (found, before)
    }

    /// Number of notifications read at once for a prefix.
    private static let examinedAtOnce = 100

    /// Returns matching devices with their numbers, and the number after which the next page begins.
    fileprivate func devices(
        of sequence: Int64, _ service: NotificationHub
    ) async throws(PushError) -> (found: [(number: Int, device: DeviceOutcome)], next: Int?) {
        let wanted = text("outcome").flatMap { OutcomeName(rawValue: $0) }
        let first = text("continuation").flatMap { Int($0) } ?? 0
        let step = wanted == nil ? top + 1 : 1000
        var found: [(number: Int, device: DeviceOutcome)] = []
        var start = first
        while start < first + Self.maximumExaminedDevices {
            let part = try await service.devices(ofNotification: sequence, from: start, limit: step)
            for (index, device) in part.enumerated() where wanted == nil || device.outcome == wanted {
                if found.count == top { return (found, start + index) }
                found.append((start + index + 1, device))
            }
            start += part.count
            if part.count < step { return (found, nil) }
        }
        return (found, start)
    }
}

extension StoredNotification {
    var json: JSON {
        let handles = request.audience.handles.count
        return outcome.json(handles: handles > 0 ? handles : nil)
    }
}

extension NotificationOutcome {
    var json: JSON { json(handles: nil) }

    /// - Parameter handles: the number of handles of a direct send; nil for other audiences.
    fileprivate func json(handles: Int?) -> JSON {
        let platforms = counts.keys.sorted()
        let outcomes = platforms.map { platform in
            let names = (counts[platform] ?? [:]).sorted { $0.key.rawValue < $1.key.rawValue }
            return (platform.shortName, JSON.object(JSONObject(names.map { ($0.key.rawValue, .count($0.value)) })))
        }
        return .members([
            "notificationId": .string(id), "state": .string(state.rawValue), "tagExpression": tags.map { .string($0) },
            "handles": handles.map { .count($0) }, "enqueuedAt": .timestamp(enqueuedAt), "startedAt": startedAt.map { .timestamp($0) },
            "endedAt": endedAt.map { .timestamp($0) },
            "scheduledFor": scheduledFor.map { .timestamp($0) }, "targetPlatforms": .array(platforms.map { .string($0.shortName) }),
            "outcomes": .object(JSONObject(outcomes)),
            "nearMisses": nearMisses.isEmpty ? nil : .array(nearMisses.map { .string($0) }),
            "notices": notices.isEmpty ? nil : .array(notices.map { .string($0.text) }),
            "deferredUntil": deferredUntil.map { .timestamp($0) },
            "pruned": pruned.isEmpty ? nil : prunedJSON,
        ])
    }
}

extension NotificationOutcome {
    private var prunedJSON: JSON {
        .object(
            JSONObject(
                pruned.sorted { $0.key < $1.key }.map { platform, reasons in
                    let counts = reasons.sorted { $0.key < $1.key }.map { ($0.key, JSON.count($0.value)) }
                    return (platform.shortName, .object(JSONObject(counts)))
                }))
    }
}

extension DeviceOutcome {
    fileprivate func json(_ number: Int) -> JSON {
        .members([
            "number": .count(number), "platform": .string(platform.shortName), "registrationId": registrationID.map { .string($0.text) },
            "handle": .string(handle.abbreviated), "installationId": installationID.map { .string($0) },
            "template": templateName.map { .string($0) },
            "outcome": .string(outcome.rawValue), "reason": reason.nonEmpty.map { .string($0) },
            "explanation": explanation.nonEmpty.map { .string($0) }, "pushId": pushID.map { .string($0) }, "bytes": .count(size),
            "isRegistrationRemoved": .bool(isRegistrationRemoved),
        ])
    }
}
