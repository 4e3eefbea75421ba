/// Error codes of flows that a server runs on a schedule, on events and on requests. They are part of areas of other tables.
enum AutomationErrors {
    static let runs: [ErrorDescription] = [
        ErrorDescription(
            "run.not_found", .answer, means: "There is no run with this id.",
            when: "The id is invalid, or the run was deleted after the time set by keep.runs. Status 404.",
            fix: "pushhost runs list shows all runs."),
        ErrorDescription(
            "run.failed", .answer, means: "The script of a flow failed.",
            when: "A request started the flow, and its script raised an error or an expectation failed. Status 500.",
            fix: "pushhost runs show ID shows the error with its line, the steps before it and the log."),
        ErrorDescription(
            "run.overlap", .answer, means: "A previous run of the flow has not ended.",
            when: "The flow has reached its limit of concurrent runs (concurrency, one by default) and skips further ones. Status 409. The "
                + "run is recorded as skipped.",
            fix: "Wait for the other run to end, or set overlap: queue in the settings of the flow so that runs wait."),
        ErrorDescription(
            "run.queue_full", .answer, means: "A thousand runs of the flow are queued.",
            when: "Runs are started faster than they end. Status 429.",
            fix: "Try again later. If runs of the flow are independent, raise concurrency in its settings."),
        ErrorDescription(
            "run.key", .answer, means: "The idempotency key cannot be used.",
            when: "It was used for another request, whose run the message names (status 422), or it is not 1 to 255 visible ASCII "
                + "characters (status 400).",
            fix: "Use a new key for each run. Reuse a key only to repeat an unchanged request."),
        ErrorDescription(
            "run.ended", .answer, means: "The run has already ended.",
            when: "A run that has ended cannot be cancelled. Status 409.",
            fix: "pushhost runs show ID shows its result. Notifications that it sent cannot be recalled."),
        ErrorDescription(
            "run.unfinished", .answer, means: "The run has not ended.",
            when: "A run that is queued or running cannot be repeated. Status 409.", fix: "Wait for it to end, or cancel it."),
        ErrorDescription(
            "run.cancelled", .answer, means: "The run was cancelled, or replaced by a newer one.",
            when: "pushhost runs cancel was used, or the flow has overlap: replace. A request that waits for the run gets status 503.",
            fix: "Start the run again if it is still needed."),
        ErrorDescription(
            "run.interrupted", .answer, means: "The server stopped during the run.",
            when: "The flow is at-most-once, so an interrupted run is not restarted: it is unknown how far it got.",
            fix: "pushhost runs rerun ID starts it again. With guarantee: at-least-once in the settings of the flow, interrupted runs "
                + "restart automatically."),
        ErrorDescription(
            "run.attempts", .answer, means: "The server stopped during each of five attempts of the run.",
            when: "The flow is at-least-once. It was started five times, and each time the server stopped before it ended.",
            fix: "Look in the log for the reason why the server stops. pushhost runs rerun ID starts the run again."),
        ErrorDescription(
            "run.secrets_lost", .answer, means: "The run had secret arguments, which are not stored.",
            when: "The run is repeated (status 409), or the server stopped before it ended.",
            fix: "Start the flow again with the secret arguments."),
    ]

    static let flows: [ErrorDescription] = [
        ErrorDescription(
            "flow.not_found", .answer, means: "The server has no such flow, or the flow cannot be started by requests.",
            when: "The name is not under flows: in the settings file, or the flow has no http: entry. Status 404; 401 without Manage.",
            fix: "pushhost flows lists the flows and how each is started."),
        ErrorDescription(
            "flow.broken", .answer, means: "The script of a flow fails before it declares its arguments.",
            when: "The server reads the declaration to check arguments, and the script fails before push.args. Status 500.",
            fix: "pushhost check FILE shows the error."),
    ]

    static let schedules: [ErrorDescription] = [
        ErrorDescription(
            "schedule.not_found", .answer, means: "There is no schedule with this name.",
            when: "The name is mistyped, or the schedule was removed. Status 404.", fix: "pushhost schedule list shows all schedules."),
        ErrorDescription(
            "schedule.exists", .answer, means: "A schedule with this name already exists.",
            when: "A schedule is added under the name of another one. Status 409.",
            fix: "Choose another name, or remove the other schedule first."),
        ErrorDescription(
            "schedule.name", .answer, means: "The name of the schedule is invalid.",
            when: "The name is empty, longer than 60 characters, or has other characters than those below. Status 400.",
            fix: "Use up to 60 letters, digits, - and _, beginning with a letter or digit."),
        ErrorDescription(
            "schedule.secret", .answer, means: "A schedule cannot have secret arguments.",
            when: "It has an argument that the flow's script declares secret, and schedules are stored on disk. Status 400.",
            fix: "Let the script read the value with push.secret, or set it under args: in the settings of the flow."),
        ErrorDescription(
            "schedule.configured", .answer, means: "The schedule is defined in the settings file.",
            when: "It cannot be removed by a command. Status 409.", fix: "Remove it from the settings file, or pause it."),
    ]

    static let invalidArguments = ErrorDescription(
        "args.invalid", .failure, .answer, means: "The arguments for a flow are invalid.",
        when: "A request, schedule or setting passes arguments that push.args of the flow does not declare, that are invalid, or that lack "
            + "required ones. The message lists every problem. Status 400; the flow did not run.",
        fix: "pushhost flows NAME shows the arguments of the flow.")
}
