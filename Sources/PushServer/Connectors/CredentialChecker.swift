import Delivery
import PushModel
import WebAPI

/// Checks whether push services accept a hub's credentials. The checks address a device that cannot exist, so no device receives anything.
struct CredentialChecker: Sendable {
    private let connectors: HubConnectors

    init(_ connectors: HubConnectors) { self.connectors = connectors }

    func checks(of hub: HubRecord) async -> [CredentialCheck] {
        await withTaskGroup(of: CredentialCheck?.self) { group in
            for (kind, _) in PlatformCredential.Kind.senders { group.addTask { await check(kind, of: hub) } }
            var checks: [CredentialCheck] = []
            for await case let check? in group { checks.append(check) }
            return checks.sorted { $0.credential.platform < $1.credential.platform }
        }
    }

    private func check(_ kind: PlatformCredential.Kind, of hub: HubRecord) async -> CredentialCheck? {
        guard let state = connectors.state(kind, of: hub) else { return nil }
        do throws(PushError) {
            guard let settings = try connectors.settings(kind, of: hub) else { return nil }
            try settings.check(now: connectors.clock.now)
            return try await ask(settings, state.shown)
        } catch {
            // Details about the settings' files are shown to the operator only.
            return CredentialCheck(
                state.shown, isGood: false, finding: state.isFromSettings ? state.shown.fault ?? error.message : error.message,
                hint: error.hint)
        }
    }

    private func ask(_ settings: SenderSettings, _ credential: HubCredential) async throws(PushError) -> CredentialCheck {
        switch settings {
        case .apns:
            let batch = DeliveryBatch(
                notificationID: "check", platform: .apns, body: Array(#"{"aps":{"content-available":1}}"#.utf8),
                headers: [
                    PushHeader("apns-push-type", "background"), PushHeader("apns-priority", "5"), PushHeader("apns-expiration", "0"),
                ],
                handles: [.apns(token: String(repeating: "0", count: 64))])
            return CredentialCheck(credential, await deliver(batch, settings), endpoint: credential.address)
        case .fcm:
            let token = "\(String(repeating: "c", count: 22)):APA91b\(String(repeating: "x", count: 134))"
            let batch = DeliveryBatch(
                notificationID: "check", platform: .fcmV1, body: Array(#"{"message":{"data":{}},"validate_only":true}"#.utf8),
                handles: [.fcmV1(token: token)])
            return CredentialCheck(credential, await deliver(batch, settings), endpoint: credential.address)
        case .wns(let wns):
            let transport = connectors.transports.wns
            let endpoint = WebAddress(wns.tokenURI).map { transport.destination(of: $0.authority) }
            guard let refusal = try await wns.authenticate(over: transport, clock: connectors.clock) else {
                return CredentialCheck(credential, isGood: true, endpoint: endpoint, finding: "issued an access token")
            }
            return CredentialCheck(credential, refusal, endpoint: endpoint)
        case .webPush:
            return CredentialCheck(
                credential, isGood: true, finding: "the keys are a pair; the push services cannot be checked without a subscription")
        }
    }

    private func deliver(_ batch: DeliveryBatch, _ settings: SenderSettings) async -> Verdict {
        let connector: any Connector
        do throws(PushError) {
            connector = try connectors.connector(settings)
        } catch {
            return .rejected(Rejection(status: 0, reason: error.code, explanation: error.message, outcome: .invalidCredentials))
        }
        return await connector.deliver(batch).first ?? .unknown(reason: "no response")
    }
}

extension CredentialCheck {
    /// Rejections of the device, which prove that the service accepted the credential.
    private static let ofDevice: Set<OutcomeName> = [.badChannel, .expiredChannel, .wrongToken]

    /// - Parameter verdict: the verdict on a push to a device that cannot exist.
    init(_ credential: HubCredential, _ verdict: Verdict, endpoint: String?) {
        switch verdict {
        case .accepted: self.init(credential, isGood: true, endpoint: endpoint, finding: "it accepts pushes")
        case .rejected(let rejection) where Self.ofDevice.contains(rejection.outcome) && rejection.status > 0:
            self.init(
                credential, isGood: true, endpoint: endpoint,
                finding: "it accepts the credential (\(rejection.reason) for a made-up device)")
        case .rejected(let rejection):
            let isCredential = rejection.outcome == .invalidCredentials
            self.init(
                credential, isGood: false, endpoint: endpoint,
                finding: "it rejects\(isCredential ? " the credential" : ""): \(rejection.reason)",
                hint: rejection.explanation)
        case .transient(let rejection, _):
            self.init(
                credential, isGood: false, endpoint: endpoint, finding: "it did not check the credential: \(rejection.reason)",
                hint: rejection.explanation)
        case .unknown(let reason):
            self.init(
                credential, isGood: false, endpoint: endpoint, finding: "it received the request, but the response was lost: \(reason)",
                hint: "check again")
        }
    }
}
