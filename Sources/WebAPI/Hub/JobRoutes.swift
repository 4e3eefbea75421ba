import HTTPTypes
import HubWire
import PushHub
import PushModel

/// Routes for bulk jobs, which export or import registrations (hub interface: "Jobs").
struct JobRoutes: Sendable {
    let access: HubAccess
    let random: any RandomSource

    /// Responds with 201 once the job is stored. It runs after earlier jobs have ended.
    func create(_ hub: String, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        let caller = try access.caller(hub, .manage, request)
        let hub = caller.hub
        let body = try await access.body(request, limit: NotificationHubJobXML.maximumSize, .manage, of: hub)
        let job = try await hub.jobs.submit(try NotificationHubJobXML(body: body, id: random.uuid(), now: request.now).job)
        await access.audit?.note(caller.principal, .jobCreate, job.id, ["hub": hub.record.name, "kind": job.kind.rawValue])
        let link = request.address("/\(hub.record.name)/jobs/\(job.id)")
        return WebAnswer(.created, AtomEntry.contentType, NotificationHubJobXML(job).document(at: link), [.location: link])
    }

    /// Lists the jobs, latest first.
    func list(_ hub: String, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        let hub = try access.hub(hub, .manage, request)
        let jobs = try await hub.jobs.jobs()
        let feed = AtomFeed(title: "Jobs", id: request.ownAddress, updated: request.now)
        let entries = jobs.map { job in
            (entry: NotificationHubJobXML(job).entry(at: request.address("/\(hub.record.name)/jobs/\(job.id)")), element: job)
        }
        let body = feed.document(entries) { writer, job in NotificationHubJobXML(job).write(into: &writer) }
        return WebAnswer(.ok, AtomFeed.contentType, body)
    }

    func get(_ id: String, of hub: String, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        let hub = try access.hub(hub, .manage, request)
        let job = try await hub.jobs.job(id)
        return WebAnswer(.ok, AtomEntry.contentType, NotificationHubJobXML(job).document(at: request.address(request.trimmedPath)))
    }
}
