import HTTPTypes
import HubWire
import PushHub
import PushModel

/// Registration ids and registrations (hub interface: "Registration management").
struct RegistrationRoutes: Sendable {
    let access: HubAccess

    /// Responds with 201 and no body. The new id is the last segment of `Location`.
    func createID(_ hub: String, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        let hub = try access.hub(hub, .listen, request)
        let id = await hub.service.createRegistrationID()
        return WebAnswer(.created, [.location: request.address("\(request.trimmedPath)/\(id)")])
    }

    func create(_ hub: String, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        let hub = try access.hub(hub, .listen, request)
        let registration = try await hub.service.createRegistration(try await description(request, hub))
        let link = request.address("\(request.trimmedPath)/\(registration.id)")
        var answer = entry(registration, link, request, .local)
        answer.fields[.contentLocation] = link
        return answer
    }

    /// Creates or updates. 410 means that the id cannot be used any more and the client must request a new one.
    func put(_ id: String, of hub: String, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        let hub = try access.hub(hub, .listen, request)
        let registrationID = try Self.id(id, otherwise: 410)
        let condition = try RegistrationCondition(ifMatch: request.fields[.ifMatch])
        let description = try await description(request, hub)
        var version: Int?
        if case .version(let number) = condition { version = number }
        let registration = try await hub.service.putRegistration(
            registrationID, description, ifMatch: version, mustExist: condition != .none)
        return entry(registration, request.address(request.trimmedPath), request, .local)
    }

    func get(_ id: String, of hub: String, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        let hub = try access.hub(hub, .listen, request)
        let registration = try await hub.service.registration(try Self.id(id, otherwise: 404))
        return entry(registration, request.address(request.trimmedPath), request, .zoned)
    }

    func delete(_ id: String, of hub: String, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        let hub = try access.hub(hub, .listen, request)
        var version: Int?
        if case .version(let number) = try RegistrationCondition(ifMatch: request.fields[.ifMatch]) { version = number }
        try await hub.service.deleteRegistration(try Self.id(id, otherwise: 404), ifMatch: version)
        return WebAnswer(.ok)
    }

    /// Lists all registrations, or those of one handle, for which Listen is sufficient.
    func list(_ hub: String, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        guard let filter = request.query["$filter"], !filter.isEmpty else {
            let hub = try access.hub(hub, .manage, request)
            return try await feed(hub, [.all], request)
        }
        let hub = try access.hub(hub, .listen, request)
        return try await feed(hub, try ODataFilter(parsing: filter).filters, request)
    }

    func list(tag: String, of hub: String, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        let hub = try access.hub(hub, .manage, request)
        let known: Tag
        do {
            known = try Tag(tag)
        } catch {
            throw PushError(error)
        }
        return try await feed(hub, [.tag(known)], request)
    }

    // MARK: - Answers

    /// Lists the registrations of several filters one after the other, because a text can be a handle of several platforms. A continuation
    /// token then begins with the number of the filter: `2-17`.
    private func feed(_ hub: ServedHub, _ filters: [RegistrationFilter], _ request: WebRequest) async throws(PushError) -> WebAnswer {
        var page = RegistrationPage(registrations: [], continuation: nil)
        let asked = request.query.page
        var (number, inner) = (0, asked.continuation)
        if filters.count > 1, let token = inner?.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false),
            token.count == 2, let first = Int(token[0]), filters.indices.contains(first)
        {
            (number, inner) = (first, String(token[1]).nonEmpty)
        }
        while number < filters.count, page.continuation == nil {
            let part = try await hub.service.registrations(
                filters[number], page: Page(top: asked.top - page.registrations.count, continuation: inner))
            page.registrations += part.registrations
            number += 1
            inner = nil
            if let next = part.continuation {
                page.continuation = filters.count == 1 ? next : "\(number - 1)-\(next)"
            } else if page.registrations.count >= asked.top {
                number = try await first(of: filters, from: number, in: hub)
                if number < filters.count { page.continuation = "\(number)-" }
            }
        }
        let collection = "/\(hub.record.name)/registrations"
        let body = RegistrationXML.document(page, at: request.ownAddress, now: request.now) { id in
            request.address("\(collection)/\(id)")
        }
        var answer = WebAnswer(.ok, AtomFeed.contentType, body)
        if let continuation = page.continuation { answer.fields[.continuation] = continuation }
        return answer
    }

    /// The first filter from `number` on that finds anything. Avoids a token for an empty page: clients that delete page by page continue
    /// as long as there is one.
    private func first(of filters: [RegistrationFilter], from number: Int, in hub: ServedHub) async throws(PushError) -> Int {
        for number in number..<filters.count {
            let found = try await hub.service.registrations(filters[number], page: Page(top: 1, continuation: nil))
            if !found.registrations.isEmpty { return number }
        }
        return filters.count
    }

    private func entry(
        _ registration: Registration, _ link: String, _ request: WebRequest, _ form: RegistrationXML.ExpirationForm
    ) -> WebAnswer {
        WebAnswer(
            .ok, AtomEntry.contentType, RegistrationXML.document(registration, at: link, now: request.now, expiration: form),
            [.eTag: RegistrationXML.entityTag(of: registration)])
    }

    private func description(_ request: WebRequest, _ hub: ServedHub) async throws(PushError) -> RegistrationDescription {
        try RegistrationXMLReader.description(
            body: try await access.body(request, limit: RegistrationXMLReader.maximumSize, .listen, of: hub))
    }

    /// Parses a registration id. A malformed id never belonged to this hub: 404 for reads, 410 for writes.
    private static func id(_ text: String, otherwise status: Int) throws(PushError) -> RegistrationID {
        if let id = RegistrationID(text) { return id }
        throw PushError(
            status == 410 ? "hub.gone" : "hub.not_found", "invalid registration id \"\(text)\" for this hub",
            hint: "request an id with POST registrationids", status: status)
    }
}
