import Lua
import PushModel

/// Scheduled sends.
enum ScheduleBindings {
    static let schedule = Binding(
        "push.schedule", "Schedules a notification, at most seven days ahead.",
        takes: .table(
            [
                .optional("at", .time, "due time: \"2026-01-06T08:00:00Z\"", mistakenFor: ["when", "time", "date"]),
                .optional("after", .duration, "time until it is due: \"2h\"", mistakenFor: ["in", "delay", "wait"]).ruled { value in
                    guard try Duration(argument: value, named: "after", of: "push.schedule") > .seconds(7 * 86_400) else { return }
                    throw tooFar("after")
                },
            ] + SendBindings.notificationParameters,
            constraint: { keys, name throws(LuaError) in
                if keys.contains("at"), keys.contains("after") {
                    throw .misuse(
                        "schedule.when", "\(name): \"at\" and \"after\" cannot be combined", hint: "keep one of them",
                        details: ["key": .string("after")]
                    )
                }
                guard keys.contains("at") || keys.contains("after") else {
                    throw .misuse(
                        "schedule.when", "push.schedule needs one of \"at\" and \"after\"",
                        hint: "at takes a time, after a duration such as \"2h\"")
                }
                try NotificationKeys.notificationConstraint(keys, name)
            }),
        returns: "push.Outcome", when: .in(.acting, capability: .hubSend),
        errors: ["schedule.when", "time.too_far"] + SendBindings.notificationErrors,
        example: "local planned = push.schedule { after = \"2h\", to = \"Sports\", alert = \"Half-time is over\" }",
        body: .async { arguments, run in
            let now = run.world.clock.now
            let dueTime = try arguments.time("at") ?? now + (try arguments.duration("after") ?? .zero)
            let (request, audience) = try await arguments.notification(run)
            run.warnOfAzureLimits(request, site: arguments.site)
            let outcome: NotificationOutcome
            do throws(PushError) {
                outcome = try await run.world.hub.schedule(request, at: dueTime)
            } catch {
                throw error.code == "time.too_far" ? tooFar(arguments.value("at") == nil ? "after" : "at") : error
            }
            if dueTime < now { run.sends.warnOfPastDueTime(outcome, now: now, site: arguments.site) }
            await run.sends.recordScheduled(outcome, audience: audience, site: arguments.site)
            return OutcomeRecord(outcome, run)
        })

    private static func tooFar(_ key: String) -> PushError {
        PushError(
            "time.too_far", "push.schedule: \"\(key)\" is more than seven days ahead", hint: "schedule within seven days", status: 400)
    }

    static let cancel = Binding(
        "push.cancel", "Cancels a scheduled notification, or stops one in progress. No further devices receive it.",
        takes: .positional([.required("id", .string, "the id that push.schedule or push.send returned")]),
        when: .in(.acting, capability: .hubSend), errors: ["notification.not_found"],
        example: "push.cancel(planned.id)",
        body: .async { arguments, run in
            let id = try arguments.text("id")
            try await run.world.hub.cancel(notification: id)
            run.sends.removeScheduled(id)
        })
}
