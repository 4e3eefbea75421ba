import HTTPTypes
import HubWire
import PushCore

// Notifications: what was sent, and what became of it.
extension ManagementRoute {
    static let notifications: [ManagementRoute] = [
        sendNotification,
        ManagementRoute(
            .get, "/api/v1/hubs/{hub}/notifications", "listNotifications", "The notifications, newest first", .hub, .send,
            [
                Parameter(name: "scheduled", schema: .boolean("Whether only those are listed that wait for their moment")), .top,
                .continuation(number),
            ], answer: .ok("A page of notifications", .page(of: notification)), refusals: [403]
        ) { call async throws(PushError) in
            let before = call.text("continuation").flatMap { Int64($0) }
            let found = try await call.hub.service.notifications(
                before: before, limit: call.top + 1, isScheduled: call.values["scheduled"]?.bool == true)
            let shown = found.prefix(call.top)
            return call.list(
                shown.map(\.outcome.json), continuation: found.count > shown.count ? shown.last.map { String($0.sequence) } : nil)
        },
        ManagementRoute(
            .get, "/api/v1/hubs/{hub}/notifications/{id}", "getNotification", "One notification", .hub, .send,
            answer: .ok("The notification", notification), refusals: [403]
        ) { call async throws(PushError) in
            call.answer(try await call.hub.service.notification(call.name("id")).outcome.json)
        },
        ManagementRoute(
            .delete, "/api/v1/hubs/{hub}/notifications/{id}", "cancelNotification",
            "Cancel a notification that waits for its moment, or stop one that is under way; its record stays", .hub, .send,
            answer: .deleted, refusals: [403],
            noted: Noted(.notificationCancel, isFrequent: true) { call, _ throws(PushError) in
                (call.name("id"), ["hub": try call.hub.record.name])
            }
        ) { call async throws(PushError) in
            try await call.hub.service.cancel(notification: call.name("id"))
            return WebAnswer(.noContent)
        },
        ManagementRoute(
            .get, "/api/v1/hubs/{hub}/notifications/{id}/devices", "listNotificationDevices",
            "What became of a notification device by device, in the order of their verdicts; a page may be shorter than what was asked for",
            .hub, .send, [.outcome("outcome"), .top, .continuation(number)],
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
            "tagExpression?": .text("Absent for a broadcast and for a send straight to devices"), "enqueuedAt": .moment(),
            "startedAt?": .moment(), "endedAt?": .moment(), "scheduledFor?": .moment(),
            "targetPlatforms": .list("Those that it has outcomes of", of: .platform),
            "outcomes": .map("By platform and outcome, how many devices", of: .map(of: .integer())),
            "nearMisses?": .list("Where nobody matched, what comes close, in words", of: .text()),
            "notices?": .list("What somebody should know and do, such as tokens of another environment, in words", of: .text()),
            "deferredUntil?": .moment("When the hub goes on with the first of the devices that a plugin has deferred"),
            "pruned?": .map(
                "By platform and the push service's reason, how many of its devices left because their handles are dead",
                of: .map(of: .integer())),
        ])

    private static let device = JSONSchema.object(
        "DeviceOutcome",
        [
            "number": .integer("From 1, in the order of the verdicts", 1...Int64.max), "platform": .platform,
            "registrationId?": .text("Absent for a send straight to a device"),
            "handle": .text("Enough of it to recognise the device, too little to send to it"),
            "installationId?": .text("What the registration stood for"), "template?": .text("Its name"),
            "outcome": .outcome, "reason?": .text("The push service's own word"), "explanation?": .text("What it means and what to do"),
            "pushId?": .text("The push service's id of the push"), "bytes": .integer("Of the rendered body"),
            "isRegistrationRemoved": .boolean("Whether the registration left because its handle is dead"),
        ])
}

extension ManagementCall {
    /// Most devices that are looked through for one page.
    private static let lookedThrough = 10_000

    /// Devices with their numbers, and behind how many the next page begins.
    fileprivate func devices(
        of sequence: Int64, _ service: NotificationHub
    ) async throws(PushError) -> (found: [(number: Int, device: DeviceOutcome)], next: Int?) {
        let wanted = text("outcome").flatMap { OutcomeName(rawValue: $0) }
        let first = text("continuation").flatMap { Int($0) } ?? 0
        let step = wanted == nil ? top + 1 : 1000
        var found: [(number: Int, device: DeviceOutcome)] = []
        var start = first
        while start < first + Self.lookedThrough {
            let part = try await service.devices(ofNotification: sequence, from: start, limit: step)
            for (place, device) in part.enumerated() where wanted == nil || device.outcome == wanted {
                if found.count == top { return (found, start + place) }
                found.append((start + place + 1, device))
            }
            start += part.count
            if part.count < step { return (found, nil) }
        }
        return (found, start)
    }
}

extension NotificationOutcome {
    var json: JSON {
        let platforms = counts.keys.sorted()
        let outcomes = platforms.map { platform in
            let names = (counts[platform] ?? [:]).sorted { $0.key.rawValue < $1.key.rawValue }
            return (platform.shortName, JSON.object(JSONObject(names.map { ($0.key.rawValue, .count($0.value)) })))
        }
        return .members([
            "notificationId": .string(id), "state": .string(state.rawValue), "tagExpression": tags.map { .string($0) },
            "enqueuedAt": .moment(enqueuedAt), "startedAt": startedAt.map { .moment($0) }, "endedAt": endedAt.map { .moment($0) },
            "scheduledFor": scheduledFor.map { .moment($0) }, "targetPlatforms": .array(platforms.map { .string($0.shortName) }),
            "outcomes": .object(JSONObject(outcomes)),
            "nearMisses": nearMisses.isEmpty ? nil : .array(nearMisses.map { .string($0) }),
            "notices": notices.isEmpty ? nil : .array(notices.map { .string($0.text) }),
            "deferredUntil": deferredUntil.map { .moment($0) },
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
