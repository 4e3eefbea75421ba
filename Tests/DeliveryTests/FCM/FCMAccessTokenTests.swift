import Delivery
import HTTPTypes
import PushModel
import Testing

@Suite("FCM access tokens")
struct FCMAccessTokenTests {
    private let clock = VirtualClock(now: Accounts.start)

    private func connector(_ transport: ScriptedTransport) throws -> FCMConnector {
        try FCMConnector(settings: Accounts.fcm, transport: transport, clock: clock)
    }

    @Test("A token is requested with a signed assertion, as a form")
    func grant() async throws {
        let transport = ScriptedTransport([])
        _ = await (try connector(transport)).deliver(.fcm())
        let grant = try #require(transport.grants.first)
        #expect(grant.request.authority == "oauth2.googleapis.com")
        #expect(grant.request.path == "/token")
        #expect(
            grant.headers == [
                "Content-Type: application/x-www-form-urlencoded", "Content-Length: \(grant.body.count)",
            ])
        let prefix = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
        #expect(grant.text.hasPrefix(prefix))
        let assertion = try #require(SignedToken(grant.text.dropFirst(prefix.count)))
        #expect(assertion.header["alg"] == "RS256")
        #expect(assertion.header["kid"] == "f00dfeed")
        #expect(
            assertion.claims == [
                "iss": "push@demo-project.iam.gserviceaccount.com",
                "scope": "https://www.googleapis.com/auth/firebase.messaging",
                "aud": "https://oauth2.googleapis.com/token", "iat": .integer(Accounts.start.seconds),
                "exp": .integer(Accounts.start.seconds + 3600),
            ])
        #expect(transport.pushes.first?.header("authorization") == "Bearer ya29.the-access-token")
    }

    @Test("A token is requested once, and again five minutes before it expires")
    func renewal() async throws {
        let transport = ScriptedTransport([])
        let connector = try connector(transport)
        _ = await connector.deliver(.fcm(tokens: ["a", "b"]))
        clock.advance(to: Accounts.start + .seconds(3598 - 300))
        _ = await connector.deliver(.fcm())
        #expect(transport.grants.count == 1)
        clock.advance(to: Accounts.start + .seconds(3599 - 300))
        _ = await connector.deliver(.fcm())
        #expect(transport.grants.count == 2)
    }

    @Test("Fifty concurrent deliveries make one request")
    func singleFlight() async throws {
        let transport = ScriptedTransport([])
        let connector = try connector(transport)
        await withTaskGroup { group in
            for _ in 0..<50 { group.addTask { _ = await connector.deliver(.fcm()) } }
        }
        #expect(transport.grants.count == 1)
        #expect(transport.pushes.count == 50)
    }

    @Test("A failed renewal has no effect while the old token is valid")
    func failedRenewal() async throws {
        let transport = ScriptedTransport(
            [],
            tokenAnswers: [
                .answer(200, [:], ScriptedTransport.grantedToken), .answer(503), .fail(.unknown("reset")), .answer(503),
            ])
        let connector = try connector(transport)
        _ = await connector.deliver(.fcm())
        clock.advance(to: Accounts.start + .seconds(3400))
        #expect(await connector.deliver(.fcm()).first?.rejection == nil)
        clock.advance(to: Accounts.start + .seconds(3598))
        #expect(await connector.deliver(.fcm()).first?.rejection == nil)
        clock.advance(to: Accounts.start + .seconds(3599))
        #expect(await connector.deliver(.fcm()).first?.rejection?.outcome == .pnsUnavailable)
        #expect(transport.grants.count == 4)
        #expect(transport.pushes.count == 3)
    }

    @Test("401 without FcmError renews it once and sends again")
    func refused() async throws {
        let refused = ScriptedTransport.Step.answer(401, [:], #"{"error":{"code":401,"status":"UNAUTHENTICATED"}}"#)
        let transport = ScriptedTransport([refused, .answer(200), refused, refused])
        let connector = try connector(transport)
        #expect(await connector.deliver(.fcm()).first?.rejection == nil)
        #expect(transport.grants.count == 2)
        clock.advance(to: Accounts.start + .seconds(1))
        let verdict = await connector.deliver(.fcm()).first
        #expect(transport.pushes.count == 4)
        #expect(verdict?.isRejected == true)
        #expect(verdict?.rejection?.outcome == .invalidCredentials)
    }

    @Test("401 with FcmError is about Google's credential for Apple: no renewal")
    func thirdParty() async throws {
        let text = #"""
            {"error":{"status":"UNAUTHENTICATED","details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError",
            "errorCode":"THIRD_PARTY_AUTH_ERROR"}]}}
            """#
        let transport = ScriptedTransport([.answer(401, [:], text)])
        #expect(await (try connector(transport)).deliver(.fcm()).first?.rejection?.reason == "THIRD_PARTY_AUTH_ERROR")
        #expect(transport.grants.count == 1)
    }

    @Test(
        "A rejected account is an error of the settings, a failing endpoint is not",
        arguments: [
            (400, #"{"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#, "invalid_grant", false),
            (401, #"{"error":"invalid_client"}"#, "invalid_client", false), (403, "<html>", "HTTP 403", false),
            (500, "", "HTTP 500", true), (429, "", "HTTP 429", true), (200, "{}", "MalformedTokenAnswer", true),
            (200, #"{"access_token":"a b"}"#, "MalformedTokenAnswer", true),
            (200, "gibberish", "MalformedTokenAnswer", true),
        ])
    func endpointAnswers(status: Int, text: String, reason: String, isTransient: Bool) async throws {
        let transport = ScriptedTransport([], tokenAnswer: .answer(status, [:], text))
        let verdict = try #require(await (try connector(transport)).deliver(.fcm()).first)
        #expect(transport.pushes.isEmpty)
        #expect(verdict.isTransient == isTransient)
        #expect(verdict.rejection?.reason == reason)
        if !isTransient { #expect(verdict.rejection?.outcome == .invalidCredentials) }
    }

    @Test("A key with escaped line breaks, as in the JSON file, is accepted")
    func escapedKey() throws {
        var settings = Accounts.fcm
        settings.privateKey = Secret(settings.privateKey.reveal().replacing("\n", with: "\\n"))
        _ = try FCMConnector(settings: settings, transport: ScriptedTransport([]), clock: clock)
    }

    @Test("A service account's file is read")
    func serviceAccount() throws {
        let file: JSON = [
            "type": "service_account", "project_id": "p", "private_key_id": "k", "private_key": "pem",
            "client_email": "e", "token_uri": "https://example.com/token",
        ]
        let settings = try FCMSettings(serviceAccount: file.serialized())
        #expect(settings.projectID == "p")
        #expect(settings.privateKeyID == "k")
        #expect(settings.clientEmail == "e")
        #expect(settings.privateKey == Secret("pem"))
        #expect(settings.tokenURI == "https://example.com/token")
        let error = #expect(throws: PushError.self) { try FCMSettings(serviceAccount: Array("{}".utf8)) }
        #expect(error?.code == "credential.invalid")
    }
}
