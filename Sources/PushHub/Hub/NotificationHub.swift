import PushModel
import Synchronization

/// The notification hub: registrations, installations, sends and schedules. Reads always see the latest write.
///
/// A change becomes visible, to readers and to sends, only after the store has committed it. Changes of the same registration or
/// installation run one at a time; changes of different ones run concurrently.
package actor NotificationHub: HubGateway {
    let environment: HubEnvironment
    private(set) var pipeline: SendPipeline
    let store: any HubStore
    let meter: HubMetrics
    private(set) var settings: HubSettings
    var table: RegistrationTable
    var turns = KeyedLock<RegistrationTable.Expiring>()
    /// The sequence number of the newest notification.
    nonisolated let sequences: Atomic<Int64>
    nonisolated let name: String
    nonisolated let naming: HubSettings.Naming
    nonisolated let refusesLargePayloads: Bool
    var outbox = Outbox()
    var schedule = Schedule()
    /// Current outcomes of the notifications in progress, by id.
    var live: [String: NotificationOutcome] = [:]
    /// Results that are not stored yet, by sequence number; only for notifications that have few of them.
    var recent: [Int64: OutcomeBatch] = [:]
    var completionWaiters = CompletionWaiters()
    /// Running deliveries of outbox notifications, by sequence number.
    var deliveries: [Int64: Task<Void, Never>] = [:]
    /// Outbox notifications that wait for a push service.
    var deferredSends = DeferredSends()
    var largeSends = LargeSendQueue(least: 10_000)
    /// Notifications with a pace (a rate limit). They wait in memory and are never deferred.
    var paced = LargeSendQueue(least: 0)
    /// Sequence numbers of outbox notifications that were cancelled before every device had a result.
    var stops: Set<Int64> = []
    /// Back-off sleeps of cancelled work that still has to store its end.
    var backOffTasks: [Int: Task<Void, Never>] = [:]
    var rests = 0
    var concurrencyLimiter = ConcurrencyLimiter()
    var expiry = Expiry()
    /// Rows of the registrations whose removal is held for the operator.
    var heldRows = RowSet()
    var isStopping = false
    /// `isStopping`, readable from outside the actor.
    nonisolated let isClosed = Atomic(false)
    /// Reserved tags that stored rows contain and the index does not.
    let foreignTags: ForeignTags

    /// - Parameter loaded: the loaded content of the store.
    package init(
        environment: HubEnvironment, connectors: [any Connector], store: any HubStore, loaded: HubLoader,
        settings: HubSettings = HubSettings()
    ) {
        self.environment = environment
        self.pipeline = SendPipeline(environment: environment, connectors: connectors, hub: settings.name, retries: settings.retries)
        self.store = store
        self.settings = settings
        meter = HubMetrics(hub: settings.name)
        table = loaded.table
        foreignTags = loaded.foreignTags
        for row in loaded.unreadable {
            environment.warn(.hub, "skipped an unreadable row: \(row.reason)")
            meter.leftOut()
        }
        if loaded.rowsWithForeignTags > 0 {
            environment.warn(
                .hub,
                "the hub \(settings.name): \(loaded.rowsWithForeignTags) stored registrations or installations have tags that start with $, "
                    + "accepted from clients by an older version; these tags are ignored, and removed when the device registers again")
        }
        sequences = Atomic(loaded.lastSequence)
        name = settings.name
        naming = settings.naming
        refusesLargePayloads = settings.refusesLargePayloads
    }

    /// Creates a hub from whole rows in memory, by default an empty hub.
    package init(
        environment: HubEnvironment, connectors: [any Connector], store: any HubStore, stored: StoredHub = StoredHub(),
        settings: HubSettings = HubSettings()
    ) {
        var loader = HubLoader()
        stored.read(into: &loader)
        self.init(environment: environment, connectors: connectors, store: store, loaded: loader, settings: settings)
    }

    /// Replaces the connectors and the time to live. Both apply to sends and registrations that start from now on.
    package func change(connectors: [any Connector], registrationTTL: Duration?) {
        pipeline = SendPipeline(environment: environment, connectors: connectors, hub: settings.name, retries: settings.retries)
        settings.registrationTTL = registrationTTL
    }

    /// Sets the maximum share of a notification's audience that may be removed. Notifications in progress keep the share they started
    /// with.
    package func change(maxRemovedShare share: Double) { settings.maxRemovedShare = share }

    /// Sets how many notifications are delivered at a time. Deliveries that have started continue.
    package func change(concurrentNotifications count: Int) {
        settings.concurrentNotifications = count
        startNext(times: count)
        pump()
    }

    // MARK: - Registrations

    package func createRegistrationID() -> RegistrationID {
        let id = newRegistrationID()
        environment.note(.hub, "registration id \(id) issued")
        return id
    }

    package func createRegistration(_ description: RegistrationDescription) async throws(PushError) -> Registration {
        try await putRegistration(newRegistrationID(), description, ifMatch: nil)
    }

    package func putRegistration(
        _ id: RegistrationID, _ description: RegistrationDescription, ifMatch: Int?
    ) async throws(PushError) -> Registration {
        try await putRegistration(id, description, ifMatch: ifMatch, mustExist: ifMatch != nil)
    }

    /// - Parameter mustExist: whether to throw `hub.not_found` instead of creating a registration.
    package func putRegistration(
        _ id: RegistrationID, _ description: RegistrationDescription, ifMatch: Int?, mustExist: Bool
    ) async throws(PushError) -> Registration {
        try await put(id, description, ifMatch: ifMatch, mustExist: mustExist, isImported: false)
    }

    /// Stores a registration from an import file, under a new id if `id` is nil. Does not call hooks: a file can have many lines.
    func importRegistration(
        _ id: RegistrationID?, _ description: RegistrationDescription
    ) async throws(PushError) -> Registration {
        try await put(id ?? newRegistrationID(), description, ifMatch: nil, mustExist: false, isImported: true)
    }

    private func put(
        _ id: RegistrationID, _ description: RegistrationDescription, ifMatch: Int?, mustExist: Bool, isImported: Bool
    ) async throws(PushError) -> Registration {
        await takeTurn(.registration(id))
        defer { turns.leave(.registration(id)) }
        try checkIsOpen()
        sweep(holding: .registration(id))
        let row = try await row(id)
        if let departure = table.departure(of: id) { throw gone(id, departure.reason) }
        let existing = row?.registration
        if mustExist {
            guard let existing else { throw notFound(id) }
            try check(existing, ifMatch: ifMatch)
        }
        if let existing { try checkIsNoInstallation(existing) }
        let handle = try description.handle.checked()
        if let template = description.template, template.platform != handle.platform {
            throw PushError(
                "template.platform",
                "the template is for \(template.platform.displayName), the handle for \(handle.platform.displayName)",
                hint: "use a template for the platform of the handle", status: 400)
        }
        var tags = try description.tags.checked()
        var draft: RegistrationDraft?
        if !isImported, environment.hooks.isWanted(.onRegister) {
            let answer = try await asked(
                RegistrationDraft(
                    hub: name, kind: .registration, id: id.text, platform: handle.platform, tags: tags, isNew: existing == nil,
                    origin: HookOrigin.plugins))
            (tags, draft) = (try answer.tags.checked(), answer)
        }
        let registration = Registration(
            id: id, etag: (existing?.etag ?? 0) + 1, expiration: expiration(), updatedAt: environment.clock.now,
            handle: handle, tags: tags, template: description.template,
            pushVariables: description.pushVariables, secondaryTile: description.secondaryTile)
        var change = RegistrationChange(puts: [table.placed(registration)])
        if !isImported { change.events = events(of: registration, isNew: existing == nil) }
        try await keep(change, replacing: ReplacedRows(row.map { [$0] } ?? []))
        registered(draft)
        environment.note(
            .hub,
            "registration \(id) stored: \(registration.platform.displayName) \(handle.abbreviated), "
                + "tags \(registration.tags.map(\.text).joined(separator: ", "))")
        return registration
    }

    package func registration(_ id: RegistrationID) async throws(PushError) -> Registration {
        sweep()
        guard let row = try await row(id) else { throw notFound(id) }
        return row.registration
    }

    func hasRegistration(_ id: RegistrationID) -> Bool {
        sweep()
        return table.place(of: id) != nil
    }

    package func deleteRegistration(_ id: RegistrationID, ifMatch: Int?) async throws(PushError) {
        await takeTurn(.registration(id))
        defer { turns.leave(.registration(id)) }
        try checkIsOpen()
        sweep(holding: .registration(id))
        guard let row = try await row(id), let removal = table.removal(of: id, because: departure(.deleted)) else { throw notFound(id) }
        try check(row.registration, ifMatch: ifMatch)
        try checkIsNoInstallation(row.registration)
        var change = RegistrationChange(removals: [removal])
        change.events = deletion("registration", id.text, row.registration.platform)
        try await keep(change, replacing: ReplacedRows([row]))
        environment.note(.hub, "registration \(id) deleted")
    }

    /// Lists registrations in the order of their rows: creation order, except that a new registration may reuse the row of a deleted one.
    /// Paging returns every registration that stays exactly once, whatever else is added or deleted meanwhile.
    package func registrations(_ filter: RegistrationFilter, page: Page) async throws(PushError) -> RegistrationPage {
        sweep()
        var filter = filter
        if case .handle(let handle) = filter { filter = .handle(try handle.checked()) }
        let (found, last) = table.page(filter, behind: try place(page), top: Self.top(page))
        let rows = try await rows(stillAt: found).lazy.map(\.registration).filter { $0.isMeant(by: filter) }
        return RegistrationPage(registrations: Array(rows), continuation: last.map { String($0) })
    }

    /// The numbers of registrations and installations.
    package func size() -> (registrations: Int, installations: Int) {
        sweep()
        return (table.count, table.installationCount)
    }

    // MARK: - Changes

    /// Throws `hub.stopped` (503) once the hub is shutting down.
    nonisolated func checkIsOpen() throws(PushError) {
        guard isClosed.load(ordering: .acquiring) else { return }
        throw PushError(
            "hub.stopped", "the hub is shutting down or being deleted",
            hint: "try again later", status: 503, isRetryable: true)
    }

    /// Commits a change to the store, then applies it to the table. If the commit fails, nothing changes.
    ///
    /// - Parameter rows: the current rows that the change replaces.
    func keep(_ change: RegistrationChange, replacing rows: ReplacedRows) async throws(PushError) {
        var change = change
        let settled = settleHeldRemovals(in: &change)
        do throws(PushError) {
            try await store.commit(change)
        } catch {
            heldRows.insert(contentsOf: settled)
            table.abandon(change)
            throw error
        }
        warnOfTexts(in: change)
        table.apply(change, replacing: rows)
        if !change.events.isEmpty { environment.events.tell() }
    }

    /// Warns of new templates that contain an expression that is sent as literal text.
    private func warnOfTexts(in change: RegistrationChange) {
        let new = change.puts.compactMap(\.registration.template).filter { !table.templates.hasContent(of: $0) }
        for warning in new.flatMap(\.compiled.embeddedExpressions).map(\.warning).uniqued() {
            environment.warn(.hub, "the hub \(name): \(warning)")
        }
    }

    func departure(_ reason: RegistrationDeparture.Reason) -> RegistrationDeparture {
        RegistrationDeparture(reason, at: environment.clock.now)
    }

    /// Acquires the lock of a registration or installation. Every acquire must be paired with a release.
    func takeTurn(_ key: RegistrationTable.Expiring) async {
        guard !turns.take(key) else { return }
        await withCheckedContinuation { turns.wait(key, $0) }
    }

    // MARK: - Checks

    /// The row after which the page starts; nil for the first page.
    func place(_ page: Page) throws(PushError) -> UInt32? {
        guard let token = page.continuation else { return nil }
        guard let place = UInt32(token) else { throw Self.badContinuation(token) }
        return place
    }

    package static func badContinuation(_ token: String) -> PushError {
        PushError(
            "hub.continuation", "invalid continuation token \"\(token)\"",
            hint: "pass the token of the previous page, or none", status: 400)
    }

    static func top(_ page: Page) -> Int { (1...100).contains(page.top) ? page.top : 100 }

    /// Capped at `.distantFuture`: later years have five digits.
    func expiration() -> Timestamp {
        settings.registrationTTL.map { min(environment.clock.now + $0, .distantFuture) } ?? .distantFuture
    }

    func newRegistrationID() -> RegistrationID {
        var id = RegistrationID(random: environment.random)
        while table.place(of: id) != nil || table.departure(of: id) != nil { id = RegistrationID(random: environment.random) }
        return id
    }

    private func gone(_ id: RegistrationID, _ reason: RegistrationDeparture.Reason) -> PushError {
        let why =
            switch reason {
            case .deleted: "has been deleted"
            case .expired: "has expired"
            case .handleDied(let reason): "was removed: \(reason)"
            case .installationChanged: "was removed by a change of its installation"
            }
        return PushError(
            "hub.gone", "registration id \(id) \(why)", hint: "request a new id and register again", status: 410)
    }

    private func checkIsNoInstallation(_ registration: Registration) throws(PushError) {
        guard let installation = registration.installationID else { return }
        throw PushError(
            "hub.installation", "registration \(registration.id) belongs to the installation \(installation); not changed",
            hint: "change the installation", status: 409)
    }

    private func notFound(_ id: RegistrationID) -> PushError {
        PushError("hub.not_found", "there is no registration \(id)", hint: "create it first", status: 404)
    }

    private func check(_ registration: Registration, ifMatch: Int?) throws(PushError) {
        guard let ifMatch, ifMatch != registration.etag else { return }
        throw PushError(
            "hub.precondition_failed",
            "registration \(registration.id) has ETag \(registration.etag), not \(ifMatch): it was changed meanwhile",
            hint: "read it again and repeat the change", status: 412)
    }
}
