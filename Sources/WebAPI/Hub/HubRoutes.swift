import HTTPTypes
import HubWire
import PushHub
import PushModel

/// Routes for hubs (hub interface: "Hub management").
struct HubRoutes: Sendable {
    let access: HubAccess
    let random: any RandomSource

    /// Creates a hub (201), or updates it if there is `If-Match` (200). A hub's own rule may update it; creating one requires a rule of the
    /// server.
    func put(_ name: String, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        let isUpdate = request.fields[.ifMatch] != nil
        let hub = access.namespace.hub(name)
        let rule: AuthorizationRule
        do throws(PushError) {
            rule = try access.authorize(request, .manage, hub)
        } catch {
            guard error.code == "sas.signature" else { throw error }
            // The same error whether or not the hub exists, so that strangers do not learn which hubs exist.
            var refusal = error
            refusal.hint = "sign with a key of the hub or, to create one, with a key of the server, such as \(Namespace.rootRule)"
            throw refusal
        }
        let body = try await access.body(request, limit: HubDescriptionXML.maximumSize, .manage, of: hub)
        let description = try HubDescriptionXML(body: body, now: request.now, random: random).hub
        if isUpdate {
            let record = try await access.namespace.update(name, description) { () throws(PushError) in
                try access.recheck(request, .manage, hub)
            }
            await access.audit?.note(access.principal(rule, hub), .hubUpdate, record.name)
            return entry(record, request, .ok)
        }
        // A hub's own rule ends with the hub, so check it again with the hub.
        let isOwn = hub?.record.description.rules.contains { $0.name == rule.name } ?? false
        do throws(PushError) {
            let record = try await access.namespace.create(name, description) { () throws(PushError) in
                try access.recheck(request, .manage, isOwn ? hub : nil)
            }
            await access.audit?.note(access.principal(rule, nil), .hubCreate, record.name)
            return entry(record, request, .created)
        } catch {
            guard error.code == "hub.exists" else { throw error }
            var conflict = error
            conflict.message = "Conflict: \(error.message)"
            conflict.details["subcode"] = .integer(40900)
            throw conflict
        }
    }

    /// For a missing hub it returns an empty list like Azure, which clients treat as "not found".
    func get(_ name: String, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        let hub = access.namespace.hub(name)
        try access.authorize(request, .manage, hub)
        guard let hub else {
            guard !access.namespace.hasDeleted(name) else { throw HubAccess.hubNotFound }
            let feed = AtomFeed(title: "Publicly Listed Services", id: request.ownAddress, updated: request.now)
            return WebAnswer(.ok, AtomFeed.contentType, feed.emptyListing())
        }
        return entry(hub.record, request, .ok)
    }

    func delete(_ name: String, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        let hub = access.namespace.hub(name)
        let rule = try access.authorize(request, .manage, hub)
        guard let hub else { throw HubAccess.hubNotFound }
        try await access.namespace.delete(name) { () throws(PushError) in try access.recheck(request, .manage, hub) }
        await access.audit?.note(access.principal(rule, hub), .hubDelete, hub.record.name)
        return WebAnswer(.ok)
    }

    /// `$skip` and `$top` as in OData.
    func list(_ request: WebRequest) async throws(PushError) -> WebAnswer {
        try access.authorize(request, .manage, nil)
        let skip = request.query["$skip"].flatMap { Int($0) } ?? 0
        let top = request.query["$top"].flatMap { Int($0) } ?? .max
        let hubs = access.namespace.hubs.dropFirst(max(0, skip)).prefix(max(0, top))
        let feed = AtomFeed(title: "NotificationHubs", id: request.ownAddress, updated: request.now)
        let entries = hubs.map { hub in
            (entry: HubEntry(hub.record).entry(at: request.address("/\(hub.record.name)"), author: host(request)), element: hub.record)
        }
        return WebAnswer(
            .ok, AtomFeed.contentType,
            feed.document(entries) { writer, record in HubDescriptionXML(record.description).write(into: &writer) })
    }

    private func entry(_ record: HubRecord, _ request: WebRequest, _ status: HTTPResponse.Status) -> WebAnswer {
        WebAnswer(
            status, AtomEntry.contentType,
            HubEntry(record).document(at: request.address("/\(record.name)"), author: host(request)))
    }

    private func host(_ request: WebRequest) -> String { String(request.server.authority.prefix { $0 != ":" }) }
}
