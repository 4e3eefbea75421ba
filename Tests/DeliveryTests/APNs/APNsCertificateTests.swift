import Delivery
import PushModel
import Testing

@Suite struct APNsCertificateTests {
    private func push(
        _ certificate: SenderCertificate, _ batch: DeliveryBatch, topic: String? = nil
    ) async throws -> (ScriptedTransport, Verdict?) {
        let transport = ScriptedTransport([])
        let connector = try APNsConnector(
            settings: APNsSettings(certificate: try certificate.loaded(), topic: topic), transport: transport,
            clock: VirtualClock(now: Accounts.start))
        let verdict = await connector.deliver(batch).first
        return (transport, verdict)
    }

    @Test func `A certificate states its topics, environments and expiry`() throws {
        let certificate = try SenderCertificate().loaded()
        #expect(certificate.topics == ["com.example.app", "com.example.app.voip", "com.example.app.complication"])
        #expect(certificate.environments == [.production, .development])
        #expect(certificate.userID == "com.example.app" && certificate.bundleID == "com.example.app")
        #expect(certificate.expires == Accounts.start + .seconds(90 * 86_400))
        let old = try SenderCertificate(topics: nil, userID: "com.example.old", marks: [SenderCertificate.development]).loaded()
        #expect(old.topics == ["com.example.old"] && old.environments == [.development])
        let strange = try SenderCertificate(topics: nil, userID: nil, marks: []).loaded()
        #expect(strange.topics.isEmpty && strange.environments.isEmpty && strange.bundleID == nil)
    }

    @Test(
        arguments: [
            (["com.example.voip"], false, "com.example.voip"), (["com.example.app.voip"], true, "com.example.app"),
            (["a.b", "a.b.voip", "a.b.push-type.liveactivity"], false, "a.b"), (["a.b", "a.c"], false, nil),
        ] as [([String], Bool, String?)])
    func `The bundle id is known when all topics belong to one app`(topics: [String], isVoIP: Bool, bundleID: String?) throws {
        let marks = [SenderCertificate.production] + (isVoIP ? [SenderCertificate.voip] : [])
        #expect(try SenderCertificate(topics: topics, marks: marks).loaded().bundleID == bundleID)
    }

    @Test func `Requests have no token, and their topic follows from the push type`() async throws {
        let certificate = try SenderCertificate()
        let (transport, verdict) = try await push(certificate, .apns(headers: [PushHeader("apns-push-type", "voip")]))
        let request = try #require(transport.pushes.first)
        #expect(request.header("authorization") == nil && request.header("apns-topic") == "com.example.app.voip")
        #expect(verdict?.rejection == nil)
        let (other, _) = try await push(certificate, .apns(), topic: "com.example.other")
        #expect(other.pushes.first?.header("apns-topic") == "com.example.other")
    }

    @Test func `A device management push has the topic of the certificate's subject`() async throws {
        let certificate = try SenderCertificate(topics: nil, userID: "com.apple.mgmt.External.1234")
        let (transport, _) = try await push(
            certificate, .apns(#"{"mdm":"magic"}"#, headers: [PushHeader("apns-push-type", "mdm")]), topic: "com.example.app")
        #expect(transport.pushes.first?.header("apns-topic") == "com.apple.mgmt.External.1234")
    }

    @Test func `A location push is refused: it needs a token`() async throws {
        let (transport, verdict) = try await push(try SenderCertificate(), .apns(headers: [PushHeader("apns-push-type", "location")]))
        #expect(transport.all.isEmpty && verdict?.isRejected == true)
        #expect(verdict?.rejection?.reason == "InvalidPushType" && verdict?.rejection?.explanation.contains("signing key") == true)
    }

    @Test func `Nothing is sent with an expired certificate`() async throws {
        let (transport, verdict) = try await push(try SenderCertificate(end: Accounts.start), .apns())
        #expect(transport.all.isEmpty)
        #expect(verdict?.rejection?.reason == "BadCertificate" && verdict?.rejection?.outcome == .invalidCredentials)
        #expect(verdict?.rejection?.explanation.contains("2026-01-05T08:00:00Z") == true)
        let (later, _) = try await push(try SenderCertificate(end: Accounts.start + .seconds(1)), .apns())
        #expect(later.pushes.count == 1)
    }

    @Test func `The environment is the given one or the certificate's, and must be one that the certificate allows`() throws {
        let development = try SenderCertificate(marks: [SenderCertificate.development]).loaded()
        #expect(try APNsSettings(certificate: development).environment == .development)
        let both = try SenderCertificate().loaded()
        #expect(try APNsSettings(certificate: both).environment == .production)
        #expect(try APNsSettings(certificate: both, environment: .development).environment == .development)
        let error = #expect(throws: PushError.self) { try APNsSettings(certificate: development, environment: .production) }
        #expect(error?.message == "the certificate is only for development, but notifications go to production")
    }

    @Test func `A certificate for several apps needs a topic`() throws {
        let certificate = try SenderCertificate(topics: ["a.b", "a.c"]).loaded()
        let error = #expect(throws: PushError.self) { try APNsSettings(certificate: certificate) }
        #expect(error?.message == "the certificate is not for exactly one app (a.b, a.c)")
        #expect(try APNsSettings(certificate: certificate, topic: "a.c").topic == "a.c")
    }

    @Test func `A certificate signs no provider tokens`() throws {
        let settings = try APNsSettings(certificate: try SenderCertificate().loaded())
        let error = #expect(throws: PushError.self) {
            try APNsProviderToken(settings: settings, clock: VirtualClock(now: Accounts.start))
        }
        #expect(error?.code == "credential.invalid")
    }
}
