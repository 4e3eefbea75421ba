import PushModel

/// The parts of a notification's outcome that are stored as JSON: the counts of its devices by platform and outcome, near misses, and
/// remarks:
///
/// `{"notices": [{"kind": "plan_lost", …}, "…"], "pruned": {"apns": {"Unregistered": 3}}}`
struct OutcomeColumns: Sendable {
    /// Nil if nothing has been counted.
    let counts: String?
    /// Nil if there are none.
    let nearMisses: String?
    /// Nil if there are none.
    let remarks: String?

    init(_ outcome: NotificationOutcome) {
        counts = Self.counts(of: outcome)?.text()
        nearMisses = outcome.nearMisses.isEmpty ? nil : JSON.array(outcome.nearMisses.map { .string($0) }).text()
        remarks = Self.remarks(of: outcome)?.text()
    }

    private static func counts(of outcome: NotificationOutcome) -> JSON? {
        guard !outcome.counts.isEmpty else { return nil }
        return .object(
            JSONObject(
                outcome.counts.map { platform, names in
                    (platform.rawValue, .object(JSONObject(names.map { ($0.key.rawValue, .integer(Int64($0.value))) })))
                }))
    }

    private static func remarks(of outcome: NotificationOutcome) -> JSON? {
        guard !outcome.notices.isEmpty || !outcome.pruned.isEmpty else { return nil }
        var object = JSONObject()
        if !outcome.notices.isEmpty { object.append("notices", .array(outcome.notices.map(\.storedJSON))) }
        if !outcome.pruned.isEmpty {
            let platforms = outcome.pruned.map { platform, reasons in
                (platform.rawValue, JSON.object(JSONObject(reasons.map { ($0.key, .integer(Int64($0.value))) })))
            }
            object.append("pruned", .object(JSONObject(platforms)))
        }
        return .object(object)
    }

    /// Adds the columns of a row to an outcome.
    ///
    /// - Parameters:
    ///   - counts: the number of the column; likewise the others.
    static func read(counts: Int32, nearMisses: Int32, remarks: Int32, of row: some SQLRow, into outcome: inout NotificationOutcome) throws
    {
        if !row.isNull(counts) { try add(counts: row.json(counts), to: &outcome) }
        if !row.isNull(nearMisses) { outcome.nearMisses = try row.json(nearMisses).storedArray().map { try $0.storedText() } }
        if !row.isNull(remarks) { try add(remarks: row.json(remarks), to: &outcome) }
    }

    private static func add(counts json: JSON, to outcome: inout NotificationOutcome) throws {
        for (platform, names) in try json.storedObject().members {
            var counted: [OutcomeName: Int] = [:]
            for (name, count) in try names.storedObject().members {
                counted[try OutcomeName(stored: name)] = Int(try count.storedInteger())
            }
            outcome.tally.counts[try Platform(stored: platform)] = counted
        }
    }

    private static func add(remarks json: JSON, to outcome: inout NotificationOutcome) throws {
        outcome.notices = try json["notices"]?.storedArray().map { try Notice(stored: $0) } ?? []
        for (platform, reasons) in try json["pruned"]?.storedObject().members ?? [] {
            var counted: [String: Int] = [:]
            for (reason, count) in try reasons.storedObject().members { counted[reason] = Int(try count.storedInteger()) }
            outcome.tally.pruned[try Platform(stored: platform)] = counted
        }
    }
}
