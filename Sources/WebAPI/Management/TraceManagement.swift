import HTTPTypes
import HubWire
import PushHub
import PushModel

/// Route that explains why a device did or did not show a notification.
enum TraceManagement {
    static let route = ManagementRoute(
        .get(
            "/api/v1/hubs/{hub}/notifications/{id}/trace", "traceNotification",
            "Explain why a device did or did not show a notification; without a device, counts by cause"),
        .hub(.send),
        [
            .query(
                "device",
                .text(
                    "An installation, a registration, a handle or its beginning, a user, a simulated phone", length: 1...JSONSchema.longest)
            )
        ], answer: .ok("The delivery steps for each matching device, with the cause of the result", answer), refusals: [403]
    ) { call async throws(PushError) in
        let question = TraceQuestion(notification: call.name("id"), device: call.text("device"))
        return call.answer(TraceJSON.json(try await call.hub.service.trace(question)))
    }

    private static let answer = JSONSchema.object(
        "Trace",
        [
            "notificationId": .text(), "state": .choice(nil, NotificationOutcome.State.allCases.map(\.rawValue)),
            "tagExpression?": .text("Absent for a broadcast and for a direct send"), "enqueuedAt": .timestamp(),
            "traces": .list("One for each matching device; none if no device was given", of: device),
            "furtherDevices?": .integer("Number of further matching devices"),
            "causes": .list("If no device was given: the causes for all devices, most frequent first", of: count),
            "nearMisses?": .list("Near misses, if it reached no device", of: .text()),
        ])

    private static let cause = JSONSchema.choice("A code for programs", TraceCause.allCases.map(\.rawValue))
    private static let result = JSONSchema.choice(
        "Whether the user has seen it, may still see it, or only the phone knows", TraceCause.Result.allCases.map(\.rawValue))
    private static let sentence = JSONSchema.text("The explanation, for people who do not know the system")
    private static let advice = JSONSchema.text("What to do")

    private static let device = JSONSchema.object(
        "DeviceTrace",
        [
            "device": .text(), "platform?": .platform, "result": result, "cause": cause, "sentence": sentence, "advice": advice,
            "lines": .list(
                "The steps, in chronological order",
                of: .object(
                    "TraceLine",
                    [
                        "time?": .timestamp("Absent if it was not recorded"),
                        "step": .choice(nil, DeliveryTrace.Step.allCases.map(\.rawValue)), "text": .text(),
                        "isGood?": .boolean("Whether delivery continued; absent if nothing was decided"),
                        "isCause": .boolean("Whether this is the cause"),
                    ])),
        ])

    private static let count = JSONSchema.object(
        "TraceCount",
        [
            "cause": cause, "result": result, "devices": .integer("Number of devices"),
            "example": .text("One of the devices, for tracing; empty if none is known"),
            "sentence": .text("The explanation of the example"), "advice": advice,
        ])
}
