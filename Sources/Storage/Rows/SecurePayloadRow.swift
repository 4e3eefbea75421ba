import PushModel

/// A stored secure payload.
enum SecurePayloadRow {
    static let columns = "id, sender, addressee, expiration, maximum_reads, sealed, granted_reads, ending, reads, key_mark"

    /// - Parameter row: has the columns `columns`.
    static func payload(_ row: some SQLRow) throws -> SealedPayload {
        try reading("the secure payload \(row.text(0))") {
            SealedPayload(
                id: row.text(0), sender: try Tag(stored: row.text(1)), recipient: try Tag(stored: row.text(2)), expiration: row.time(3),
                maximumReads: row.optional(4) { Int(row.integer($0)) }, sealed: row.optional(5, row.bytes), keyMark: row.bytes(9),
                history: SealedPayload.History(
                    grantedReads: Int(row.integer(6)), ending: try row.optional(7) { try SealedPayload.Ending(stored: row.text($0)) },
                    reads: try row.json(8).storedArray().map(SecureRead.init(stored:))))
        }
    }

    static func reads(of payload: SealedPayload) -> String {
        let reads = payload.reads.map { read -> JSON in
            [.integer(read.time.milliseconds), .string(read.username), .string(read.result.rawValue)]
        }
        return JSON.array(reads).text()
    }
}

extension SecureRead {
    fileprivate init(stored json: JSON) throws {
        let parts = try json.storedArray()
        guard parts.count == 3 else { throw UnreadableValue(reason: "a read has \(parts.count) parts, not 3") }
        self.init(
            time: Timestamp(milliseconds: try parts[0].storedInteger()), username: try parts[1].storedText(),
            result: try SecureRead.Result(stored: parts[2].storedText()))
    }
}
