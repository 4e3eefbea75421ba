import Crypto
import Delivery
import PushModel
import Testing

/// Faults of a sender's credential that are found without a call to the push service.
@Suite struct SettingsCheckTests {
    private static let p256 = P256.Signing.PrivateKey()

    private func refusal(_ check: () throws(PushError) -> Void) -> String? {
        let error = #expect(throws: PushError.self) { try check() }
        #expect(error?.code == "credential.invalid" && error?.status == 400 && error?.hint?.isEmpty == false)
        return error?.message
    }

    @Test func `The credentials of the tests are valid`() throws {
        try Accounts.fcm.check()
        try Accounts.webPush.check()
        try WNSSettings(packageSID: "ms-app://s-1-15-2-1-2-3-4-5-6-7", clientSecret: Secret("s3cret/+")).check()
    }

    // MARK: - FCM

    @Test(arguments: [
        ("", "the service account is not JSON: it is empty"), ("{}", "this is not a service account: it has no type"),
        ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", "the service account is not JSON: it is a private key"),
        (#"{"project_info": {}, "client": []}"#, "this is not a service account: it is google-services.json, which is for building apps"),
        (#"{"type": "authorized_user"}"#, #"this is not a service account: its type is "authorized_user""#),
        (#"{"type": "service_account"}"#, "the service account has no project_id"),
        (#"{"type": "service_account", "project_id": "p", "client_email": "a@b"}"#, "the service account has no private_key"),
    ])
    func `A file that is not a service account is reported with what it is`(file: String, why: String) {
        #expect(refusal { () throws(PushError) in _ = try FCMSettings(serviceAccount: Array(file.utf8)) } == why)
    }

    @Test func `Each field of a service account must have the form that Google uses`() {
        func changed(_ change: (inout FCMSettings) -> Void) -> String? {
            var settings = Accounts.fcm
            change(&settings)
            return refusal { () throws(PushError) in try settings.check() }
        }
        #expect(changed { $0.projectID = "My Project" } == #"invalid project id "My Project""#)
        #expect(changed { $0.clientEmail = "hub" } == #"invalid service account address "hub""#)
        #expect(
            changed { $0.tokenURI = "http://oauth2.googleapis.com/token" } == "the token URI of the service account is not an https: URI")
        let isNoKey = "the private key of the service account is not an RSA key in PEM: "
        #expect(changed { $0.privateKey = Secret(Self.p256.pemRepresentation) } == isNoKey + "it is another kind of key, or damaged")
        #expect(changed { $0.privateKey = Secret("abc") } == isNoKey + "it is not PEM")
    }

    // MARK: - WNS

    @Test(arguments: [
        ("s-1-15-2-1-2-3", "it must begin with ms-app://"),
        (
            "0f8fad5b-d9cb-469f-a165-70867728950e",
            "it is the id of an Azure app registration; apps with such channels are not supported"
        ),
        ("ms-app://s-1-15-2-", "it is not ms-app://s-1-15-2- followed by numbers"),
        ("ms-app://s-1-15-2-1-x", "it is not ms-app://s-1-15-2- followed by numbers"),
    ])
    func `A package SID must be one of the Store`(sid: String, why: String) {
        let settings = WNSSettings(packageSID: sid, clientSecret: Secret("s"))
        #expect(refusal { () throws(PushError) in try settings.check() } == "invalid package SID \"\(sid)\": \(why)")
    }

    @Test func `A client secret is one word, and errors do not show it`() {
        for (secret, why) in [("", "is empty"), ("UNSPEAKABLE\n", "contains whitespace or non-ASCII characters")] {
            let settings = WNSSettings(packageSID: "ms-app://s-1-15-2-1-2-3", clientSecret: Secret(secret))
            #expect(refusal { () throws(PushError) in try settings.check() } == "the client secret \(why)")
        }
    }

    // MARK: - Web Push

    @Test func `A VAPID key is PEM or 32 bytes, and gives the public key`() throws {
        let raw = Base64URL.encode(Self.p256.rawRepresentation)
        for text in [raw, raw + "\n", raw + "=", Self.p256.pemRepresentation, Self.p256.pemRepresentation.replacing("\n", with: "\r\n")] {
            let settings = try WebPushSettings(subject: "mailto:a@b.example", privateKey: Secret(text))
            #expect(settings.publicKey == Base64URL.encode(Self.p256.publicKey.x963Representation))
            try settings.check()
        }
        let made = try WebPushSettings(subject: "https://example.com/contact", privateKey: WebPushSettings.newKey())
        try made.check()
        #expect(Base64URL.decode(made.publicKey)?.count == 65)
    }

    @Test func `An invalid VAPID key, key pair or contact is refused`() {
        let publicKey = Base64URL.encode(Self.p256.publicKey.x963Representation)
        for (text, why) in [
            (publicKey, "it is a public key"), ("AAAA", "it has 3 bytes"), ("", "it is empty"),
            (Accounts.fcm.privateKey.reveal(), "it is another kind of key, or damaged"),
        ] {
            #expect(
                refusal { () throws(PushError) in _ = try WebPushSettings(subject: "mailto:a@b", privateKey: Secret(text)) }
                    == "the private VAPID key is not a P-256 key: \(why)")
        }
        let raw = Secret(Base64URL.encode(Self.p256.rawRepresentation))
        let other = Base64URL.encode(P256.Signing.PrivateKey().publicKey.x963Representation)
        let mixed = WebPushSettings(subject: "mailto:a@b", publicKey: other, privateKey: raw)
        #expect(refusal { () throws(PushError) in try mixed.check() } == "the public VAPID key does not belong to the private one")
        for subject in ["", "a@b.example", "mailto:", "mailto:a", "http://example.com", "https:"] {
            let settings = WebPushSettings(subject: subject, publicKey: publicKey, privateKey: raw)
            #expect(
                refusal { () throws(PushError) in try settings.check() }
                    == "the subject of Web Push is neither a mailto: nor an https: URI", "\(subject)")
        }
    }

    // MARK: - APNs

    @Test func `The ids of a signing key have ten characters, and the topic is one word`() {
        let now = Accounts.start
        func changed(keyID: String = "KEY1234567", teamID: String = "TEAM123456", topic: String = "com.example.app") -> String? {
            let settings = APNsSettings(
                teamID: teamID, keyID: keyID, privateKey: Secret(Self.p256.pemRepresentation), topic: topic)
            return refusal { () throws(PushError) in try settings.check(now: now) }
        }
        #expect(changed(keyID: "AuthKey_KEY1234567") == #"invalid key id "AuthKey_KEY1234567""#)
        #expect(changed(teamID: "TEAM") == #"invalid team id "TEAM""#)
        #expect(changed(topic: "my app") == #"invalid bundle id "my app""#)
    }

    @Test func `A certificate must be unexpired and for the topic`() throws {
        let end = Accounts.start + .seconds(3600)
        let settings = try APNsSettings(certificate: try SenderCertificate(topics: ["com.example.app"], end: end).loaded())
        try settings.check(now: Accounts.start)
        #expect(
            refusal { () throws(PushError) in try settings.check(now: end) }
                == "the certificate expired on \(end.iso8601(fraction: false))")
        var other = settings
        other.topic = "com.example.other"
        #expect(
            refusal { () throws(PushError) in try other.check(now: Accounts.start) }
                == "the certificate is not for com.example.other, but for com.example.app")
    }
}
