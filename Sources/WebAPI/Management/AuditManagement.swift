import HTTPTypes
package import PushModel

/// Routes for the audit log and its verification.
enum AuditManagement {
    static let routes: [ManagementRoute] = [
        ManagementRoute(
            .get("/api/v1/audit", "listAudit", "Audit entries, latest first"),
            .server(.manage),
            [
                .query("actor", .text("The principal, such as owner, key:ops or key:hub/ops", length: 1...600)),
                .query("action", .text("The action, such as key.create", length: 1...200)),
                .query("since", .timestamp("Entries from this time on")),
                .query("oldestFirst", .boolean("Whether to list the oldest entries first")), .top,
                .continuation("[0-9]{1,18}"),
            ], answer: .ok("A page of entries", .page(of: entry))
        ) { call async throws(PushError) in
            let filter = AuditFilter(
                actor: call.text("actor"), action: call.text("action"),
                since: try call.text("since").map { text throws(PushError) in try Timestamp(given: text, "since") })
            let trail = try call.trail
            let position = call.text("continuation").flatMap { Int64($0) }
            let found =
                call.values["oldestFirst"]?.bool == true
                ? try await trail.entries(after: position ?? 0, limit: call.top + 1, filter)
                : try await trail.entries(before: position, limit: call.top + 1, filter)
            let shown = found.prefix(call.top)
            return call.list(
                shown.map(\.json), continuation: found.count > shown.count ? shown.last.map { String($0.sequence) } : nil)
        },
        ManagementRoute(
            .get(
                "/api/v1/audit/verification", "verifyAudit",
                "Verify the hash chain of the audit log and, optionally, that it contains an earlier chain head"),
            .server(.manage),
            [
                .query("expect", .text("SEQUENCE:HASH of an earlier chain head", pattern: "[0-9]{1,18}:[0-9A-Fa-f]{64}"))
            ], answer: .ok("The result of the verification", verification)
        ) { call async throws(PushError) in
            let recorded = try call.text("expect").map { text throws(PushError) in try AuditHead(recorded: text) }
            return call.answer(try await call.trail.verify(against: recorded).json)
        },
    ]

    private static let entry = JSONSchema.object(
        "AuditEntry",
        [
            "sequence": .integer("Counted from 1, without gaps", 1...Int64.max), "time": .timestamp(), "actor": .text("The principal"),
            "action": .text("The action"), "subject": .text("The object of the action"),
            "outcome": .choice(nil, AuditRecord.Outcome.allCases.map(\.rawValue)),
            "details": .map("Further details", of: .text()), "hash": .text("The entry's hash, in hexadecimal digits"),
        ])

    private static let verification = JSONSchema.object(
        "AuditVerification",
        [
            "whole": .boolean("Whether the chain is intact"),
            "end?": .text("SEQUENCE:HASH of the last entry, to record elsewhere; absent if the chain is broken"),
            "entries?": .integer("Number of entries"),
            "brokenAt?": .integer("The first entry at which the chain is broken", Int64.min...Int64.max),
            "reason?": .choice("The reason", AuditBreak.Reason.allCases.map(\.rawValue)), "meaning?": .text("Description of the reason"),
        ])
}

extension ManagementCall {
    /// Throws `request.path` (404) if the server has no audit log.
    fileprivate var trail: any AuditTrail {
        get throws(PushError) {
            guard let audit = access.audit else {
                throw PushError("request.path", "this server has no audit log", hint: "use a server that has one", status: 404)
            }
            return audit.trail
        }
    }
}

extension AuditEntry {
    package var json: JSON {
        let details = record.details.sorted { $0.key < $1.key }.map { ($0.key, JSON.string($0.value)) }
        return [
            "sequence": .integer(sequence), "time": .timestamp(record.time), "actor": .string(record.actor),
            "action": .string(record.action),
            "subject": .string(record.subject), "outcome": .string(record.outcome.rawValue), "details": .object(JSONObject(details)),
            "hash": .string(hash.hexadecimal),
        ]
    }
}

extension AuditVerification {
    package var json: JSON {
        switch self {
        case .intact(let end): ["whole": true, "end": .string(end.text), "entries": .integer(end.sequence)]
        case .broken(let flaw):
            [
                "whole": false, "brokenAt": .integer(flaw.sequence), "reason": .string(flaw.reason.rawValue),
                "meaning": .string(flaw.meaning),
            ]
        }
    }
}
