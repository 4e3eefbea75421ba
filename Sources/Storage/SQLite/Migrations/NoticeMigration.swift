import GRDB
import PushModel

/// Converts notices and limits that older versions stored as English sentences into values. The sentences must never change.
///
/// A notice that matches none of these sentences stays free text.
enum NoticeMigration {
    static func run(in database: Database) throws {
        try rewrite("notification", key: "key", "remarks", "WHERE remarks LIKE '%\"notices\"%'", in: database) { remarks in
            try remarks.replacing("notices") { .array(try $0.storedArray().map { try notice($0.storedText()).storedJSON }) }
        }
        for (table, key) in [("notification", "key"), ("approval", "number")] {
            try rewrite(table, key: key, "request", "WHERE request LIKE '%\"leave\"%'", in: database) { request in
                try request.replacing("leave", with: "approvedReach") { leave in
                    let text = try leave.required("words").storedText()
                    guard let approved = approvedReach(Substring(text)) else { throw UnreadableValue(reason: "an unknown limit") }
                    return approved.storedJSON
                }
            }
        }
        try rewrite("approval", key: "number", "content", "WHERE content LIKE '%\"ceiling\"%'", in: database) { approval in
            try approval.replacing("ceiling") { ceiling in
                let values = try ceiling.storedArray()
                return .array(values.last?.string == "the server" ? Array(values.dropLast()) : values)
            }
        }
    }

    /// Leaves unreadable rows unchanged; they are reported when they are read.
    private static func rewrite(
        _ table: String, key: String, _ column: String, _ condition: String, in database: Database, _ change: (JSON) throws -> JSON
    ) throws {
        var changed: [(Int64, String)] = []
        try database.each("SELECT \(key), \(column) FROM \(table) \(condition)") { row in
            guard let json = try? row.json(1), let new = try? change(json), new != json else { return }
            changed.append((row.integer(0), new.text()))
        }
        for (number, text) in changed {
            try database.run("UPDATE \(table) SET \(column) = ? WHERE \(key) = ?", text, number)
        }
    }

    // MARK: - Sentences of older versions

    private static func notice(_ text: String) -> Notice {
        deferral(text) ?? excess(text) ?? lostPlan(text) ?? .text(text)
    }

    /// `2 devices wait until 2026-01-11T09:00:00.000Z: quiet: asleep`, `5 devices wait until later moments`
    private static func deferral(_ text: String) -> Notice? {
        let digits = text.prefix { $0.isWholeNumber }
        guard let devices = Int(digits), let rest = text.dropFirst(digits.count).after([" device waits until ", " devices wait until "])
        else {
            return nil
        }
        if rest == "later moments" { return .deferred(devices: devices, until: nil, reason: "") }
        guard let end = rest.firstRange(of: ": "), let time = Timestamp(iso8601: String(rest[..<end.lowerBound])) else { return nil }
        return .deferred(devices: devices, until: time, reason: String(rest[end.upperBound...]))
    }

    /// `at its moment it would have reached 12 devices, more than the 10 that key:ops may reach without leave: nobody got it`
    private static func excess(_ text: String) -> Notice? {
        guard let rest = text.after(["at its moment it would have reached "]), rest.hasSuffix(": nobody got it"),
            let middle = rest.firstRange(of: ", more than ")
        else { return nil }
        let words = rest[..<middle.lowerBound]
        let reach = number(words.prefix { $0 != " " })
        guard reach != nil || words == "an unknown number of devices",
            let approved = approvedReach(rest[middle.upperBound...].dropLast(": nobody got it".count))
        else { return nil }
        return .exceededApproval(reach: reach, approved)
    }

    /// `the plan p-0001 is lost: nobody gets it`
    private static func lostPlan(_ text: String) -> Notice? {
        guard let rest = text.after(["the plan "]), rest.hasSuffix(" is lost: nobody gets it") else { return nil }
        return .planLost(plan: String(rest.dropLast(" is lost: nobody gets it".count)))
    }

    /// `the 1,000 that key:ops may reach without leave`, `the 1,000 that anybody may reach without leave`, `the 17 that a-1 allows`
    private static func approvedReach(_ text: Substring) -> ApprovedReach? {
        guard let rest = text.after(["the "]), let middle = rest.firstRange(of: " that "), let devices = number(rest[..<middle.lowerBound])
        else { return nil }
        let basis = rest[middle.upperBound...]
        if basis.hasSuffix(" allows") { return ApprovedReach(devices: devices, basis: .approval(String(basis.dropLast(" allows".count)))) }
        guard basis.hasSuffix(" may reach without leave") else { return nil }
        let owner = String(basis.dropLast(" may reach without leave".count))
        if owner == "anybody" { return ApprovedReach(devices: devices, basis: .ceiling(of: nil)) }
        return Principal(owner).map { ApprovedReach(devices: devices, basis: .ceiling(of: $0)) }
    }

    /// `12,430`
    private static func number(_ text: Substring) -> Int? { Int(text.replacing(",", with: "")) }
}

extension StringProtocol {
    /// The text after the first of these prefixes that it has.
    fileprivate func after(_ starts: [String]) -> Substring? {
        starts.first(where: hasPrefix).map { Substring(dropFirst($0.count)) }
    }
}

extension JSON {
    /// The object with a changed value for a key and, if given, another name for the key.
    fileprivate func replacing(_ key: String, with name: String? = nil, _ change: (JSON) throws -> JSON) throws -> JSON {
        var object = JSONObject()
        for (member, value) in try storedObject().members {
            if member == key { object.append(name ?? key, try change(value)) } else { object.append(member, value) }
        }
        return .object(object)
    }
}
