import PushModel

/// Sends awaiting approval, in a database.
struct PostgreSQLApprovalStore: ApprovalStore {
    let database: PostgreSQLDatabase

    func add(_ approval: Approval, most: Int, each: Int) async throws(PushError) -> ApprovalAddition {
        try await database.write { database in
            let known = try database.first(
                """
                SELECT \(ApprovalRow.columns) FROM approval WHERE hub = $1 AND requester = $2 AND state = 'pending' AND expires_at > $3
                    AND (fingerprint = $4 OR idempotency_key = $5)
                ORDER BY number DESC LIMIT 1
                """, approval.hub.number, approval.requester.description, approval.origin.createdAt.milliseconds,
                approval.keys.fingerprint, approval.keys.idempotencyKey
            ) { try ApprovalRow($0).approval }
            if let known { return .pending(known) }
            let waiting = try database.first(
                """
                SELECT count(*), count(CASE WHEN requester = $1 THEN 1 END) FROM approval WHERE state = 'pending' AND expires_at > $2
                """, approval.requester.description, approval.origin.createdAt.milliseconds
            ) { (all: $0.integer(0), own: $0.integer(1)) }
            if let waiting {
                guard waiting.all < Int64(most) else { return .full }
                guard waiting.own < Int64(each) else { return .fullForRequester }
            }
            var stored = approval
            stored.number = try database.next("approval").lowerBound
            try database.run(
                """
                INSERT INTO approval (number, hub, state, requester, fingerprint, idempotency_key, expires_at, content, request)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
                """, stored.number, stored.hub.number, stored.state.rawValue, stored.requester.description, stored.keys.fingerprint,
                stored.keys.idempotencyKey, stored.expiresAt.milliseconds, ApprovalRow(stored).content.text(),
                ApprovalRow(stored).request?.text())
            return .pending(stored)
        }
    }

    func approval(_ number: Int64) async throws(PushError) -> Approval? {
        try await database.read { database in
            try database.first("SELECT \(ApprovalRow.columns) FROM approval WHERE number = $1", number) { try ApprovalRow($0).approval }
        }
    }

    func approval(under key: String, by requester: Principal, atHub hub: Int64) async throws(PushError) -> Approval? {
        try await database.read { database in
            try database.first(
                """
                SELECT \(ApprovalRow.columns) FROM approval WHERE hub = $1 AND requester = $2 AND idempotency_key = $3
                ORDER BY number DESC LIMIT 1
                """, hub, requester.description, key
            ) { try ApprovalRow($0).approval }
        }
    }

    func approvals(before number: Int64?, limit: Int, state: Approval.State?) async throws(PushError) -> [Approval] {
        try await database.read { database in
            try database.all(
                """
                SELECT \(ApprovalRow.columns) FROM approval WHERE ($1 IS NULL OR state = $1) AND number < $2
                ORDER BY number DESC LIMIT $3
                """, state?.rawValue, number ?? .max, limit
            ) { try ApprovalRow($0).approval }
        }
    }

    func replace(_ approval: Approval, from state: Approval.State) async throws(PushError) -> Bool {
        try await database.write { database in
            try database.run(
                "UPDATE approval SET state = $1, content = $2, request = $3 WHERE number = $4 AND state = $5", approval.state.rawValue,
                ApprovalRow(approval).content.text(), ApprovalRow(approval).request?.text(), approval.number, state.rawValue) > 0
        }
    }
}
