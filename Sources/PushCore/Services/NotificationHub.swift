import Synchronization

/// The notification hub: registrations, installations, sends, schedules. Immediately consistent.
///
/// What is answered is kept: a change is shown, to whoever asks and to sends, when the store has it. Changes of one
/// registration or installation take turns; those of others do not wait for them.
package actor NotificationHub: HubGateway {
    let environment: HubEnvironment
    private(set) var pipeline: SendPipeline
    let store: any HubStore
    let meter: HubMeter
    private(set) var settings: HubSettings
    var table: RegistrationTable
    var turns = Turns<RegistrationTable.Expiring>()
    /// The last that was given to a notification.
    nonisolated let sequences: Atomic<Int64>
    nonisolated let name: String
    nonisolated let naming: HubSettings.Naming
    nonisolated let refusesLargePayloads: Bool
    var outbox = Outbox()
    var schedule = Schedule()
    /// Notifications under way, by id, as they are now.
    var live: [String: NotificationOutcome] = [:]
    /// Verdicts of theirs that are not kept yet, by number, as long as they are few.
    var recent: [Int64: OutcomeBatch] = [:]
    var endings = Endings()
    /// The notifications of the outbox that are being delivered, by number.
    var deliveries: [Int64: Task<Void, Never>] = [:]
    /// Notifications of the outbox that wait for a push service.
    var putOffs = PutOffs()
    var crowds = Crowds(least: 10_000)
    /// Notifications with a pace, which keep their places while they wait.
    var paced = Crowds(least: 0)
    /// Notifications of the outbox that are to end before all have them, by number.
    var stops: Set<Int64> = []
    /// Pauses of work that was cancelled and is not at its end.
    var sleepers: [Int: Task<Void, Never>] = [:]
    var rests = 0
    var rooms = Rooms()
    var expiry = Expiry()
    /// Registrations whose removal is held, by row.
    var heldRows = PlaceSet()
    var isStopping = false
    /// The same for those who do not come by the actor.
    nonisolated let isClosed = Atomic(false)
    /// What the rows of the store have, and the index has not.
    let foreignTags: ForeignTags
    /// Most devices that a test send reaches, as in Azure.
    static let testSize = 10

    /// - Parameter loaded: what the store had, once it was loaded.
    package init(
        environment: HubEnvironment, connectors: [any Connector], store: any HubStore, loaded: HubLoader,
        settings: HubSettings = HubSettings()
    ) {
        self.environment = environment
        self.pipeline = SendPipeline(environment: environment, connectors: connectors, hub: settings.name, retries: settings.retries)
        self.store = store
        self.settings = settings
        meter = HubMeter(hub: settings.name)
        table = loaded.table
        foreignTags = loaded.foreignTags
        for row in loaded.unreadable {
            environment.warn(.hub, "left out: \(row.reason)")
            meter.leftOut()
        }
        if loaded.rowsWithForeignTags > 0 {
            environment.warn(
                .hub,
                "the hub \(settings.name): \(loaded.rowsWithForeignTags) stored registrations or installations have tags that start with $, "
                    + "accepted from clients by an older version; these tags are ignored and go when the device registers again")
        }
        sequences = Atomic(loaded.lastSequence)
        name = settings.name
        naming = settings.naming
        refusesLargePayloads = settings.refusesLargePayloads
    }

    /// The same of a hub that is held in whole rows, or of one that is new.
    package init(
        environment: HubEnvironment, connectors: [any Connector], store: any HubStore, stored: StoredHub = StoredHub(),
        settings: HubSettings = HubSettings()
    ) {
        var loader = HubLoader()
        stored.read(into: &loader)
        self.init(environment: environment, connectors: connectors, store: store, loaded: loader, settings: settings)
    }

    /// What begins from now on goes through these connectors; what is registered from now on lives that long.
    package func change(connectors: [any Connector], registrationTTL: Duration?) {
        pipeline = SendPipeline(environment: environment, connectors: connectors, hub: settings.name, retries: settings.retries)
        settings.registrationTTL = registrationTTL
    }

    /// The share of a notification's audience that its verdicts may remove; notifications under way keep theirs.
    package func change(maxRemovedShare share: Double) { settings.maxRemovedShare = share }

    /// How many notifications are delivered at a time; those that have begun go on.
    package func change(concurrentNotifications count: Int) {
        settings.concurrentNotifications = count
        offerRoom(times: count)
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

    /// - Parameter mustExist: whether none is made where there is none.
    package func putRegistration(
        _ id: RegistrationID, _ description: RegistrationDescription, ifMatch: Int?, mustExist: Bool
    ) async throws(PushError) -> Registration {
        try await put(id, description, ifMatch: ifMatch, mustExist: mustExist, isImported: false)
    }

    /// What many lines of a file are about: no hook is asked for each. Without an id it gets a new one.
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
                hint: "make the template for the platform of the handle", status: 400)
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

    /// In the order of registering, but for those that took the place of one that left. Whoever pages through sees
    /// every registration that stays exactly once, whatever comes and goes meanwhile.
    package func registrations(_ filter: RegistrationFilter, page: Page) async throws(PushError) -> RegistrationPage {
        sweep()
        var filter = filter
        if case .handle(let handle) = filter { filter = .handle(try handle.checked()) }
        let (found, last) = table.page(filter, behind: try place(page), top: Self.top(page))
        let rows = try await rows(stillAt: found).lazy.map(\.registration).filter { $0.isMeant(by: filter) }
        return RegistrationPage(registrations: Array(rows), continuation: last.map { String($0) })
    }

    /// How many registrations and installations there are.
    package func size() -> (registrations: Int, installations: Int) {
        sweep()
        return (table.count, table.installationCount)
    }

    // MARK: - Changes

    /// Throws `hub.stopped` (503) once the hub stops: nothing would come of what it took.
    nonisolated func checkIsOpen() throws(PushError) {
        guard isClosed.load(ordering: .acquiring) else { return }
        throw PushError(
            "hub.stopped", "the hub takes nothing any more: the server stops, or the hub is being deleted",
            hint: "try again in a while", status: 503, isRetryable: true)
    }

    /// Has a change kept, then applies it. Where it cannot be kept, nothing has changed.
    ///
    /// - Parameter rows: what stands at its places.
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

    /// Warns of templates that no registration had yet and that show an expression as it is written.
    private func warnOfTexts(in change: RegistrationChange) {
        let new = change.puts.compactMap(\.registration.template).filter { !table.templates.hasContent(of: $0) }
        for warning in new.flatMap(\.compiled.expressionsInText).map(\.warning).uniqued() {
            environment.warn(.hub, "the hub \(name): \(warning)")
        }
    }

    func departure(_ reason: RegistrationDeparture.Reason) -> RegistrationDeparture {
        RegistrationDeparture(reason, at: environment.clock.now)
    }

    /// Whoever takes a turn leaves it.
    func takeTurn(_ key: RegistrationTable.Expiring) async {
        guard !turns.take(key) else { return }
        await withCheckedContinuation { turns.wait(key, $0) }
    }

    // MARK: - Checks

    /// Behind which place of the table the page begins; nil for the first page.
    func place(_ page: Page) throws(PushError) -> UInt32? {
        guard let token = page.continuation else { return nil }
        guard let place = UInt32(token) else { throw Self.badContinuation(token) }
        return place
    }

    package static func badContinuation(_ token: String) -> PushError {
        PushError(
            "hub.continuation", "\"\(token)\" is no continuation token of this hub",
            hint: "pass the token of the page before, or none", status: 400)
    }

    static func top(_ page: Page) -> Int { (1...100).contains(page.top) ? page.top : 100 }

    /// At most "never", behind which years have five digits.
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
            case .installationChanged: "went with a change of its installation"
            }
        return PushError(
            "hub.gone", "registration id \(id) \(why)", hint: "ask for a new id and register again", status: 410)
    }

    private func checkIsNoInstallation(_ registration: Registration) throws(PushError) {
        guard let installation = registration.installationID else { return }
        throw PushError(
            "hub.installation", "registration \(registration.id) stands for the installation \(installation)",
            hint: "change the installation", status: 409)
    }

    private func notFound(_ id: RegistrationID) -> PushError {
        PushError("hub.not_found", "there is no registration \(id)", hint: "create it first", status: 404)
    }

    private func check(_ registration: Registration, ifMatch: Int?) throws(PushError) {
        guard let ifMatch, ifMatch != registration.etag else { return }
        throw PushError(
            "hub.precondition_failed",
            "registration \(registration.id) has ETag \(registration.etag), not \(ifMatch): somebody changed it",
            hint: "read it again and repeat the change", status: 412)
    }
}
