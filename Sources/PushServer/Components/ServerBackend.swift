import Delivery
import Logging
import Lua
import PushBackend
import PushHub
import PushModel
import PushRuntime
import Storage
import WebAPI

/// The app backend of a server.
package struct ServerBackend: Sendable {
    let services: BackendServices
    private let context: ServerContext

    /// - Parameter connections: have the transport to the token issuer.
    init(
        _ environment: HubEnvironment, _ inputs: StartupInputs, _ storage: ServerStorage, _ connections: OutgoingConnections,
        _ sendGuard: SendGuard, _ context: ServerContext
    ) throws(PushError) {
        let settings = context.settings.current
        let backend = settings.backend
        let accounts = try AccountService(
            environment: environment, store: storage.engine.accounts, cost: settings.isLab ? .rehearsal : .served,
            isTutorialMode: backend.isTutorialMode, wallClock: SystemClock(),
            hashing: { work throws(PushError) in try await Self.measured(work) })
        let payloads = try SecurePayloadService(
            environment: environment, store: storage.engine.securePayloads, key: inputs.payloadKey,
            retention: settings.keepSecurePayloads)
        services = BackendServices(
            environment: environment, accounts: accounts, securePayloads: payloads, hub: backend.hub ?? settings.hub,
            variant: backend.variant, issuer: backend.tokenIssuer(clock: SystemClock(), connections.issuer)
        ).guarded(by: sendGuard)
        self.context = context
    }

    /// Logs what the app backend cannot do with the current settings, keys and hubs.
    func check(_ namespace: Namespace) async {
        let (settings, log) = (context.settings.current, context.log)
        if let name = settings.backend.hub, namespace.hub(name) == nil {
            let absence = BackendSettings.absence(of: name, among: namespace.hubs.map(\.record.name))
            log.warning("\(absence.finding); \(absence.hint)")
        }
        do throws(PushError) {
            let count = try await services.securePayloads.sealedWithOtherKey()
            if count > 0 { log.warning("\(PayloadKeyFile(settings).warning(count)); \(PayloadKeyFile.remedy)") }
        } catch {
            log.warning("cannot check whether secure payloads can be decrypted: \(error.message)")
        }
        do throws(PushError) {
            let count = try await services.accounts.countWeakHashes()
            if count > 0 { log.warning("\(WeakPasswordHashes.finding(count)); \(WeakPasswordHashes.remedy)") }
        } catch {
            log.warning("cannot check for accounts of a lab: \(error.message)")
        }
    }

    /// Hashes on another thread and charges the CPU time to the run that requested it, if any.
    private static func measured(_ work: @escaping @Sendable () throws(PushError) -> [UInt8]) async throws(PushError) -> [UInt8] {
        let (hash, time) = try await blocking { () throws(PushError) -> ([UInt8], Int) in
            let began = RunAccount.threadTime()
            return (try work(), RunAccount.threadTime() - began)
        }
        ChargedWork.run?.charge(cpuTime: time)
        return hash
    }
}

extension BackendSettings {
    /// The token issuer; nil if none is set.
    fileprivate func tokenIssuer(clock: any HubClock, _ transport: HTTPClientTransport) -> TokenIssuer? {
        guard let issuer, let audience, let source = keys.flatMap(IssuerKeySource.init) else { return nil }
        return TokenIssuer(
            name: issuer, audience: audience, usernameClaim: usernameClaim, clockSkew: clockSkew,
            keys: IssuerKeys(clock: clock) { () throws(PushError) in try await source.fetch(over: transport) })
    }
}
