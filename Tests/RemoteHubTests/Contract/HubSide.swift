import PushModel
import Support

/// The implementations of ``HubGateway`` that must satisfy its contract: the hub in this process and remote ones.
enum HubSide: CaseIterable {
    case embedded
    /// A PushHost, with features beyond the interface of Azure.
    case pushHost
    /// The same, with sends through the JSON API.
    case pushHostJSON
    /// The same hub through the interface of Azure alone.
    case azure

    struct Bench {
        let hub: any HubGateway
        let connector: ScriptedConnector
        let clock: VirtualClock

        func register(_ handle: DeviceHandle, _ tags: String..., template: String? = nil) async throws -> Registration {
            try await hub.putRegistration(
                try await hub.createRegistrationID(),
                RegistrationDescription(
                    handle: handle, tags: try tags.map { try Tag($0) },
                    template: try template.map { try RegistrationTemplate(body: $0, platform: handle.platform) }), ifMatch: nil)
        }
    }

    func run(_ body: (Bench) async throws -> Void) async throws {
        switch self {
        case .embedded:
            let bench = try HubBench()
            try await body(Bench(hub: bench.hub, connector: bench.connector, clock: bench.clock))
        case .pushHost, .pushHostJSON, .azure:
            try await ServedNamespace.serving { served in
                try await body(
                    Bench(
                        hub: served.hub(isPushHost: self != .azure, usesJSONInterface: self == .pushHostJSON), connector: served.connector,
                        clock: served.clock))
            }
        }
    }
}
