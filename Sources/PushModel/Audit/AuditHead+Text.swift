extension AuditHead {
    /// The chain head as `SEQUENCE:HASH`, for recording outside the server.
    package var text: String { "\(sequence):\(hash.hexadecimal)" }

    /// Reads `SEQUENCE:HASH`. Throws `audit.noted` (400) for any other text.
    package init(recorded text: String) throws(PushError) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let sequence = Int64(parts[0]), sequence >= 0, parts[0].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let hash = [UInt8](hexadecimal: parts[1]), hash.count == AuditHead.start.hash.count
        else {
            throw PushError(
                "audit.noted", "invalid audit log head \"\(text.prefix(100))\"",
                hint: "write SEQUENCE:HASH as printed by pushhost audit verify: a number, a colon, 64 hexadecimal digits", status: 400)
        }
        self.init(sequence: sequence, hash: hash)
    }
}

extension AuditBreak {
    /// A sentence that explains the break.
    package var meaning: String {
        switch reason {
        case .missing: "entry \(sequence) is missing: it was removed, or all entries from it on were"
        case .changed: "entry \(sequence) was modified: it, its hash or the previous entry was changed after it was written"
        case .unreadable: "entry \(sequence) cannot be read: it was overwritten or damaged"
        case .added: "entry \(sequence) was never appended by the server: it was inserted into the database"
        case .endless: "the stored head of the log is missing: it was removed, possibly with entry \(sequence) and later ones"
        case .replaced: "entry \(sequence) has a different hash than recorded: the log was rewritten from this entry or an earlier one"
        }
    }
}

// MARK: - Exported entries

extension AuditEntry {
    /// A line of an exported audit log: the hashed content, its hash and the previous hash, both in hexadecimal digits.
    package func exported(after previous: [UInt8]) -> JSON {
        ["content": contentJSON, "hash": .string(hash.hexadecimal), "previous": .string(previous.hexadecimal)]
    }

    /// Reads an exported line: the entry and the previous hash that the line states. Nil for an invalid line.
    package static func exported(_ json: JSON) -> (entry: AuditEntry, previous: [UInt8])? {
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
        return (AuditEntry(sequence: sequence, record: record, hash: hash), previous)
    }
}

extension [UInt8] {
    /// Hexadecimal digits in lower case.
    package var hexadecimal: String { reduce(into: "") { $0 += ($1 < 16 ? "0" : "") + String($1, radix: 16) } }

    /// Reads pairs of hexadecimal digits; nil for any other text.
    package init?(hexadecimal text: Substring) {
        let digits = Array<UInt8>(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        self = []
        for place in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[place].hexadecimalValue, let low = digits[place + 1].hexadecimalValue else { return nil }
            append(high << 4 | low)
        }
    }
}

extension UInt8 {
    fileprivate var hexadecimalValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x37
        case 0x61...0x66: self - 0x57
        default: nil
        }
    }
}
