/// A plan as JSON, for the JSON API and for storage.
package struct PlanReportDocument: Sendable {
    package let json: JSON

    /// - Parameter json: JSON that may be the document of a plan.
    package init(json: JSON) { self.json = json }

    package init(_ report: PlanReport) {
        var members = JSONObject()
        func add(_ name: String, _ value: JSON?) { if let value { members.append(name, value) } }
        add("planId", report.id.map { .string($0) })
        add("plannedAt", .string(report.plannedAt.description))
        add("expiresAt", report.expiresAt.map { .string($0.description) })
        add("plannedBy", report.plannedBy.map { .string($0) })
        add("audience", report.audience.document)
        add("content", report.content?.document)
        add("matched", .counting(report.matched))
        add("total", .counting(report.total))
        add("duplicates", .counting(report.duplicates))
        add("refused", .counting(report.refused))
        add(
            "platforms",
            .object(JSONObject(report.platforms.sorted { $0.key < $1.key }.map { ($0.key.shortName, JSON.counting($0.value)) })))
        add("tags", .array(report.tags.map(\.document)))
        add("furtherTags", .counting(report.furtherTags))
        add("locales", .array(report.locales.map(\.document)))
        add("templates", .array(report.templates.map(\.document)))
        add("furtherTemplates", .counting(report.furtherTemplates))
        add("groups", .array(report.groups.map(\.document)))
        add("furtherGroups", .counting(report.furtherGroups))
        add("nearMisses", report.nearMisses.isEmpty ? nil : .array(report.nearMisses.map { .string($0) }))
        add("failedTerms", report.failedTerms.isEmpty ? nil : .array(report.failedTerms.map(\.document)))
        add("difference", report.difference?.document)
        add("sentAs", report.sentAs.isEmpty ? nil : .array(report.sentAs.map { .string($0) }))
        add("devices", report.devices.isEmpty ? nil : .array(report.devices.map(\.document)))
        json = .object(members)
    }

    /// The plan. Nil if the JSON is not that of a plan.
    ///
    /// - Parameters:
    ///   - audience: replaces the audience of the JSON, which may be abbreviated.
    ///   - content: replaces the content of the JSON, which may be abbreviated.
    package func report(audience: Audience? = nil, content: NotificationContent? = nil) -> PlanReport? {
        guard let plannedAt = json["plannedAt"]?.string.flatMap({ Timestamp(iso8601: $0) }),
            let audience = audience ?? json["audience"].flatMap({ Audience(document: $0) })
        else { return nil }
        var report = PlanReport(
            plannedAt: plannedAt, audience: audience,
            content: content ?? json["content"].flatMap { NotificationContent(document: $0) })
        report.id = json["planId"]?.string
        report.expiresAt = json["expiresAt"]?.string.flatMap { Timestamp(iso8601: $0) }
        report.plannedBy = json["plannedBy"]?.string
        report.matched = json["matched"]?.int ?? 0
        report.total = json["total"]?.int ?? 0
        report.duplicates = json["duplicates"]?.int ?? 0
        report.refused = json["refused"]?.int ?? 0
        for (name, count) in json["platforms"]?.object?.members ?? [] {
            if let platform = Platform(shortName: name), let count = count.int { report.platforms[platform] = count }
        }
        report.tags = (json["tags"]?.array ?? []).compactMap(PlanReport.Count.init(document:))
        report.furtherTags = json["furtherTags"]?.int ?? 0
        report.locales = (json["locales"]?.array ?? []).compactMap(PlanReport.Count.init(document:))
        report.templates = (json["templates"]?.array ?? []).compactMap(PlanReport.TemplateCount.init(document:))
        report.furtherTemplates = json["furtherTemplates"]?.int ?? 0
        report.groups = (json["groups"]?.array ?? []).compactMap(PlanReport.Group.init(document:))
        report.furtherGroups = json["furtherGroups"]?.int ?? 0
        report.nearMisses = (json["nearMisses"]?.array ?? []).compactMap(\.string)
        report.failedTerms = (json["failedTerms"]?.array ?? []).compactMap(PlanReport.FailedTerm.init(document:))
        report.difference = json["difference"].flatMap(PlanReport.Difference.init(document:))
        report.sentAs = (json["sentAs"]?.array ?? []).compactMap(\.string)
        report.devices = (json["devices"]?.array ?? []).compactMap(PlannedDevice.init(document:))
        return report
    }
}

extension JSON {
    fileprivate static func counting(_ count: Int) -> JSON { .integer(Int64(count)) }

    fileprivate static func members(_ members: [(String, JSON?)]) -> JSON {
        .object(JSONObject(members.compactMap { name, value in value.map { (name, $0) } }))
    }
}

extension Audience {
    fileprivate var document: JSON {
        switch self {
        case .everyone: ["broadcast": "everyone"]
        case .expression(let expression): ["tagExpression": .string(expression.description)]
        case .device, .devices: ["devices": .counting(handles.count)]
        }
    }

    fileprivate init?(document json: JSON) {
        if let text = json["tagExpression"]?.string {
            guard let expression = try? TagExpression(parsing: text) else { return nil }
            self = .expression(expression)
        } else if json["broadcast"] != nil {
            self = .everyone
        } else if json["devices"] != nil {
            // The JSON contains no handles.
            self = .devices([])
        } else {
            return nil
        }
    }
}

extension NotificationContent {
    fileprivate var document: JSON {
        switch self {
        case .template(let properties):
            return ["message": .object(JSONObject(properties.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }))]
        case .native(let payloads):
            let shown = payloads.sorted { $0.key < $1.key }.map { platform, payload in
                let headers = JSONObject(payload.headers.map { ($0.name, JSON.string($0.value)) })
                return (
                    platform.shortName,
                    JSON.members([
                        ("payload", .string(String(decoding: payload.body, as: UTF8.self))),
                        ("headers", headers.isEmpty ? nil : .object(headers)),
                    ])
                )
            }
            return ["native": .object(JSONObject(shown))]
        }
    }

    fileprivate init?(document json: JSON) {
        if let message = json["message"]?.object {
            self = .template(Dictionary(message.members.map { ($0.key, $0.value.plainText) }, uniquingKeysWith: { _, last in last }))
        } else if let native = json["native"]?.object {
            var payloads: [Platform: NativePayload] = [:]
            for (name, value) in native.members {
                guard let platform = Platform(shortName: name) else { return nil }
                payloads[platform] = NativePayload(
                    body: Array((value["payload"]?.string ?? "").utf8), headers: [PushHeader](document: value["headers"]))
            }
            self = .native(payloads)
        } else {
            return nil
        }
    }
}

extension [PushHeader] {
    fileprivate init(document json: JSON?) { self = (json?.object?.members ?? []).map { PushHeader($0.key, $0.value.plainText) } }
}

extension PlanReport.Count {
    fileprivate var document: JSON { ["name": .string(name), "devices": .counting(devices)] }

    fileprivate init?(document json: JSON) {
        guard let name = json["name"]?.string, let devices = json["devices"]?.int else { return nil }
        self.init(name: name, devices: devices)
    }
}

extension PlanReport.TemplateCount {
    fileprivate var document: JSON {
        .members([
            ("platform", .string(platform.shortName)), ("kind", .string(isTemplate ? "template" : "native")),
            ("template", name.map { .string($0) }), ("devices", .counting(devices)), ("smallestBytes", smallest.map { .counting($0) }),
            ("largestBytes", largest.map { .counting($0) }), ("refused", .counting(refused)),
        ])
    }

    fileprivate init?(document json: JSON) {
        guard let platform = json["platform"]?.string.flatMap({ Platform(shortName: $0) }), let devices = json["devices"]?.int else {
            return nil
        }
        self.init(
            platform: platform, name: json["template"]?.string, isTemplate: json["kind"] == "template", devices: devices,
            smallest: json["smallestBytes"]?.int, largest: json["largestBytes"]?.int, refused: json["refused"]?.int ?? 0)
    }
}

extension PlanReport.Group {
    fileprivate var document: JSON {
        let headers = JSONObject(headers.map { ($0.name, JSON.string($0.value)) })
        return .members([
            ("platform", .string(platform.shortName)), ("kind", .string(isTemplate ? "template" : "native")),
            ("template", templateName.map { .string($0) }), ("devices", .counting(devices)), ("payload", .string(payload)),
            ("headers", headers.isEmpty ? nil : .object(headers)), ("bytes", .counting(bytes)), ("limit", .counting(limit)),
            ("tooLarge", .bool(isTooLarge)),
            ("missing", missing.isEmpty ? nil : .array(missing.map { .string($0) })), ("textless", isTextless ? .bool(true) : nil),
            ("unreplaced", texts.isEmpty ? nil : .array(texts.map { .string($0) })),
            (
                "refused",
                refusal.map {
                    [
                        "outcome": .string($0.outcome.rawValue), "reason": .string($0.reason), "explanation": .string($0.explanation),
                    ]
                }
            ),
        ])
    }

    fileprivate init?(document json: JSON) {
        guard let platform = json["platform"]?.string.flatMap({ Platform(shortName: $0) }), let devices = json["devices"]?.int,
            let bytes = json["bytes"]?.int, let limit = json["limit"]?.int
        else { return nil }
        var refusal: SendPreview.Group.Refusal?
        if let refused = json["refused"], let outcome = refused["outcome"]?.string.flatMap({ OutcomeName(rawValue: $0) }) {
            refusal = SendPreview.Group.Refusal(
                outcome: outcome, reason: refused["reason"]?.string ?? "", explanation: refused["explanation"]?.string ?? "")
        }
        self.init(
            platform: platform, templateName: json["template"]?.string, isTemplate: json["kind"] == "template", devices: devices,
            payload: json["payload"]?.string ?? "", headers: [PushHeader](document: json["headers"]), bytes: bytes, limit: limit)
        self.refusal = refusal
        missing = (json["missing"]?.array ?? []).compactMap(\.string)
        isTextless = json["textless"]?.bool ?? false
        texts = (json["unreplaced"]?.array ?? []).compactMap(\.string)
    }
}

extension PlanReport.FailedTerm {
    fileprivate var document: JSON {
        .members([("term", .string(term)), ("matches", .counting(matches)), ("without", without.map { .counting($0) })])
    }

    fileprivate init?(document json: JSON) {
        guard let term = json["term"]?.string, let matches = json["matches"]?.int else { return nil }
        self.init(term: term, matches: matches, without: json["without"]?.int)
    }
}

extension PlanReport.Difference {
    fileprivate var document: JSON {
        [
            "planId": .string(planID), "plannedAt": .string(plannedAt.description), "joined": .counting(joined), "left": .counting(left),
            "changed": .counting(changed), "firstJoined": .array(firstJoined.map(\.document)),
            "firstLeft": .array(firstLeft.map(\.document)),
        ]
    }

    fileprivate init?(document json: JSON) {
        guard let id = json["planId"]?.string, let plannedAt = json["plannedAt"]?.string.flatMap({ Timestamp(iso8601: $0) }) else {
            return nil
        }
        self.init(
            planID: id, plannedAt: plannedAt, joined: json["joined"]?.int ?? 0, left: json["left"]?.int ?? 0,
            changed: json["changed"]?.int ?? 0,
            firstJoined: (json["firstJoined"]?.array ?? []).compactMap(PlannedDevice.init(document:)),
            firstLeft: (json["firstLeft"]?.array ?? []).compactMap(PlannedDevice.init(document:)))
    }
}

extension PlannedDevice {
    package var document: JSON {
        .members([
            ("registrationId", registrationID.map { .string($0.text) }), ("installationId", installationID.map { .string($0) }),
            ("user", user.map { .string($0) }), ("platform", .string(platform.shortName)), ("handle", handle.map { .string($0) }),
            ("kind", .string(isTemplate ? "template" : "native")), ("template", templateName.map { .string($0) }),
            ("bytes", bytes.map { .counting($0) }), ("isDuplicate", .bool(isDuplicate)), ("isRefused", .bool(isRefused)),
            ("hasLeft", .bool(hasLeft)),
        ])
    }

    package init?(document json: JSON) {
        guard let platform = json["platform"]?.string.flatMap({ Platform(shortName: $0) }) else { return nil }
        self.init(registrationID: json["registrationId"]?.string.flatMap { RegistrationID($0) }, platform: platform)
        installationID = json["installationId"]?.string
        user = json["user"]?.string
        handle = json["handle"]?.string
        templateName = json["template"]?.string
        isTemplate = json["kind"] == "template"
        bytes = json["bytes"]?.int
        isDuplicate = json["isDuplicate"]?.bool ?? false
        isRefused = json["isRefused"]?.bool ?? false
        hasLeft = json["hasLeft"]?.bool ?? false
    }
}
