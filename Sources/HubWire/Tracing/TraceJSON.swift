package import PushModel

/// Reads and writes traces in the format of the JSON API.
package enum TraceJSON {
    package static func json(_ answer: TraceAnswer) -> JSON {
        var members: [(String, JSON)] = [("notificationId", .string(answer.notification)), ("state", .string(answer.state.rawValue))]
        if let tags = answer.tags { members.append(("tagExpression", .string(tags))) }
        members.append(("enqueuedAt", .string(answer.time.description)))
        members.append(("traces", .array(answer.traces.map(\.json))))
        if answer.furtherDevices > 0 { members.append(("furtherDevices", .integer(Int64(answer.furtherDevices)))) }
        members.append(("causes", .array(answer.counts.map(\.json))))
        if !answer.nearMisses.isEmpty { members.append(("nearMisses", .array(answer.nearMisses.map { .string($0) }))) }
        return .object(JSONObject(members))
    }

    /// Nil if the JSON is not a trace.
    package static func answer(_ json: JSON) -> TraceAnswer? {
        guard let notification = json["notificationId"]?.string,
            let state = json["state"]?.string.flatMap({ NotificationOutcome.State(rawValue: $0) }),
            let time = json["enqueuedAt"]?.string.flatMap({ Timestamp(iso8601: $0) }),
            let traces = json["traces"]?.array?.map(DeliveryTrace.init), !traces.contains(nil),
            let counts = json["causes"]?.array?.map(TraceAnswer.Count.init), !counts.contains(nil)
        else { return nil }
        return TraceAnswer(
            notification: notification, state: state, tags: json["tagExpression"]?.string, time: time, traces: traces.compactMap { $0 },
            furtherDevices: json["furtherDevices"]?.int ?? 0, counts: counts.compactMap { $0 },
            nearMisses: json["nearMisses"]?.array?.compactMap(\.string) ?? [])
    }
}

extension TraceAnswer.Count {
    fileprivate var json: JSON {
        [
            "cause": .string(cause.rawValue), "result": .string(cause.result.rawValue), "devices": .integer(Int64(devices)),
            "example": .string(example), "sentence": .string(sentence), "advice": .string(cause.advice),
        ]
    }

    fileprivate init?(_ json: JSON) {
        guard let cause = json["cause"]?.string.flatMap({ TraceCause(rawValue: $0) }), let devices = json["devices"]?.int,
            let example = json["example"]?.string, let sentence = json["sentence"]?.string
        else { return nil }
        self.init(cause: cause, devices: devices, example: example, sentence: sentence)
    }
}

extension DeliveryTrace {
    fileprivate var json: JSON {
        var members: [(String, JSON)] = [("device", .string(device))]
        if let platform { members.append(("platform", .string(platform.shortName))) }
        members += [
            ("result", .string(cause.result.rawValue)), ("cause", .string(cause.rawValue)), ("sentence", .string(sentence)),
            ("advice", .string(cause.advice)), ("lines", .array(lines.map(\.json))),
        ]
        return .object(JSONObject(members))
    }

    fileprivate init?(_ json: JSON) {
        guard let device = json["device"]?.string, let cause = json["cause"]?.string.flatMap({ TraceCause(rawValue: $0) }),
            let sentence = json["sentence"]?.string, let lines = json["lines"]?.array?.map(Line.init), !lines.contains(nil)
        else { return nil }
        self.init(
            device: device, platform: json["platform"]?.string.flatMap { Platform(shortName: $0) }, lines: lines.compactMap { $0 },
            cause: cause, sentence: sentence)
    }
}

extension DeliveryTrace.Line {
    fileprivate var json: JSON {
        var members: [(String, JSON)] = []
        if let time { members.append(("time", .string(time.description))) }
        members += [("step", .string(step.rawValue)), ("text", .string(text))]
        if let isGood { members.append(("isGood", .bool(isGood))) }
        members.append(("isCause", .bool(isCause)))
        return .object(JSONObject(members))
    }

    fileprivate init?(_ json: JSON) {
        guard let step = json["step"]?.string.flatMap({ DeliveryTrace.Step(rawValue: $0) }), let text = json["text"]?.string else {
            return nil
        }
        self.init(
            time: json["time"]?.string.flatMap { Timestamp(iso8601: $0) }, step: step, text: text, isGood: json["isGood"]?.bool,
            isCause: json["isCause"]?.bool ?? false)
    }
}
