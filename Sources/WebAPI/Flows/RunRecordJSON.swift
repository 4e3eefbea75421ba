import PushModel

/// A run of a flow as JSON.
struct RunRecordJSON {
    let run: RunRecord

    init(_ run: RunRecord) { self.run = run }

    /// The summary of a run, for lists and for the client that started it.
    var summary: JSON {
        .members([
            "runId": .string(run.id), "flow": .string(run.flow), "state": .string(run.state.rawValue), "script": .string(run.script),
            "version": run.version.map { .string($0) }, "trigger": run.trigger.json, "guarantee": .string(run.guarantee.rawValue),
            "attempts": .count(run.lifecycle.attempts), "queuedAt": .timestamp(run.lifecycle.queuedAt),
            "startedAt": run.lifecycle.startedAt.map { .timestamp($0) }, "endedAt": run.lifecycle.endedAt.map { .timestamp($0) },
            "result": run.report.result, "failure": run.report.failure?.json,
        ])
    }

    /// All details of a run.
    var details: JSON {
        var object = summary.object ?? JSONObject()
        object["arguments"] = .object(run.arguments)
        if !run.withheld.isEmpty { object["secretArguments"] = .array(run.withheld.map { .string($0) }) }
        object["steps"] = .array(run.report.steps.map(\.json))
        object["log"] = .array(run.report.log.map(\.json))
        if run.report.omitted > 0 { object["omitted"] = .count(run.report.omitted) }
        object["notifications"] = .array(run.report.notifications.map { .string($0) })
        return .object(object)
    }

    private static let members: KeyValuePairs<String, JSONSchema> = [
        "runId": .text(), "flow": .text(), "state": .choice(nil, RunRecord.State.allCases.map(\.rawValue)),
        "script": .text("The path of the script"), "version?": .text("The first digits of the script's hash; absent before it was read"),
        "trigger": triggerSchema, "guarantee": .choice("What happens if the server crashes", RunGuarantee.allCases.map(\.rawValue)),
        "attempts": .integer("Number of times it was started"), "queuedAt": .timestamp(), "startedAt?": .timestamp(),
        "endedAt?": .timestamp(),
        "result?": .any("The script's result"), "failure?": failure,
    ]

    static let schema = JSONSchema.object("Run", members)

    static let detailsSchema = JSONSchema(
        kind: .object(
            schema.members
                + [
                    JSONSchema.Member(
                        name: "arguments", schema: .map("Its arguments, without secret ones", of: .any("Any JSON")),
                        isOptional: false),
                    JSONSchema.Member(
                        name: "secretArguments", schema: .list("Names of secret arguments, not stored", of: .text()), isOptional: true),
                    JSONSchema.Member(name: "steps", schema: .list(of: step), isOptional: false),
                    JSONSchema.Member(name: "log", schema: .list(of: line), isOptional: false),
                    JSONSchema.Member(
                        name: "omitted", schema: .integer("Number of steps and lines omitted beyond the limit"), isOptional: true),
                    JSONSchema.Member(
                        name: "notifications", schema: .list("The ids of all notifications that it sent", of: .text()), isOptional: false),
                ], alternatives: []), name: "RunDetails")

    private static let triggerSchema = JSONSchema.object(
        "RunTrigger",
        [
            "kind": .choice(nil, RunTrigger.Kind.allCases.map(\.rawValue)), "by?": .text("Who started it"),
            "user?": .text("The user whose request to the app backend it handles"), "schedule?": .text("The schedule's name"),
            "moment?": .timestamp("The schedule's due time"), "event?": .choice(nil, HubEvent.Kind.allCases.map(\.rawValue)),
            "hub?": .text("The hub of the event"), "run?": .text("The run that it repeats"),
        ])

    private static let failure = JSONSchema.object(
        "RunFailure",
        ["code": .text(), "message": .text(), "hint?": .text(), "location?": .text("The line of the script")])

    private static let step = JSONSchema.object(
        "RunStep",
        [
            "name": .text(), "depth": .integer("Number of enclosing steps"), "status": .choice(nil, ["passed", "failed", "skipped"]),
            "began": .timestamp(), "ended": .timestamp(), "reason?": .text("Reason for skipping it"),
            "notifications": .list("The ids of notifications that it sent", of: .text()),
        ])

    private static let line = JSONSchema.object("RunLine", ["time": .timestamp(), "level": .text(), "text": .text()])
}

extension JSONSchema {
    /// The members of an object schema.
    fileprivate var members: [Member] { if case .object(let members, _) = kind { members } else { [] } }
}

extension RunReport.Step {
    fileprivate var json: JSON {
        .members([
            "name": .string(name), "depth": .count(depth), "status": .string(status), "began": .timestamp(began),
            "ended": .timestamp(ended),
            "reason": reason.map { .string($0) }, "notifications": .array(notifications.map { .string($0) }),
        ])
    }
}

extension RunReport.Line {
    fileprivate var json: JSON { ["time": .timestamp(time), "level": .string(level), "text": .string(text)] }
}

extension RunReport.Failure {
    fileprivate var json: JSON {
        .members([
            "code": .string(code), "message": .string(message), "hint": hint.map { .string($0) },
            "location": location.map { .string($0) },
        ])
    }
}
