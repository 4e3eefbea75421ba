import HTTPTypes
import HubWire
import PushCore

/// Installations (hub interface: "Installations").
struct InstallationRoutes: Sendable {
    let access: HubAccess

    func put(_ id: String, of hub: String, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        let hub = try access.hub(hub, .listen, request)
        let body = try await access.body(request, limit: Installation.maximumSize, .listen, of: hub)
        try await hub.service.putInstallation(try Installation(body: body, id: id))
        return WebAnswer(.ok, [.contentLocation: request.address(request.trimmedPath)])
    }

    func get(_ id: String, of hub: String, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        let hub = try access.hub(hub, .listen, request)
        do throws(PushError) {
            return WebAnswer(.ok, Installation.contentType, try await hub.service.installation(id).document())
        } catch {
            throw Self.renamed(error)
        }
    }

    func patch(_ id: String, of hub: String, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        let hub = try access.hub(hub, .listen, request)
        let operations = try PatchOperation.list(body: try await access.body(request, limit: Installation.maximumSize, .listen, of: hub))
        do throws(PushError) {
            try await hub.service.patchInstallation(id, operations)
        } catch {
            throw Self.renamed(error)
        }
        return WebAnswer(.ok, [.contentLocation: request.address(request.trimmedPath)])
    }

    /// 204 also where there is none.
    func delete(_ id: String, of hub: String, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        let hub = try access.hub(hub, .listen, request)
        try await hub.service.deleteInstallation(id)
        return WebAnswer(.noContent)
    }

    /// The sentence that clients know.
    private static func renamed(_ error: PushError) -> PushError {
        guard error.code == "hub.not_found" else { return error }
        return PushError("hub.not_found", "Installation not found", hint: nil, status: 404)
    }
}
