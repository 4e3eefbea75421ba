import HTTPTypes
import HubWire
import PushHub
import PushModel

/// Installations (hub interface: "Installations").
struct InstallationRoutes: Sendable {
    let access: HubAccess

    func put(_ id: String, of hub: String, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        let caller = try access.caller(hub, .listen, request)
        let hub = caller.hub
        let body = try await access.body(request, limit: Installation.maximumSize, .listen, of: hub)
        let installation = try InstallationJSONReader.installation(body: body, id: id)
        try await hub.service.putInstallation(installation, refusing: refusal(of: caller))
        return WebAnswer(.ok, [.contentLocation: request.address(request.trimmedPath)])
    }

    func get(_ id: String, of hub: String, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        let hub = try access.hub(hub, .listen, request)
        do throws(PushError) {
            return WebAnswer(.ok, InstallationJSON.contentType, InstallationJSON.document(try await hub.service.installation(id)))
        } catch {
            throw Self.renamed(error)
        }
    }

    func patch(_ id: String, of hub: String, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        let caller = try access.caller(hub, .listen, request)
        let hub = caller.hub
        let operations = try PatchJSON.operations(body: try await access.body(request, limit: Installation.maximumSize, .listen, of: hub))
        do throws(PushError) {
            try await hub.service.patchInstallation(id, operations, refusing: refusal(of: caller))
        } catch {
            throw Self.renamed(error)
        }
        return WebAnswer(.ok, [.contentLocation: request.address(request.trimmedPath)])
    }

    /// Responds with 204 even if there is no such installation.
    func delete(_ id: String, of hub: String, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        let hub = try access.hub(hub, .listen, request)
        try await hub.service.deleteInstallation(id)
        return WebAnswer(.noContent)
    }

    /// A check for changes of an installation's user. A device with a user receives what is sent to that user. With
    /// `hub.listen_user_id: refuse`, a key that has only Listen must not add a user to a channel that did not have it before:
    /// `installation.user_id` (403).
    private func refusal(of caller: HubCaller) -> @Sendable (InstallationChange) -> PushError? {
        guard access.policy.listenUserID == .refuse, !access.isTrusted, !caller.rule.allows(.send) else { return { _ in nil } }
        let key = caller.rule.name
        return { change in
            switch change.claim {
            case nil: nil
            case .user:
                PushError(
                    "installation.user_id", "the key \"\(key)\" has only the right Listen and cannot set a userId; nothing was changed",
                    hint: "have your own server write the installation with a key that has Send, or leave userId out; "
                        + "the setting is hub.listen_user_id", status: 403)
            case .channel:
                PushError(
                    "installation.user_id",
                    "the key \"\(key)\" has only the right Listen and cannot give an installation with a userId another pushChannel; "
                        + "nothing was changed",
                    hint: "remove the userId in the same request and have your own server set it again with a key that has Send; "
                        + "the setting is hub.listen_user_id", status: 403)
            }
        }
    }

    /// The error with the message that clients expect.
    private static func renamed(_ error: PushError) -> PushError {
        guard error.code == "hub.not_found" else { return error }
        return PushError("hub.not_found", "Installation not found", hint: nil, status: 404)
    }
}
