import PushModel

/// The properties of a run without state, queue and end times, and report, which have columns of their own.
extension RunRecord {
    var storedContent: JSON {
        var object: JSONObject = [
            "script": .string(script), "trigger": trigger.json, "arguments": .object(arguments), "guarantee": .string(guarantee.rawValue),
            "attempts": .integer(Int64(attempts)),
        ]
        if let version { object.append("version", .string(version)) }
        if !withheld.isEmpty { object.append("withheld", .array(withheld.map(JSON.string))) }
        if let startedAt { object.append("started", .integer(startedAt.milliseconds)) }
        if !origin.isEmpty { object.append("origin", .array(origin.map(JSON.string))) }
        return .object(object)
    }

    init(
        stored json: JSON, number: Int64, flow: String, key: String?, state: State, queuedAt: Timestamp, endedAt: Timestamp?,
        report: RunReport
    ) throws {
        guard let trigger = RunTrigger(json: try json.required("trigger")) else {
            throw UnreadableValue(reason: "its trigger is invalid")
        }
        self.init(
            number: number, flow: flow, script: try json.required("script").storedText(), version: try json["version"]?.storedText(),
            trigger: trigger, key: key, arguments: try json.required("arguments").storedObject(),
            withheld: try json["withheld"]?.storedArray().map { try $0.storedText() } ?? [],
            guarantee: try RunGuarantee(stored: json.required("guarantee").storedText()), state: state,
            attempts: Int(try json.required("attempts").storedInteger()), queuedAt: queuedAt,
            startedAt: try json["started"].map { Timestamp(milliseconds: try $0.storedInteger()) }, endedAt: endedAt, report: report,
            origin: try json["origin"]?.storedArray().map { try $0.storedText() } ?? [])
    }
}

extension RunReport {
    /// Nil for an empty report.
    var storedJSON: JSON? {
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

    init(stored json: JSON) throws {
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

/// The rule of a schedule without its name.
extension ScheduleRule {
    var storedContent: JSON {
        [
            "flow": .string(flow), "cron": .string(cron.description), "zone": .string(timeZone), "missed": .string(missed.rawValue),
            "arguments": .object(arguments),
        ]
    }

    init(stored json: JSON, name: String) throws {
        self.init(
            name: name, flow: try json.required("flow").storedText(), cron: try CronSchedule(json.required("cron").storedText()),
            timeZone: try json.required("zone").storedText(), missed: try MissedPolicy(stored: json.required("missed").storedText()),
            arguments: try json.required("arguments").storedObject())
    }
}

/// The details and the origin of an event.
extension HubEvent {
    var storedContent: JSON {
        var object: JSONObject = ["facts": .object(facts)]
        if !origin.isEmpty { object.append("origin", .array(origin.map(JSON.string))) }
        return .object(object)
    }

    init(stored json: JSON, number: Int64, hub: String, kind: Kind, time: Timestamp) throws {
        self.init(
            number: number, hub: hub, kind: kind, time: time,
            origin: try json["origin"]?.storedArray().map { try $0.storedText() } ?? [], facts: try json.required("facts").storedObject())
    }
}
