import HubWire
import NIOHTTP1
import PushModel

// Registrations and installations.
extension RemoteNotificationHub {
    package func createRegistrationID() async throws(PushError) -> RegistrationID {
        let answer = try await ask(.POST, "registrationids")
        guard let id = answer.lastPartOfLocation.flatMap({ RegistrationID($0) }) else { throw unreadable("has no registration id") }
        return id
    }

    package func createRegistration(_ description: RegistrationDescription) async throws(PushError) -> Registration {
        try taken(await ask(.POST, "registrations", "", Self.entry, description.document(), isRepeatable: false))
    }

    package func putRegistration(
        _ id: RegistrationID, _ description: RegistrationDescription, ifMatch: Int?
    ) async throws(PushError) -> Registration {
        var headers = Self.entry
        if let ifMatch { headers.add(name: "If-Match", value: "\"\(ifMatch)\"") }
        // With If-Match, a request that was already executed would not match when repeated.
        return try taken(
            await ask(.PUT, "registrations/\(id)", "", headers, description.document(), isRepeatable: ifMatch == nil))
    }

    package func registration(_ id: RegistrationID) async throws(PushError) -> Registration {
        try taken(await ask(.GET, "registrations/\(id)"))
    }

    package func deleteRegistration(_ id: RegistrationID, ifMatch: Int?) async throws(PushError) {
        _ = try await ask(
            .DELETE, "registrations/\(id)", "", ["If-Match": ifMatch.map { "\"\($0)\"" } ?? "*"], isRepeatable: false)
    }

    private func taken(_ answer: RemoteAnswer) throws(PushError) -> Registration {
        let registration: Registration
        do {
            registration = try Registration(document: answer.body)
        } catch {
            throw unreadable("cannot be read: \(error.message)")
        }
        note(registration)
        return registration
    }

    package func registrations(_ filter: RegistrationFilter, page: Page) async throws(PushError) -> RegistrationPage {
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
        let answer = try await ask(.GET, place, query)
        var found: RegistrationPage
        do {
            found = try RegistrationPage(document: answer.body, continuation: answer.headers.first(name: "x-ms-continuationtoken"))
        } catch {
            throw unreadable("cannot be read: \(error.message)")
        }
        // One filter can match several platforms.
        if let handle { found.registrations.removeAll { $0.handle != handle } }
        for registration in found.registrations { note(registration) }
        return found
    }

    // MARK: - Installations

    package func putInstallation(_ installation: Installation) async throws(PushError) {
        _ = try await ask(
            .PUT, place(of: installation.id), "", ["Content-Type": Installation.contentType], installation.document())
    }

    package func installation(_ id: String) async throws(PushError) -> Installation {
        let answer = try await ask(.GET, place(of: id))
        do {
            return try Installation(answer: answer.body, id: id)
        } catch {
            throw unreadable("cannot be read: \(error.message)")
        }
    }

    package func patchInstallation(_ id: String, _ operations: [PatchOperation]) async throws(PushError) {
        _ = try await ask(
            .PATCH, place(of: id), "", ["Content-Type": "application/json-patch+json"], operations.document())
    }

    package func deleteInstallation(_ id: String) async throws(PushError) { _ = try await ask(.DELETE, place(of: id)) }

    /// Finds installations through their registrations, because the interface cannot list installations.
    ///
    /// An installation whose channel has expired has no registration and is not found.
    package func installations(_ filter: InstallationFilter, page: Page) async throws(PushError) -> InstallationPage {
        let found: RegistrationPage
        switch filter {
        case .all, .platform: found = try await registrations(.all, page: page)
        case .user(let id): found = try await registrations(.tag(try Tag.addressing(id)), page: page)
        case .tag(let tag): found = try await registrations(.tag(tag), page: page)
        }
        var installations: [Installation] = []
        // Only native registrations: an installation also has one registration for each template.
        for id in found.registrations.filter({ $0.template == nil }).compactMap(\.installationID).uniqued() {
            do {
                let installation = try await installation(id)
                if case .platform(let platform) = filter, installation.handle.platform != platform { continue }
                installations.append(installation)
            } catch  where error.code == "hub.not_found" {}
        }
        return InstallationPage(installations: installations, continuation: found.continuation)
    }

    private func place(of id: String) -> String { "installations/\(PercentEncoding.encode(id))" }
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
