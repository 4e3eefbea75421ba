import HTTPTypes
import HubWire
import PushCore

// Why a device shows a notification, or does not.
extension ManagementRoute {
    static let trace = ManagementRoute(
        .get, "/api/v1/hubs/{hub}/notifications/{id}/trace", "traceNotification",
        "Why a device shows a notification, or does not; without a device, how many ended how", .hub, .send,
        [
            Parameter(
                name: "device",
                schema: .text(
                    "An installation, a registration, a handle or its beginning, a user, a simulated phone", length: 1...JSONSchema.longest)
            )
        ], answer: .ok("The way to each device that was meant, and why it ended as it did", answer), refusals: [403]
    ) { call async throws(PushError) in
        let question = TraceQuestion(notification: call.name("id"), device: call.text("device"))
        return call.answer(try await call.hub.service.trace(question).json)
    }

    private static let answer = JSONSchema.object(
        "Trace",
        [
            "notificationId": .text(), "state": .choice(nil, NotificationOutcome.State.allCases.map(\.rawValue)),
            "tagExpression?": .text("Absent for a broadcast and for a send straight to devices"), "enqueuedAt": .moment(),
            "traces": .list("One for each device that was meant; none where none was named", of: device),
            "furtherDevices?": .integer("Devices that were meant beyond these"),
            "causes": .list("Where no device was named: of all devices, those of most devices first", of: count),
            "nearMisses?": .list("Where it reached nobody, what comes close, in words", of: .text()),
        ])

    private static let cause = JSONSchema.choice("A code for programs", TraceCause.allCases.map(\.rawValue))
    private static let result = JSONSchema.choice(
        "Whether the user has seen it, may still, or nobody but the phone knows", TraceCause.Result.allCases.map(\.rawValue))
    private static let sentence = JSONSchema.text("Why, for people who do not know the system")
    private static let advice = JSONSchema.text("What to do")

    private static let device = JSONSchema.object(
        "DeviceTrace",
        [
            "device": .text(), "platform?": .platform, "result": result, "cause": cause, "sentence": sentence, "advice": advice,
            "lines": .list(
                "The way, in the order of time",
                of: .object(
                    "TraceLine",
                    [
                        "time?": .moment("Absent where it was not kept"),
                        "step": .choice(nil, DeliveryTrace.Step.allCases.map(\.rawValue)), "text": .text(),
                        "isGood?": .boolean("Whether it went on from there; absent where nothing was decided"),
                        "isCause": .boolean("Whether this is why"),
                    ])),
        ])

    private static let count = JSONSchema.object(
        "TraceCount",
        [
            "cause": cause, "result": result, "devices": .integer("How many"),
            "example": .text("One of them, to trace; empty where none is known"),
            "sentence": .text("Of the example"), "advice": advice,
        ])
}
