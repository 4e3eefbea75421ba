import Crypto
import CryptoExtras

/// Keys and secrets of one app for every platform, which an operator would get from the developer portals and which the simulators trust.
package struct SimulatorCredentials: Sendable {
    let apnsKey: P256.Signing.PrivateKey
    let fcmKey: _RSA.Signing.PrivateKey
    let applicationServerKey: P256.Signing.PrivateKey
    let windowsSecret: String

    static let teamID = "SIMULATED1"
    static let keyID = "SIMULATED1"
    /// The app's bundle id, package name and name on Windows.
    package static let app = "dev.pushhost.simulated"
    static let projectID = "pushhost-simulated"
    static let clientEmail = "hub@pushhost-simulated.iam.gserviceaccount.com"
    static let packageSID = "ms-app://s-1-15-2-1001-2002-3003-4004-5005-6006-7007"
    private static let subject = "mailto:hub@pushhost-simulated.example"

    /// Creates new keys; `nil` if RSA key generation fails.
    package init?(random: SimulatorRandom) {
        guard let fcmKey = try? _RSA.Signing.PrivateKey(keySize: .bits2048) else { return nil }
        self.fcmKey = fcmKey
        apnsKey = P256.Signing.PrivateKey()
        applicationServerKey = P256.Signing.PrivateKey()
        windowsSecret = random.base64URL(24)
    }

    /// Loads keys from a value of `text`; `nil` for other text.
    package init?(text: [UInt8]) {
        guard let json = JSONValue(text), let apns = json["apns"]?["private_key"]?.string,
            let fcm = json["fcm"]?["private_key"]?.string, let secret = json["wns"]?["client_secret"]?.string,
            let browser = json["browser"]?["private_key"]?.string, !secret.isEmpty,
            let apnsKey = try? P256.Signing.PrivateKey(pemRepresentation: apns),
            let fcmKey = try? _RSA.Signing.PrivateKey(pemRepresentation: fcm),
            let applicationServerKey = try? P256.Signing.PrivateKey(pemRepresentation: browser)
        else { return nil }
        self.apnsKey = apnsKey
        self.fcmKey = fcmKey
        self.applicationServerKey = applicationServerKey
        windowsSecret = secret
    }

    /// Issues push certificates that the simulated APNs accepts.
    var apnsAuthority: APNsCertificateAuthority { APNsCertificateAuthority(seed: apnsKey) }

    /// The credentials as JSON: `apns` (`team_id`, `key_id`, `private_key`, `topic`, `environment`), `fcm` (a service account file), `wns`
    /// (`package_sid`, `client_secret`, `token_uri`, `channel_hosts`), `browser` (`subject`, `public_key`, `private_key`, `origin`). Keys
    /// are PEM, except the public key: base64url of 65 bytes.
    package var text: String { json(at: ServiceAddress()).text }

    /// The public key: 65 bytes, uncompressed.
    var applicationServerPublicKey: [UInt8] { Array(applicationServerKey.publicKey.x963Representation) }

    /// The credentials as JSON, with the addresses that clients reach the services at.
    func json(at address: ServiceAddress) -> JSONValue {
        let tokenHost = address.authority(of: .fcm) ?? "oauth2.googleapis.com"
        let channelHosts = ["*.notify.windows.com"] + (address.authority(of: .wns).map { [$0] } ?? [])
        return JSONValue(members: [
            "apns": JSONValue(members: [
                "team_id": .string(Self.teamID), "key_id": .string(Self.keyID),
                "private_key": .string(apnsKey.pemRepresentation), "topic": .string(Self.app),
                "environment": .string(APNsEnvironment.production.rawValue),
            ]),
            "fcm": JSONValue(members: [
                "type": .string("service_account"), "project_id": .string(Self.projectID),
                "private_key_id": .string(Self.keyID), "private_key": .string(fcmKey.pkcs8PEMRepresentation),
                "client_email": .string(Self.clientEmail), "token_uri": .string("https://\(tokenHost)/token"),
            ]),
            "wns": JSONValue(members: [
                "package_sid": .string(Self.packageSID), "client_secret": .string(windowsSecret),
                "token_uri": .string("https://\(address.authority(of: .wns) ?? "login.live.com")/accesstoken.srf"),
                "channel_hosts": .array(channelHosts.map { .string($0) }),
            ]),
            "browser": JSONValue(members: [
                "subject": .string(Self.subject), "public_key": .string(Base64URL.text(applicationServerPublicKey)),
                "private_key": .string(applicationServerKey.pemRepresentation),
                "origin": .string("https://\(address.authority(of: .browser) ?? HandleGenerator.endpointHost)"),
            ]),
        ])
    }
}
