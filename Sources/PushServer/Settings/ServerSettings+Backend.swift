import Crypto
import Delivery
import Lua
import PushBackend
import PushModel
import PushRuntime
import Storage
import WebAPI

extension ServerSettings {
    /// Creates the services of the app backend.
    ///
    /// - Parameter transport: the transport to the token issuer.
    func backendServices(
        _ environment: HubEnvironment, _ storage: any StorageEngine, _ key: SymmetricKey, _ transport: HTTPClientTransport
    ) throws(PushError) -> BackendServices {
        let accounts = try AccountService(
            environment: environment, store: storage.accounts, cost: isLab ? .rehearsal : .served, isTutorialMode: backend.isTutorialMode,
            wallClock: SystemClock(), hashing: { work throws(PushError) in try await Self.measured(work) })
        let payloads = try SecurePayloadService(
            environment: environment, store: storage.securePayloads, key: key, retention: keepSecurePayloads)
        return BackendServices(
            environment: environment, accounts: accounts, securePayloads: payloads, hub: backend.hub ?? hub, variant: backend.variant,
            issuer: backend.tokenIssuer(clock: SystemClock(), transport))
    }

    /// Hashes on another thread and charges the CPU time to the run that requested it, if any.
    private static func measured(_ work: @escaping @Sendable () throws(PushError) -> [UInt8]) async throws(PushError) -> [UInt8] {
        let (hash, time) = try await blocking { () throws(PushError) -> ([UInt8], Int) in
            let began = RunAccount.threadTime()
            return (try work(), RunAccount.threadTime() - began)
        }
        RunAccount.current?.note(.cpu, time)
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
