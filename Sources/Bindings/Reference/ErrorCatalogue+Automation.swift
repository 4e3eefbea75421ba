// Flows that a server runs by itself.
extension ErrorCatalogue {
    static let automationRuns: [ErrorDescription] = [
        ErrorDescription(
            "run.not_found", .answer, means: "There is no such run.",
            when: "The id is of no run of the server, or of one that was forgotten: keep.runs says how long they are kept. Status 404.",
            cure: "pushhost runs list shows those there are."),
        ErrorDescription(
            "run.failed", .answer, means: "The script of a flow did not come to its end.",
            when: "A request started the flow, and its script raised an error, or an expectation was not met. Status 500.",
            cure: "pushhost runs show ID has the error with its line, the steps before it and the log."),
        ErrorDescription(
            "run.overlap", .answer, means: "A run of the flow had not ended.",
            when: "The flow runs one at a time, or as many as its concurrency says, and skips what comes meanwhile. Status 409; that it "
                + "came is recorded as a run that was skipped.",
            cure: "Wait for the end of the other one. overlap: queue in the settings of the flow lets runs wait."),
        ErrorDescription(
            "run.queue_full", .answer, means: "A thousand runs of the flow wait already.",
            when: "Runs come faster than they end. Status 429.",
            cure: "Try again in a while; raise concurrency in the settings of the flow if its runs do not disturb each other."),
        ErrorDescription(
            "run.key", .answer, means: "The idempotency key cannot be used.",
            when: "It belongs to another request, whose run the message names (status 422), or it is not 1 to 255 visible ASCII characters "
                + "(status 400).", cure: "Use a key once for each run, and again only to repeat the request unchanged."),
        ErrorDescription(
            "run.ended", .answer, means: "The run has ended already.", when: "A run that has ended is to be cancelled. Status 409.",
            cure: "pushhost runs show ID tells how it ended. What it has sent is sent."),
        ErrorDescription(
            "run.unfinished", .answer, means: "The run has not ended.",
            when: "A run that waits or is under way is to be done once more. "
                + "Status 409.", cure: "Wait for its end, or cancel it."),
        ErrorDescription(
            "run.cancelled", .answer, means: "Somebody has cancelled the run, or a newer one took its place.",
            when: "pushhost runs cancel, or a flow with overlap: replace. A request that waited for it gets status 503.",
            cure: "Ask again if it is still wanted."),
        ErrorDescription(
            "run.interrupted", .answer, means: "The server ended while the run was under way.",
            when: "The flow is at-most-once: what had begun is not begun again, because nobody knows how far it came.",
            cure: "pushhost runs rerun ID begins it again. guarantee: at-least-once in the settings of the flow does so by itself."),
        ErrorDescription(
            "run.attempts", .answer, means: "The server has ended again and again while the run was under way.",
            when: "A flow that is at-least-once was begun five times, and each time the server was gone before its end.",
            cure: "Look in the log for what ends the server; pushhost runs rerun ID begins it again."),
        ErrorDescription(
            "run.secrets_lost", .answer, means: "The run was given something secret, which is kept nowhere.",
            when: "It is to be done once more (status 409), or the server ended before it did.", cure: "Start the flow anew with it."),
    ]

    static let automationFlows: [ErrorDescription] = [
        ErrorDescription(
            "flow.not_found", .answer, means: "The server has no such flow, or no request starts it.",
            when: "The name is not in flows: of the settings file; or it is, without http:. Status 404.",
            cure: "pushhost flows lists those there are, with what starts each."),
        ErrorDescription(
            "flow.broken", .answer, means: "The script of a flow does not come as far as to say what it takes.",
            when: "A server asks it, to check what it is given, and it fails before its push.args. Status 500.",
            cure: "pushhost check FILE shows what is wrong with it."),
    ]

    static let automationSchedules: [ErrorDescription] = [
        ErrorDescription(
            "schedule.not_found", .answer, means: "The server has no such schedule.", when: "The name is of none. Status 404.",
            cure: "pushhost schedule list shows those there are."),
        ErrorDescription(
            "schedule.exists", .answer, means: "There is a schedule of that name.", when: "A schedule is to be added. Status 409.",
            cure: "Choose another name, or remove the other one first."),
        ErrorDescription(
            "schedule.name", .answer, means: "That cannot be the name of a schedule.", when: "A schedule is to be added. Status 400.",
            cure: "Use letters, digits, - and _, at most 60, beginning with a letter or a digit."),
        ErrorDescription(
            "schedule.secret", .answer, means: "A schedule would keep what is secret.",
            when: "It gives its flow an argument that the script calls secret, and schedules are kept on disk. Status 400.",
            cure: "Let the script read it with push.secret, or give it under args: in the settings of the flow."),
        ErrorDescription(
            "schedule.configured", .answer, means: "The schedule stands in the settings file.",
            when: "It is to be removed. Status 409.", cure: "Take it out of the file, or pause it."),
    ]

    static let invalidArguments = ErrorDescription(
        "args.invalid", .failure, .answer, means: "A flow does not take what it is given.",
        when:
            "A request, a schedule or the settings give a flow arguments that its push.args does not declare, that do not fit, or too few. "
            + "Every fault is named. Status 400; nothing has run.",
        cure: "pushhost flows NAME shows what the flow takes.")
}
