import HubWire
import NIOHTTP1
import PushModel

/// The installations of a hub on another machine.
struct RemoteInstallations: Sendable {
    let hub: HubClient
    let registrations: RemoteRegistrations

    func putInstallation(_ installation: Installation) async throws(PushError) {
        _ = try await hub.ask(
            .PUT, path(of: installation.id), "", ["Content-Type": InstallationJSON.contentType], InstallationJSON.document(installation))
    }

    func installation(_ id: String) async throws(PushError) -> Installation {
        let answer = try await hub.ask(.GET, path(of: id))
        do {
            return try InstallationJSONReader.installation(answer: answer.body, id: id)
        } catch {
            throw hub.unreadable("cannot be read: \(error.message)")
        }
    }

    func patchInstallation(_ id: String, _ operations: [PatchOperation]) async throws(PushError) {
        _ = try await hub.ask(
            .PATCH, path(of: id), "", ["Content-Type": "application/json-patch+json"], PatchJSON.document(operations))
    }

    func deleteInstallation(_ id: String) async throws(PushError) { _ = try await hub.ask(.DELETE, path(of: id)) }

    /// Finds installations through their registrations, because the interface cannot list installations.
    ///
    /// An installation whose channel has expired has no registration and is not found.
    func installations(_ filter: InstallationFilter, page: Page) async throws(PushError) -> InstallationPage {
        let found: RegistrationPage
        switch filter {
        case .all, .platform: found = try await registrations.registrations(.all, page: page)
        case .user(let id): found = try await registrations.registrations(.tag(try Tag.addressing(id)), page: page)
        case .tag(let tag): found = try await registrations.registrations(.tag(tag), page: page)
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

    private func path(of id: String) -> String { "installations/\(PercentEncoding.encode(id))" }
}
