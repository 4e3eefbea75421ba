import HubWire
import NIOHTTP1
import PushModel

/// The registrations of a hub on another machine.
struct RemoteRegistrations: Sendable {
    let hub: HubClient
    let knownHandles: KnownHandles

    private static let entry: HTTPHeaders = ["Content-Type": "application/atom+xml;type=entry;charset=utf-8"]

    func createRegistrationID() async throws(PushError) -> RegistrationID {
        let answer = try await hub.ask(.POST, "registrationids")
        guard let id = answer.lastPartOfLocation.flatMap({ RegistrationID($0) }) else { throw hub.unreadable("has no registration id") }
        return id
    }

    func createRegistration(_ description: RegistrationDescription) async throws(PushError) -> Registration {
        try taken(await hub.ask(.POST, "registrations", "", Self.entry, RegistrationXML.document(description), isRepeatable: false))
    }

    func putRegistration(
        _ id: RegistrationID, _ description: RegistrationDescription, ifMatch: Int?
    ) async throws(PushError) -> Registration {
        var headers = Self.entry
        if let ifMatch { headers.add(name: "If-Match", value: "\"\(ifMatch)\"") }
        // With If-Match, a request that was already executed would not match when repeated.
        return try taken(
            await hub.ask(.PUT, "registrations/\(id)", "", headers, RegistrationXML.document(description), isRepeatable: ifMatch == nil))
    }

    func registration(_ id: RegistrationID) async throws(PushError) -> Registration {
        try taken(await hub.ask(.GET, "registrations/\(id)"))
    }

    func deleteRegistration(_ id: RegistrationID, ifMatch: Int?) async throws(PushError) {
        _ = try await hub.ask(
            .DELETE, "registrations/\(id)", "", ["If-Match": ifMatch.map { "\"\($0)\"" } ?? "*"], isRepeatable: false)
    }

    private func taken(_ answer: RemoteAnswer) throws(PushError) -> Registration {
        let registration: Registration
        do {
            registration = try RegistrationXMLReader.registration(document: answer.body)
        } catch {
            throw hub.unreadable("cannot be read: \(error.message)")
        }
        knownHandles.note(registration)
        return registration
    }

    func registrations(_ filter: RegistrationFilter, page: Page) async throws(PushError) -> RegistrationPage {
        var query = "&$top=\(page.top)"
        if let continuation = page.continuation { query += "&ContinuationToken=\(PercentEncoding.encode(continuation))" }
        var place = "registrations"
        var handle: DeviceHandle?
        switch filter {
        case .all: break
        case .tag(let tag): place = "tags/\(PercentEncoding.encode(tag.text))/registrations"
        case .handle(let wanted):
            handle = wanted
            query += "&$filter=\(PercentEncoding.encode(wanted.filter))"
        case .endpoint(let endpoint):
            query += "&$filter=\(PercentEncoding.encode("Endpoint eq '\(endpoint.quoted)'"))"
        }
        let answer = try await hub.ask(.GET, place, query)
        var found: RegistrationPage
        do {
            found = try RegistrationXMLReader.page(
                document: answer.body, continuation: answer.headers.first(name: "x-ms-continuationtoken"))
        } catch {
            throw hub.unreadable("cannot be read: \(error.message)")
        }
        // One filter can match several platforms.
        if let handle { found.registrations.removeAll { $0.handle != handle } }
        for registration in found.registrations { knownHandles.note(registration) }
        return found
    }
}

extension DeviceHandle {
    /// The filter expression for the handle. .NET and Java use `ChannelUri` for every platform with a single-part handle.
    fileprivate var filter: String {
        switch self {
        case .browser(let endpoint, let p256dh, let auth):
            "Endpoint eq '\(endpoint.quoted)' and P256DH eq '\(p256dh.quoted)' and Auth eq '\(auth.quoted)'"
        case .baidu(let user, let channel): "BaiduUserId eq '\(user.quoted)' and BaiduChannelId eq '\(channel.quoted)'"
        default: "ChannelUri eq '\(text.quoted)'"
        }
    }
}

extension String {
    /// The text with quotes doubled.
    fileprivate var quoted: String { replacing("'", with: "''") }
}
