import HTTPTypes
import PushCore

// The audit log: who did what, and whether anybody has been at it.
extension ManagementRoute {
    static let audit: [ManagementRoute] = [
        ManagementRoute(
            .get, "/api/v1/audit", "listAudit", "Who did what, the latest first", .server, .manage,
            [
                Parameter(name: "actor", schema: .text("Who did it, such as owner, key:ops or key:hub/ops", length: 1...600)),
                Parameter(name: "action", schema: .text("What was done, such as key.create", length: 1...200)),
                Parameter(name: "since", schema: .moment("Those of that moment or later")),
                Parameter(name: "oldestFirst", schema: .boolean("Whether the order is the other way round")), .top,
                .continuation("[0-9]{1,18}"),
            ], answer: .ok("A page of entries", .page(of: entry))
        ) { call async throws(PushError) in
            let filter = AuditFilter(
                actor: call.text("actor"), action: call.text("action"),
                since: try call.text("since").map { text throws(PushError) in try Timestamp(given: text, "since") })
            let trail = try call.trail
            let place = call.text("continuation").flatMap { Int64($0) }
            let found =
                call.values["oldestFirst"]?.bool == true
                ? try await trail.entries(after: place ?? 0, limit: call.top + 1, filter)
                : try await trail.entries(before: place, limit: call.top + 1, filter)
            let shown = found.prefix(call.top)
            return call.list(
                shown.map(\.json), continuation: found.count > shown.count ? shown.last.map { String($0.sequence) } : nil)
        },
        ManagementRoute(
            .get, "/api/v1/audit/verification", "verifyAudit",
            "Whether the chain of the audit log holds from its first entry to its last, and goes through an end that was noted before",
            .server, .manage,
            [
                Parameter(
                    name: "expect", schema: .text("SEQUENCE:HASH, as an earlier answer had it", pattern: "[0-9]{1,18}:[0-9A-Fa-f]{64}"))
            ], answer: .ok("What came of it", verification)
        ) { call async throws(PushError) in
            let noted = try call.text("expect").map { text throws(PushError) in try AuditEnd(noted: text) }
            return call.answer(try await call.trail.verify(against: noted).json)
        },
    ]

    private static let entry = JSONSchema.object(
        "AuditEntry",
        [
            "sequence": .integer("Counted from 1, without gaps", 1...Int64.max), "time": .moment(), "actor": .text("Who did it"),
            "action": .text("What was done"), "subject": .text("To what"),
            "outcome": .choice(nil, AuditRecord.Outcome.allCases.map(\.rawValue)),
            "details": .map("What else there is to know", of: .text()), "hash": .text("Of the entry, in hexadecimal digits"),
        ])

    private static let verification = JSONSchema.object(
        "AuditVerification",
        [
            "whole": .boolean("Whether the chain holds"),
            "end?": .text("SEQUENCE:HASH of the last entry, to be noted elsewhere; absent where the chain is broken"),
            "entries?": .integer("How many there are"),
            "brokenAt?": .integer("The first entry where it does not hold", Int64.min...Int64.max),
            "reason?": .choice("Why", AuditBreak.Reason.allCases.map(\.rawValue)), "meaning?": .text("The same in words"),
        ])
}

extension ManagementCall {
    /// Throws `request.path` (404) where nothing is written down.
    fileprivate var trail: any AuditTrail {
        get throws(PushError) {
            guard let audit = access.audit else {
                throw PushError("request.path", "this server keeps no audit log", hint: "ask one that does", status: 404)
            }
            return audit.trail
        }
    }
}

extension AuditEntry {
    package var json: JSON {
        let details = record.details.sorted { $0.key < $1.key }.map { ($0.key, JSON.string($0.value)) }
        return [
            "sequence": .integer(sequence), "time": .moment(record.time), "actor": .string(record.actor), "action": .string(record.action),
            "subject": .string(record.subject), "outcome": .string(record.outcome.rawValue), "details": .object(JSONObject(details)),
            "hash": .string(hash.hexadecimal),
        ]
    }
}

extension AuditVerification {
    package var json: JSON {
        switch self {
        case .whole(let end): ["whole": true, "end": .string(end.text), "entries": .integer(end.sequence)]
        case .broken(let flaw):
            [
                "whole": false, "brokenAt": .integer(flaw.sequence), "reason": .string(flaw.reason.rawValue),
                "meaning": .string(flaw.meaning),
            ]
        }
    }
}
