/// A line of an exported audit log: an entry, and the hash of the previous one that the line states.
package struct ExportedAuditEntry: Sendable {
    package let entry: AuditEntry
    package let previous: [UInt8]

    package init(entry: AuditEntry, previous: [UInt8]) { (self.entry, self.previous) = (entry, previous) }

    /// The hashed content, its hash and the previous hash, both in hexadecimal digits.
    package var json: JSON {
        ["content": entry.contentJSON, "hash": .string(entry.hash.hexadecimal), "previous": .string(previous.hexadecimal)]
    }

    /// Reads a line. Nil for an invalid one.
    package init?(_ json: JSON) {
        guard let content = json["content"]?.array, content.count == 7, case .integer(let sequence) = content[0],
            case .integer(let time) = content[1], let actor = content[2].string, let action = content[3].string,
            let subject = content[4].string, let outcome = content[5].string.flatMap({ AuditRecord.Outcome(rawValue: $0) }),
            let pairs = content[6].array, let hash = json["hash"]?.string.flatMap({ [UInt8](hexadecimal: $0[...]) }),
            let previous = json["previous"]?.string.flatMap({ [UInt8](hexadecimal: $0[...]) })
        else { return nil }
        var details: [String: String] = [:]
        for pair in pairs {
            guard let pair = pair.array, pair.count == 2, let name = pair[0].string, let value = pair[1].string else { return nil }
            details[name] = value
        }
        let record = AuditRecord(
            time: Timestamp(milliseconds: time), actor: actor, action: action, subject: subject, details: details, outcome: outcome)
        self.init(entry: AuditEntry(sequence: sequence, record: record, hash: hash), previous: previous)
    }
}
