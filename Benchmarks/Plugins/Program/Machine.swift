import Bindings
import Glibc
import PushModel

/// The machine's clock.
struct WallClock: HubClock {
    var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    func sleep(until deadline: Timestamp) async throws {
        let rest = deadline - now
        if rest > .zero { try await Task.sleep(for: rest) }
    }
}

/// Accepts every push.
struct Willing: Connector {
    let platforms: Set<Platform> = [.apns]

    func deliver(_ batch: DeliveryBatch) async -> [Verdict] { batch.handles.map { _ in .accepted(id: nil) } }
}

struct NoSecrets: SecretSource {
    var names: [String] { [] }
    func secret(named name: String, for script: FlowScript) throws(PushError) -> Secret? { nil }
    func searchedLocations(for name: String) -> String { "" }
}

struct NoZones: TimeZoneSource {
    var names: [String] { ["UTC"] }
    func rules(of name: String) throws(PushError) -> TimeZoneRules { .utc }
}

/// Provides no users.
struct UnavailableBackend: BackendGateway {
    private static let missing = PushError("target.unsupported", "there is no app backend here")

    func ensureAccount(username: String, password: Secret) async throws(PushError) -> AccountState { throw Self.missing }
    func login(username: String, password: Secret) async throws(PushError) -> Session { throw Self.missing }
    func logout(_ session: Session) async throws(PushError) { throw Self.missing }
    func registrationID(_ session: Session, handle: DeviceHandle) async throws(PushError) -> RegistrationID { throw Self.missing }
    func putRegistration(
        _ session: Session, _ id: RegistrationID, _ description: RegistrationDescription
    ) async throws(PushError) -> Registration { throw Self.missing }
    func deleteRegistration(_ session: Session, _ id: RegistrationID) async throws(PushError) { throw Self.missing }
    func registerCurrentUser(
        _ session: Session, installationID: String, handle: DeviceHandle
    ) async throws(PushError) -> CurrentUserRegistration { throw Self.missing }
    func notify(
        _ session: Session, username: String, text: String, platform: Platform?
    ) async throws(PushError) -> NotificationOutcome { throw Self.missing }
    func sendSecure(_ session: Session, _ request: SecureRequest) async throws(PushError) -> SecureReceipt { throw Self.missing }
    func securePayload(_ session: Session, id: String) async throws(PushError) -> JSON { throw Self.missing }
    func revokeSecurePayload(_ session: Session, id: String) async throws(PushError) { throw Self.missing }
    func secureReads(_ session: Session, id: String) async throws(PushError) -> [SecureRead] { throw Self.missing }
}
