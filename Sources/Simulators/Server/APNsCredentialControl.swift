import Crypto
import HTTPTypes

/// The paths of the control plane for APNs credentials: push certificates and signing keys.
struct APNsCredentialControl {
    let site: SimulatedSite

    /// A PEM file.
    static func file(_ text: String) -> Answer {
        var fields = HTTPFields()
        fields.add("content-type", "application/x-pem-file")
        return (HTTPResponse(status: .ok, headerFields: fields), Array(text.utf8))
    }

    /// A new push certificate of the app for both environments, with its key, as one PEM file.
    var pushCertificate: Answer {
        get throws(ControlRefusal) {
            let issued = try issued([SimulatorCredentials.app], environment: nil, lifetime: nil)
            return Self.file(issued.certificate + issued.key)
        }
    }

    /// Issues a push certificate, also an invalid one for tests.
    func issueCertificate(_ fields: JSONObject) throws(ControlRefusal) -> Answer {
        try fields.check(allowing: ["topics", "environment", "expires_in"])
        let issued = try issued(
            try fields.optionalTexts("topics") ?? [SimulatorCredentials.app],
            environment: try fields.optionalEnvironment("environment"), lifetime: try fields.optionalSeconds("expires_in"))
        return answer(
            201, json: JSONValue(members: ["certificate": .string(issued.certificate), "private_key": .string(issued.key)]))
    }

    /// - Parameter lifetime: Seconds from now; `nil` for a year.
    private func issued(
        _ topics: [String], environment: APNsEnvironment?, lifetime: Int64?
    ) throws(ControlRefusal) -> (certificate: String, key: String) {
        let now = site.clock.seconds
        var order = APNsCertificateAuthority.Order(topics: topics, from: now - 86_400, until: now + (lifetime ?? 365 * 86_400))
        if let environment { order.environments = [environment] }
        guard order.until >= order.from, let issued = site.credentials.apnsAuthority.issue(order) else {
            throw .request(
                "the certificate cannot be created",
                hint: "give bundle ids as topics, with their suffixes if any")
        }
        return issued
    }

    /// Creates a signing key, of the app's team or of another one; `topics` restricts its use.
    func makeKey(_ fields: JSONObject) throws(ControlRefusal) -> Answer {
        try fields.check(allowing: ["team_id", "environment", "topics"])
        let team = try fields.optionalText("team_id") ?? SimulatorCredentials.teamID
        guard team.utf8.count == 10, team.utf8.allSatisfy(Self.isIdentifierByte) else {
            throw .request(
                "invalid \"team_id\" \"\(team)\"", hint: "use ten capital letters and digits; omit it for the app's team")
        }
        let topics = try fields.optionalTexts("topics").map { Set($0) }
        let made = site.makeKey(team: team, environment: try fields.optionalEnvironment("environment"), topics: topics)
        return answer(
            201,
            json: JSONValue(members: [
                "team_id": .string(team), "key_id": .string(made.id), "private_key": .string(made.key.pemRepresentation),
            ]))
    }

    /// Revokes a signing key: its tokens are `InvalidProviderToken` from now on.
    func revokeKey(_ id: String) throws(ControlRefusal) -> Answer {
        guard site.revokeKey(id) else {
            throw ControlRefusal(
                404, "simulator.path", "unknown key \"\(id)\"", hint: "GET /credentials shows the first key; POST /keys creates others")
        }
        return answer(200, json: JSONValue(members: ["key_id": .string(id)]))
    }

    private static func isIdentifierByte(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
