/// The notification hub: registrations, installations, sends, schedules. Immediately consistent.
package actor NotificationHub: HubGateway {
    let environment: HubEnvironment
    let pipeline: SendPipeline
    /// How long a registration lives after its last update; nil is Azure's default, for ever.
    let registrationTTL: Duration?
    var table = RegistrationTable()
    private var outcomes: [String: NotificationOutcome] = [:]
    private var schedules: [String: Task<Void, Never>] = [:]
    /// Scheduled ones whose time has come, until every device has its verdict.
    private var underWay: [String: Task<Void, Never>] = [:]
    private var nextNotification = 1
    /// Most devices that a test send reaches, as in Azure.
    private static let testSize = 10

    package init(environment: HubEnvironment, connectors: [any Connector], registrationTTL: Duration? = nil) {
        self.environment = environment
        self.pipeline = SendPipeline(environment: environment, connectors: connectors)
        self.registrationTTL = registrationTTL
    }

    // MARK: - Registrations

    package func createRegistrationID() -> RegistrationID {
        let id = newRegistrationID()
        environment.note(.hub, "registration id \(id) issued")
        return id
    }

    package func createRegistration(_ description: RegistrationDescription) throws(PushError) -> Registration {
        try putRegistration(newRegistrationID(), description, ifMatch: nil)
    }

    package func putRegistration(
        _ id: RegistrationID, _ description: RegistrationDescription, ifMatch: Int?
    ) throws(PushError) -> Registration {
        sweep()
        if let departure = table.departure(of: id) { throw gone(id, departure) }
        let existing = table[id]
        if let ifMatch {
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
        let registration = Registration(
            id: id, etag: (existing?.etag ?? 0) + 1, expiration: expiration(), updatedAt: environment.clock.now,
            handle: handle, tags: try description.tags.checked(), template: description.template,
            pushVariables: description.pushVariables)
        table.put(registration)
        environment.note(
            .hub,
            "registration \(id) stored: \(registration.platform.displayName) \(handle.abbreviated), "
                + "tags \(registration.tags.map(\.text).joined(separator: ", "))")
        return registration
    }

    package func registration(_ id: RegistrationID) throws(PushError) -> Registration {
        sweep()
        guard let registration = table[id] else { throw notFound(id) }
        return registration
    }

    package func deleteRegistration(_ id: RegistrationID, ifMatch: Int?) throws(PushError) {
        sweep()
        guard let existing = table[id] else { throw notFound(id) }
        try check(existing, ifMatch: ifMatch)
        try checkIsNoInstallation(existing)
        table.remove(id, because: .deleted)
        environment.note(.hub, "registration \(id) deleted")
    }

    /// In the order of registering, but for those that took the place of one that left. Whoever pages through sees
    /// every registration that stays exactly once, whatever comes and goes meanwhile.
    package func registrations(_ filter: RegistrationFilter, page: Page) throws(PushError) -> RegistrationPage {
        sweep()
        var filter = filter
        if case .handle(let handle) = filter { filter = .handle(try handle.checked()) }
        let (found, last) = table.page(filter, behind: try place(page), top: Self.top(page))
        return RegistrationPage(registrations: found, continuation: last.map { String($0) })
    }

    // MARK: - Sending

    package func send(_ request: NotificationRequest) async throws(PushError) -> NotificationOutcome {
        let reached = Set(pipeline.targets(of: request, in: table).list.map(\.handle.platform))
        let request = try pipeline.checked(request, reaching: reached.isEmpty ? nil : reached)
        return await deliver(
            request, pipeline.begin(request, id: newNotificationID(), enqueuedAt: environment.clock.now))
    }

    /// A moment that has passed means at once.
    package func schedule(_ request: NotificationRequest, at moment: Timestamp) throws(PushError) -> NotificationOutcome {
        let request = try pipeline.checked(request)
        let now = environment.clock.now
        guard moment <= now + .seconds(7 * 86_400) else {
            throw PushError(
                "time.too_far", "\(moment) is more than seven days ahead", hint: "schedule within seven days",
                status: 400)
        }
        var outcome = pipeline.begin(request, id: newNotificationID(), enqueuedAt: now)
        let id = outcome.id
        outcome.state = .scheduled
        outcome.scheduledFor = moment
        outcomes[id] = outcome
        environment.note(.schedule, "\(id) waits until \(moment)")
        let clock = environment.clock
        schedules[id] = environment.start { [weak self] in
            do {
                try await clock.sleep(until: moment)
            } catch {
                await self?.abandon(id)
                return
            }
            await self?.fire(id, request)
        }
        return outcome
    }

    package func cancel(scheduled id: String) throws(PushError) {
        guard let waiting = schedules.removeValue(forKey: id) else {
            throw PushError(
                "notification.not_found", "no scheduled notification \(id) is waiting",
                hint: "it has run, was cancelled, or never existed", status: 404)
        }
        waiting.cancel()
        settleCanceled(id)
    }

    package func outcome(of id: String) throws(PushError) -> NotificationOutcome {
        guard let outcome = outcomes[id] else {
            let near = nearest(id, in: outcomes.keys)
            throw PushError(
                "notification.not_found", "there is no notification \(id)",
                hint: near.map { "did you mean \($0)?" } ?? "pass the id that send returned", status: 404)
        }
        return outcome
    }

    package func finish(_ id: String) async throws(PushError) -> NotificationOutcome {
        let outcome = try outcome(of: id)
        if let task = underWay[id] {
            await task.value
        } else if let task = schedules[id], let moment = outcome.scheduledFor, moment <= environment.clock.now {
            await task.value
        }
        return try self.outcome(of: id)
    }

    private func fire(_ id: String, _ request: NotificationRequest) async {
        guard let task = schedules.removeValue(forKey: id), let outcome = outcomes[id] else { return }
        underWay[id] = task
        _ = await deliver(request, outcome)
        underWay[id] = nil
    }

    /// The task that waited was stopped from outside.
    private func abandon(_ id: String) {
        guard schedules.removeValue(forKey: id) != nil else { return }
        settleCanceled(id)
    }

    private func settleCanceled(_ id: String) {
        outcomes[id]?.state = .canceled
        outcomes[id]?.endedAt = environment.clock.now
        environment.note(.schedule, "\(id) cancelled")
    }

    private func deliver(_ request: NotificationRequest, _ begun: NotificationOutcome) async -> NotificationOutcome {
        sweep()
        var outcome = begun
        let start = environment.clock.now
        outcome.state = .processing
        outcome.startedAt = start
        outcomes[outcome.id] = outcome
        var targets = pipeline.targets(of: request, in: table)
        environment.note(.audience, "\(outcome.id): \(targets.summary)")
        if request.isTest { targets.sample(Self.testSize, with: environment.random) }
        if targets.isEmpty {
            outcome.state = .noTargetFound
            outcome.nearMisses = NearMisses(table: table, request: request).sentences
        } else {
            let results = await pipeline.deliver(targets, of: request, id: outcome.id)
            outcome.devices = takeFeedback(results, since: start)
            let isAbandoned = outcome.devices.allSatisfy { [.abandoned, .skipped].contains($0.outcome) }
            outcome.state = isAbandoned ? .abandoned : request.isTest ? .detailedStateAvailable : .completed
        }
        outcome.endedAt = environment.clock.now
        outcomes[outcome.id] = outcome
        return outcome
    }

    /// A handle that a push service calls dead leaves the hub with everything registered for it, but for what was
    /// registered anew meanwhile: after the moment that the service names, or else since the send began.
    private func takeFeedback(_ results: [DeliveryResult], since start: Timestamp) -> [DeviceOutcome] {
        var removed: Set<RegistrationID> = []
        var cleared: Set<DeviceHandle> = []
        for result in results where result.isHandleDead {
            let handle = result.device.handle
            let reason = result.device.reason
            let departure = RegistrationTable.Departure.handleDied(
                "\(handle.platform.displayName) answered \(reason.isEmpty ? "that its handle is dead" : reason)")
            for registration in table.registrations(for: handle)
            where !removed.contains(registration.id) && registration.updatedAt <= (result.deadSince ?? start) {
                cleared.insert(handle)
                if let installation = registration.installationID {
                    removed.formUnion(table.registrations(ofInstallation: installation).map(\.id))
                    table.expireChannel(ofInstallation: installation, because: departure)
                    environment.note(.feedback, "installation \(installation): channel expired, \(reason)")
                } else {
                    removed.insert(registration.id)
                    table.remove(registration.id, because: departure)
                    environment.note(.feedback, "registration \(registration.id) removed: \(reason)")
                }
            }
        }
        return results.map { result in
            var device = result.device
            device.isRegistrationRemoved =
                device.registrationID.map(removed.contains) ?? cleared.contains(device.handle)
            return device
        }
    }

    // MARK: - Checks

    /// Behind which place of the table the page begins; nil for the first page.
    func place(_ page: Page) throws(PushError) -> UInt32? {
        guard let token = page.continuation else { return nil }
        guard let place = UInt32(token) else {
            throw PushError(
                "hub.continuation", "\"\(token)\" is no continuation token of this hub",
                hint: "pass the token of the page before, or none", status: 400)
        }
        return place
    }

    static func top(_ page: Page) -> Int { (1...100).contains(page.top) ? page.top : 100 }

    private func newNotificationID() -> String {
        defer { nextNotification += 1 }
        return "n-\(nextNotification.padded(4))"
    }

    func expiration() -> Timestamp {
        registrationTTL.map { environment.clock.now + $0 } ?? .distantFuture
    }

    func newRegistrationID() -> RegistrationID {
        var id = RegistrationID(random: environment.random)
        while table[id] != nil || table.departure(of: id) != nil { id = RegistrationID(random: environment.random) }
        return id
    }

    func sweep() {
        let count = table.removeExpired(now: environment.clock.now)
        if count > 0 { environment.note(.hub, "\(count) registration\(count == 1 ? "" : "s") expired") }
    }

    private func gone(_ id: RegistrationID, _ departure: RegistrationTable.Departure) -> PushError {
        let why =
            switch departure {
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
