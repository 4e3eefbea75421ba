extension AuditEnd {
    /// `SEQUENCE:HASH`, as it can be noted elsewhere.
    package var text: String { "\(sequence):\(hash.hexadecimal)" }

    /// Throws `audit.noted` (400) for a text that is none.
    package init(noted text: String) throws(PushError) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let sequence = Int64(parts[0]), sequence >= 0, parts[0].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let hash = [UInt8](hexadecimal: parts[1]), hash.count == AuditEnd.start.hash.count
        else {
            throw PushError(
                "audit.noted", "\"\(text.prefix(100))\" is no noted end of an audit log",
                hint: "write SEQUENCE:HASH as pushhost audit verify prints it: a number, a colon, 64 hexadecimal digits", status: 400)
        }
        self.init(sequence: sequence, hash: hash)
    }
}

extension AuditBreak {
    /// What it means, in a sentence.
    package var meaning: String {
        switch reason {
        case .missing: "entry \(sequence) is missing: it was taken out, or all from there on were"
        case .changed: "entry \(sequence) is not what was written: it, its hash or the one before it was changed afterwards"
        case .unreadable: "entry \(sequence) cannot be read: somebody or the disk has damaged it"
        case .added: "entry \(sequence) was never appended: somebody has put it there"
        case .endless: "the end of the log is gone: it was taken away, and maybe entry \(sequence) and what came behind it"
        case .replaced: "entry \(sequence) has another hash than was noted: the log was written anew from there or before"
        }
    }
}

extension AuditTrail {
    /// The same as `verify()`, and whether the chain goes through an end that was noted before: who can write to the database can write
    /// a whole new chain, which only this shows.
    package func verify(against noted: AuditEnd?) async throws(PushError) -> AuditVerification {
        let verification = try await verify()
        guard case .whole(let end) = verification, let noted else { return verification }
        if noted.sequence > end.sequence { return .broken(AuditBreak(sequence: end.sequence + 1, reason: .missing)) }
        if noted.sequence == end.sequence { return verification.noting(end.hash == noted.hash, noted.sequence) }
        guard noted.sequence > 0 else { return verification.noting(noted == .start, 0) }
        let found = try await entries(after: noted.sequence - 1, limit: 1, AuditFilter()).first
        return verification.noting(found?.sequence == noted.sequence && found?.hash == noted.hash, noted.sequence)
    }
}

extension AuditVerification {
    fileprivate func noting(_ isSame: Bool, _ sequence: Int64) -> AuditVerification {
        isSame ? self : .broken(AuditBreak(sequence: sequence, reason: .replaced))
    }
}

// MARK: - Exported entries

extension AuditEntry {
    /// A line of an exported trail: the content as it is hashed, its hash and the one before it, in hexadecimal digits.
    package func exported(after previous: [UInt8]) -> JSON {
        ["content": contentJSON, "hash": .string(hash.hexadecimal), "previous": .string(previous.hexadecimal)]
    }

    /// One that was exported, and the hash that it says was before it; nil for a line that is none.
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
    /// In lower case.
    package var hexadecimal: String { reduce(into: "") { $0 += ($1 < 16 ? "0" : "") + String($1, radix: 16) } }

    /// Nil for a text that is not pairs of hexadecimal digits.
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
