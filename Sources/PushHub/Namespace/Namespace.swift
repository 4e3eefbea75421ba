package import PushModel
import Synchronization

/// The hubs of a server, and the rules that apply to all of them.
///
/// Every request looks up rules and hubs, so they are in memory. A change is stored before it becomes visible.
package actor Namespace {
    /// Creates the connectors of a hub from its credentials.
    package typealias Connecting = @Sendable (HubRecord) -> [any Connector]

    let environment: HubEnvironment
    private var store: any NamespaceStore
    private var settings: HubSettings
    private let connectors: Connecting
    private let validator: HubValidator
    private let jobTools: JobService.Tools?
    private var lastNumber: Int64
    /// The state that requests see. Only this actor writes it.
    private nonisolated let current: Mutex<State>
    /// Locks for hubs that are being created, changed or deleted, by name in lower case.
    private var locks = KeyedLock<String>()
    private var isRestoring = false

    private struct State {
        var rules: [AuthorizationRule] { didSet { revision += 1 } }
        /// By name in lower case.
        var hubs: [String: ServedHub] { didSet { revision += 1 } }
        /// Incremented by every change of a hub or rule.
        var revision = 0
        /// Names of hubs deleted since the start, in lower case.
        var deleted: Set<String> = []
        /// Whether a backup is being restored.
        var isClosed = false
    }

    /// Loads all hubs. They do nothing until ``resume()`` is called.
    /// - Parameters:
    ///   - jobTools: the dependencies of bulk jobs; nil disables jobs.
    ///   - admits: checks a hub before it is created or changed.
    package init(
        environment: HubEnvironment, store: any NamespaceStore, settings: HubSettings, jobTools: JobService.Tools? = nil,
        admits: @escaping HubValidator.Admission = { _, _ in }, connectors: @escaping Connecting
    ) async throws(PushError) {
        self.environment = environment
        self.store = store
        self.settings = settings
        self.connectors = connectors
        validator = HubValidator(admits: admits)
        self.jobTools = jobTools
        let stored = try await store.load()
        lastNumber = stored.lastNumber
        let hubs = try await Self.open(
            stored.hubs, environment: environment, store: store, settings: settings, jobTools: jobTools, connectors: connectors)
        current = Mutex(State(rules: stored.rules, hubs: hubs))
    }

    /// Creates the root rule if there are no rules, and continues in all hubs with what earlier processes accepted. Call it once.
    ///
    /// If a hub cannot continue, the others have started all the same: ``stop()`` must be called then, too.
    package func resume() async throws(PushError) {
        if rules.isEmpty {
            let root = newRule(Self.rootRule, [.listen, .manage, .send])
            try await store.putRules([root])
            current.withLock { $0.rules = [root] }
        }
        var failure: PushError?
        for hub in hubs {
            do throws(PushError) {
                try await hub.resume()
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    private static let deletedRemembered = 1000
    /// The server rule with all rights, which can manage hubs.
    package static let rootRule = "RootManageSharedAccessKey"
    package static let listenRule = "DefaultListenSharedAccessSignature"
    package static let fullRule = "DefaultFullSharedAccessSignature"

    // MARK: - Reading

    /// The hub with a name, ignoring case.
    package nonisolated func hub(_ name: String) -> ServedHub? {
        let key = name.lowercased()
        return current.withLock { $0.hubs[key] }
    }

    /// All hubs, sorted by name.
    package nonisolated var hubs: [ServedHub] {
        current.withLock { Array($0.hubs.values) }.sorted { $0.record.name < $1.record.name }
    }

    /// The rules that apply to every hub.
    package nonisolated var rules: [AuthorizationRule] { current.withLock { $0.rules } }

    /// Changes with every change of a hub or rule. Authorization results may be cached while it is the same.
    package nonisolated var revision: Int { current.withLock { $0.revision } }

    /// Whether a hub of that name was deleted since the start and does not exist now.
    package nonisolated func hasDeleted(_ name: String) -> Bool { current.withLock { $0.deleted.contains(name.lowercased()) } }

    /// The hub with a number; nil if it was deleted.
    package nonisolated func service(ofHub number: Int64) -> NotificationHub? {
        hubs.first { $0.record.number == number }?.service
    }

    /// Changes the rules of the server and of its hubs.
    package nonisolated var ruleEditor: RuleEditor { RuleEditor(namespace: self) }

    /// Called once a change holds its lock, because the permission for it may have been revoked meanwhile.
    package typealias Permission = @Sendable () throws(PushError) -> Void

    // MARK: - Hubs

    /// Creates a hub. Without rules of its own it gets Azure's two default rules. Throws `hub.exists` (409).
    package func create(
        _ name: String, _ description: HubDescription, while allowed: Permission = {}
    ) async throws(PushError) -> HubRecord {
        try HubValidator.check(name)
        try validator.check(description, before: nil)
        let key = name.lowercased()
        try await acquireLock(key)
        defer { locks.release(key) }
        try allowed()
        guard hub(name) == nil else {
            throw PushError(
                "hub.exists", "there is a hub named \"\(name)\" already", hint: "choose another name, or change that one",
                status: 409)
        }
        try HubValidator.check(description.rules, before: [], besides: rules)
        lastNumber += 1
        var description = description
        if description.rules.isEmpty {
            description.rules = [newRule(Self.listenRule, [.listen]), newRule(Self.fullRule, [.listen, .manage, .send])]
        }
        let now = environment.clock.now
        let record = HubRecord(
            number: lastNumber, name: name, description: description.dated(now, before: nil), createdAt: now, updatedAt: now)
        // Opened before it is stored: a hub that cannot be opened must not be stored.
        let hub = try await Self.open(
            record, environment: environment, store: store, settings: settings, jobTools: jobTools, connectors: connectors)
        try await store.putHub(record)
        current.withLock {
            $0.hubs[key] = hub
            $0.deleted.remove(key)
        }
        environment.note(.hub, "hub \(name) created")
        return record
    }

    /// Replaces a hub's description. A description without rules preserves the current rules. Throws `hub.not_found` (404).
    package func update(
        _ name: String, _ description: HubDescription, while allowed: Permission = {}
    ) async throws(PushError) -> HubRecord {
        try await change(name, while: allowed) { _ in description }
    }

    /// Changes a hub's description under its lock. Throws `hub.not_found` (404), and what the change throws.
    package func change(
        _ name: String, while allowed: Permission = {}, _ change: @Sendable (HubDescription) throws(PushError) -> HubDescription
    ) async throws(PushError) -> HubRecord {
        let key = name.lowercased()
        try await acquireLock(key)
        defer { locks.release(key) }
        try allowed()
        guard let existing = hub(name) else { throw Self.noHub(name) }
        var record = existing.record
        var description = try change(record.description)
        try validator.check(description, before: record.description)
        try HubValidator.check(description.rules, before: record.description.rules, besides: rules)
        if description.rules.isEmpty { description.rules = record.description.rules }
        record.updatedAt = environment.clock.now
        record.description = description.dated(record.updatedAt, before: record.description)
        try await store.putHub(record)
        await existing.service.change(connectors: connectors(record), registrationTTL: record.description.registrationTTL)
        let hub = ServedHub(record: record, service: existing.service, jobs: existing.jobs)
        current.withLock { $0.hubs[key] = hub }
        environment.note(.hub, "hub \(record.name) changed")
        return record
    }

    /// Deletes a hub with all its data. Throws `hub.not_found` (404).
    package func delete(_ name: String, while allowed: Permission = {}) async throws(PushError) {
        let key = name.lowercased()
        try await acquireLock(key)
        defer { locks.release(key) }
        try allowed()
        guard let existing = hub(name) else { throw Self.noHub(name) }
        current.withLock { $0.hubs[key] = nil }
        await existing.stop()
        do throws(PushError) {
            try await store.removeHub(existing.record.number)
        } catch {
            // The store still has data of the hub, so it must be available again.
            let again = try await Self.open(
                existing.record, environment: environment, store: store, settings: settings, jobTools: jobTools,
                connectors: connectors)
            do throws(PushError) {
                try await again.resume()
            } catch {
                // It would continue without an owner.
                await again.stop()
                throw error
            }
            current.withLock { $0.hubs[key] = again }
            throw error
        }
        current.withLock { state in
            if state.deleted.count < Self.deletedRemembered { state.deleted.insert(key) }
        }
        environment.note(.hub, "hub \(existing.record.name) deleted")
    }

    /// Changes the rules of a hub, or for nil those of the server, under a lock. Returns the result of the change. Throws `hub.not_found`
    /// (404), `hub.rule` (400), and what the change throws.
    ///
    /// - Parameter holdsServer: whether the rules of the server must not change meanwhile. Its lock is acquired before that of the hub.
    func changeRules<Result: Sendable>(
        of name: String?, holdingServer holdsServer: Bool = false, while allowed: Permission,
        _ change: @Sendable (inout [AuthorizationRule]) throws(PushError) -> Result
    ) async throws(PushError) -> Result {
        // The key of the server's lock: no hub has an empty name.
        let key = name?.lowercased() ?? ""
        let holdsBoth = holdsServer && name != nil
        if holdsBoth { try await acquireLock("") }
        defer { if holdsBoth { locks.release("") } }
        try await acquireLock(key)
        defer { locks.release(key) }
        try allowed()
        guard let name else {
            var rules = self.rules
            let result = try change(&rules)
            try HubValidator.check(rules)
            try await store.putRules(rules)
            current.withLock { $0.rules = rules }
            return result
        }
        guard let existing = hub(name) else { throw Self.noHub(name) }
        var record = existing.record
        let result = try change(&record.description.rules)
        try HubValidator.check(record.description.rules)
        record.updatedAt = environment.clock.now
        try await store.putHub(record)
        let hub = ServedHub(record: record, service: existing.service, jobs: existing.jobs)
        current.withLock { $0.hubs[key] = hub }
        return result
    }

    /// Sets the maximum share of a notification's audience that may be removed, for all hubs.
    package func change(maxRemovedShare share: Double) async {
        settings.feedback.maxRemovedShare = share
        for hub in hubs { await hub.service.change(maxRemovedShare: share) }
    }

    /// Sets how many notifications each hub delivers at a time.
    package func change(concurrentNotifications count: Int) async {
        settings.limits.concurrentNotifications = count
        for hub in hubs { await hub.service.change(concurrentNotifications: count) }
    }

    /// Creates a rule with two new keys, without storing it.
    package nonisolated func newRule(_ name: String, _ rights: Set<AuthorizationRule.Right>) -> AuthorizationRule {
        let now = environment.clock.now
        return AuthorizationRule(
            name: name, rights: rights, primaryKey: newKey(), secondaryKey: newKey(), createdAt: now, modifiedAt: now)
    }

    /// A new key: 32 random bytes in base64.
    package nonisolated func newKey() -> Secret { SharedAccessKey.make(environment.random) }

    /// Stops all hubs, and waits for work in progress.
    package func stop() async {
        for hub in hubs { await hub.stop() }
    }

    private static func open(
        _ record: HubRecord, environment: HubEnvironment, store: any NamespaceStore, settings: HubSettings,
        jobTools: JobService.Tools?, connectors: Connecting
    ) async throws(PushError) -> ServedHub {
        var settings = settings
        settings.name = record.name
        settings.registrationTTL = record.description.registrationTTL
        let stored = store.store(ofHub: record.number)
        let service = NotificationHub(
            environment: environment, connectors: connectors(record), store: stored, loaded: try await stored.load(into: HubLoader()),
            settings: settings)
        let jobs = JobService(name: record.name, hub: service, environment: environment, store: stored, tools: jobTools)
        return ServedHub(record: record, service: service, jobs: jobs)
    }

    private static func open(
        _ records: [HubRecord], environment: HubEnvironment, store: any NamespaceStore, settings: HubSettings,
        jobTools: JobService.Tools?, connectors: Connecting
    ) async throws(PushError) -> [String: ServedHub] {
        var hubs: [String: ServedHub] = [:]
        for record in records {
            hubs[record.name.lowercased()] = try await open(
                record, environment: environment, store: store, settings: settings, jobTools: jobTools, connectors: connectors)
        }
        return hubs
    }

    /// Acquires the lock of a hub. Throws `hub.restoring` (503).
    private func acquireLock(_ key: String) async throws(PushError) {
        await line(up: key)
        guard !isClosed else {
            locks.release(key)
            throw Self.restoring
        }
    }

    private func line(up key: String) async {
        guard !locks.acquire(key) else { return }
        await withCheckedContinuation { locks.wait(key, $0) }
    }

    // MARK: - Restoring

    /// Whether a backup is being restored. Hubs must not be used meanwhile.
    package nonisolated var isClosed: Bool { current.withLock { $0.isClosed } }

    package static let restoring = PushError(
        "hub.restoring", "a backup is being restored", hint: "try again in a few seconds", status: 503, isRetryable: true,
        details: ["retryAfter": 5])

    /// Replaces all data: rejects requests, stops every hub, and loads everything again.
    ///
    /// - Parameters:
    ///   - reopened: opens the store to use from then on, also after a failure.
    ///   - replace: replaces the data, and calls its argument before it changes anything. If it throws before that call, the hubs continue
    ///     unchanged.
    /// - Returns: the result of `replace`.
    /// Throws `hub.restoring` (503) while another restore is running.
    package func restore<Answer: Sendable>(
        _ reopened: @Sendable () -> any NamespaceStore,
        _ replace: @Sendable (_ willReplace: @escaping @Sendable () async -> Void) async throws(PushError) -> Answer
    ) async throws(PushError) -> Answer {
        guard !isRestoring else { throw Self.restoring }
        isRestoring = true
        defer { isRestoring = false }
        var result: Result<Answer, PushError>
        do throws(PushError) {
            result = .success(try await replace { await self.close() })
        } catch {
            result = .failure(error)
        }
        if isClosed {
            do throws(PushError) {
                try await reopen(reopened())
            } catch {
                if case .success = result { result = .failure(error) }
            }
        }
        let answer = try result.get()
        environment.note(.hub, "a backup was restored")
        return answer
    }

    /// If this fails before the hubs are loaded, requests stay rejected.
    private func reopen(_ reopened: any NamespaceStore) async throws(PushError) {
        store = reopened
        do throws(PushError) {
            let stored = try await store.load()
            let hubs = try await Self.open(
                stored.hubs, environment: environment, store: store, settings: settings, jobTools: jobTools, connectors: connectors)
            lastNumber = stored.lastNumber
            current.withLock { $0 = State(rules: stored.rules, hubs: hubs, revision: $0.revision + 1, isClosed: true) }
        } catch {
            var error = error
            error.hint = "restart the server; until then it rejects requests"
            throw error
        }
        // Requests stay rejected until the hubs have resumed.
        defer { current.withLock { $0.isClosed = false } }
        try await resume()
    }

    /// Rejects requests, waits for changes of hubs in progress, and stops all hubs.
    private func close() async {
        current.withLock { $0.isClosed = true }
        for key in locks.heldKeys {
            await line(up: key)
            locks.release(key)
        }
        await stop()
    }

    private static func noHub(_ name: String) -> PushError {
        PushError("hub.not_found", "unknown hub \"\(name)\"", hint: "create it first", status: 404)
    }
}
