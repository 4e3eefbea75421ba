import PushModel

/// A stored flow run. What has no column of its own is JSON; the report is JSON, too.
struct RunRow {
    /// The columns that `init(_:)` reads.
    static let columns = "number, flow, key, state, queued_at, ended_at, content, report"

    let run: RunRecord

    init(_ run: RunRecord) { self.run = run }

    init(_ row: some SQLRow) throws {
        let number = row.integer(0)
        run = try reading("the run \(RunRecord.id(number))") {
            let json = try row.json(6)
            guard let trigger = RunTrigger(json: try json.required("trigger")) else {
                throw UnreadableValue(reason: "its trigger is invalid")
            }
            return RunRecord(
                number: number, flow: row.text(1), script: try json.required("script").storedText(),
                version: try json["version"]?.storedText(),
                origin: RunOrigin(
                    trigger, key: row.optional(2, row.text), arguments: try json.required("arguments").storedObject(),
                    withheld: try json["withheld"]?.storedArray().map { try $0.storedText() } ?? [],
                    causes: try json["origin"]?.storedArray().map { try $0.storedText() } ?? []),
                guarantee: try RunGuarantee(stored: json.required("guarantee").storedText()),
                lifecycle: RunLifecycle(
                    state: try RunRecord.State(stored: row.text(3)), attempts: Int(try json.required("attempts").storedInteger()),
                    queuedAt: row.time(4), startedAt: try json["started"].map { Timestamp(milliseconds: try $0.storedInteger()) },
                    endedAt: row.optional(5, row.time)),
                report: row.isNull(7) ? RunReport() : try RunReport(stored: row.json(7)))
        }
    }

    var content: JSON {
        var object: JSONObject = [
            "script": .string(run.script), "trigger": run.trigger.json, "arguments": .object(run.arguments),
            "guarantee": .string(run.guarantee.rawValue), "attempts": .integer(Int64(run.lifecycle.attempts)),
        ]
        if let version = run.version { object.append("version", .string(version)) }
        if !run.withheld.isEmpty { object.append("withheld", .array(run.withheld.map(JSON.string))) }
        if let startedAt = run.lifecycle.startedAt { object.append("started", .integer(startedAt.milliseconds)) }
        if !run.origin.causes.isEmpty { object.append("origin", .array(run.origin.causes.map(JSON.string))) }
        return .object(object)
    }

    /// Nil for an empty report.
    var report: JSON? { run.report.storedJSON }
}

extension RunReport {
    /// Nil for an empty report.
    fileprivate var storedJSON: JSON? {
        guard self != RunReport() else { return nil }
        var object = JSONObject()
        if !steps.isEmpty { object.append("steps", .array(steps.map(\.storedJSON))) }
        if !log.isEmpty {
            object.append(
                "log", .array(log.map { [.integer($0.time.milliseconds), .string($0.level), .string($0.text)] }))
        }
        if omitted > 0 { object.append("omitted", .integer(Int64(omitted))) }
        if !notifications.isEmpty { object.append("notifications", .array(notifications.map(JSON.string))) }
        if let result { object.append("result", result) }
        if let failure { object.append("failure", failure.storedJSON) }
        return .object(object)
    }

    fileprivate init(stored json: JSON) throws {
        self.init()
        _ = try json.storedObject()
        for step in try json["steps"]?.storedArray() ?? [] { add(try Step(stored: step)) }
        for line in try json["log"]?.storedArray() ?? [] {
            let parts = try line.storedArray()
            guard parts.count == 3 else { throw UnreadableValue(reason: "a line of its log is invalid") }
            add(
                Line(
                    time: Timestamp(milliseconds: try parts[0].storedInteger()), level: try parts[1].storedText(),
                    text: try parts[2].storedText()))
        }
        omitted = Int(try json["omitted"]?.storedInteger() ?? 0)
        for id in try json["notifications"]?.storedArray() ?? [] { note(try id.storedText()) }
        result = json["result"]
        failure = try json["failure"].map { try Failure(stored: $0) }
    }
}

extension RunReport.Step {
    fileprivate var storedJSON: JSON {
        var object: JSONObject = [
            "name": .string(name), "depth": .integer(Int64(depth)), "status": .string(status), "began": .integer(began.milliseconds),
            "ended": .integer(ended.milliseconds),
        ]
        if let reason { object.append("reason", .string(reason)) }
        if !notifications.isEmpty { object.append("notifications", .array(notifications.map(JSON.string))) }
        return .object(object)
    }

    fileprivate init(stored json: JSON) throws {
        self.init(
            name: try json.required("name").storedText(), depth: Int(try json.required("depth").storedInteger()),
            status: try json.required("status").storedText(), began: Timestamp(milliseconds: try json.required("began").storedInteger()),
            ended: Timestamp(milliseconds: try json.required("ended").storedInteger()), reason: try json["reason"]?.storedText(),
            notifications: try json["notifications"]?.storedArray().map { try $0.storedText() } ?? [])
    }
}

extension RunReport.Failure {
    fileprivate var storedJSON: JSON {
        var object: JSONObject = ["code": .string(code), "message": .string(message)]
        if let hint { object.append("hint", .string(hint)) }
        if let location { object.append("location", .string(location)) }
        return .object(object)
    }

    fileprivate init(stored json: JSON) throws {
        self.init(
            code: try json.required("code").storedText(), message: try json.required("message").storedText(),
            hint: try json["hint"]?.storedText(), location: try json["location"]?.storedText())
    }
}
