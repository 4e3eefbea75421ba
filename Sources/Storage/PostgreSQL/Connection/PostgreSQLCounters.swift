/// Numbers that are given out one after the other. The row of a counter stays locked until the transaction ends, so numbers become
/// visible in their order and without gaps.
extension PostgreSQLConnection {
    /// The next numbers of a kind. Server-wide numbers have hub 0.
    func next(_ kind: String, hub: Int64 = 0, count: Int = 1) throws -> Range<Int64> {
        let last = try returning(
            """
            INSERT INTO counter (hub, kind, last) VALUES ($1, $2, $3)
            ON CONFLICT (hub, kind) DO UPDATE SET last = counter.last + excluded.last RETURNING last
            """, hub, kind, count
        ) { $0.integer(0) }
        let end = (last.first ?? 0) + 1
        return end - Int64(count)..<end
    }

    /// The last number of a kind that was given out; 0 if there never was one.
    func last(_ kind: String, hub: Int64 = 0) throws -> Int64 {
        try first("SELECT last FROM counter WHERE hub = $1 AND kind = $2", hub, kind) { $0.integer(0) } ?? 0
    }

    /// Raises a counter to at least this number.
    func keep(_ number: Int64, _ kind: String, hub: Int64 = 0) throws {
        try run(
            """
            INSERT INTO counter (hub, kind, last) VALUES ($1, $2, $3)
            ON CONFLICT (hub, kind) DO UPDATE SET last = greatest(counter.last, excluded.last)
            """, hub, kind, number)
    }
}
