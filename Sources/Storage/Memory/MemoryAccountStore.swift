import PushCore

/// Accounts and sessions as long as the process lives.
package actor MemoryAccountStore: AccountStore {
    private var accounts: [Tag: Account] = [:]
    private var sessions: [[UInt8]: StoredSession] = [:]

    package init() {}

    package func account(_ user: Tag) -> Account? { accounts[user] }

    package func insert(_ account: Account) -> Bool {
        guard accounts[account.user] == nil else { return false }
        accounts[account.user] = account
        endSessions(of: account.user)
        return true
    }

    package func update(_ account: Account) -> Bool {
        guard accounts[account.user] != nil else { return false }
        accounts[account.user] = account
        endSessions(of: account.user)
        return true
    }

    package func remove(_ user: Tag) -> Bool {
        endSessions(of: user)
        return accounts.removeValue(forKey: user) != nil
    }

    private func endSessions(of user: Tag) {
        sessions = sessions.filter { Tag(validating: "username:\($0.value.username)") != user }
    }

    package func accounts(after user: Tag?, limit: Int) -> [Account] {
        let behind = accounts.values.filter { account in user.map { $0.precedes(account.user) } ?? true }
        return Array(behind.sorted { $0.user.precedes($1.user) }.prefix(limit))
    }

    package func open(_ session: StoredSession, of user: Tag, with hash: PasswordHash?) -> Bool {
        guard accounts[user]?.hash == hash else { return false }
        sessions[session.digest] = session
        return true
    }

    package func session(_ digest: [UInt8]) -> StoredSession? { sessions[digest] }

    package func close(_ digest: [UInt8]) { sessions[digest] = nil }

    package func removeExpired(now: Timestamp, limit: Int) -> Int {
        let expired = sessions.values.filter { $0.expiration <= now }.prefix(limit)
        for session in expired { sessions[session.digest] = nil }
        return expired.count
    }
}

extension Tag {
    /// In the order of the texts, without regard to case.
    func precedes(_ other: Tag) -> Bool { text.lowercased() < other.text.lowercased() }
}
