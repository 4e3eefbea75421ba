package import PushModel

/// Accounts and sessions in memory.
package actor MemoryAccountStore: AccountStore, SessionStore {
    private var accounts: [Tag: Account] = [:]
    private var sessions: [[UInt8]: (session: StoredSession, user: Tag)] = [:]
    /// Digests of each user's sessions.
    private var digests: [Tag: Set<[UInt8]>] = [:]

    /// The payloads to remove together with their users.
    private let securePayloads: MemorySecurePayloadStore?

    package init(securePayloads: MemorySecurePayloadStore? = nil) {
        self.securePayloads = securePayloads
    }

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

    package func remove(_ user: Tag) async -> Bool {
        guard accounts.removeValue(forKey: user) != nil else { return false }
        endSessions(of: user)
        await securePayloads?.removeAll(of: user)
        return true
    }

    private func endSessions(of user: Tag) {
        for digest in digests.removeValue(forKey: user) ?? [] { sessions[digest] = nil }
    }

    package func accounts(after user: Tag?, limit: Int) -> [Account] {
        let behind = accounts.values.filter { account in user.map { $0.precedes(account.user) } ?? true }
        return Array(behind.sorted { $0.user.precedes($1.user) }.prefix(limit))
    }

    package func count(cheaperThan cost: ScryptCost) -> Int { accounts.values.count { $0.hash.cost < cost.n } }

    package func open(_ session: StoredSession, of user: Tag, with hash: PasswordHash?) -> Bool {
        guard accounts[user]?.hash == hash else { return false }
        sessions[session.digest] = (session, user)
        digests[user, default: []].insert(session.digest)
        return true
    }

    package func session(_ digest: [UInt8]) -> StoredSession? { sessions[digest]?.session }

    package func close(_ digest: [UInt8]) {
        guard let user = sessions.removeValue(forKey: digest)?.user else { return }
        digests[user]?.remove(digest)
        if digests[user]?.isEmpty == true { digests[user] = nil }
    }

    package func removeExpired(now: Timestamp, limit: Int) -> Int {
        let expired = sessions.filter { $0.value.session.expiration <= now }.keys.prefix(limit)
        for digest in expired { close(digest) }
        return expired.count
    }
}

extension Tag {
    /// Orders by text, ignoring case.
    func precedes(_ other: Tag) -> Bool { text.lowercased() < other.text.lowercased() }
}
