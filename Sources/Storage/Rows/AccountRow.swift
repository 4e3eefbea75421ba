import PushModel

/// A stored account. Its first column is the tag of its user.
enum AccountRow {
    /// The columns after the first one.
    static let columns = "username, cost, salt, digest"

    static func account(_ row: some SQLRow) throws -> Account {
        try reading("the account \(row.text(0))") {
            Account(
                user: try Tag(stored: row.text(0)), username: row.text(1),
                hash: PasswordHash(cost: Int(row.integer(2)), salt: row.bytes(3), digest: row.bytes(4)))
        }
    }
}
