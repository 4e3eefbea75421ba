import Crypto
import Foundation
import HTTPTypes
import Testing

@testable import Simulators

/// Checks of APNs, each with a valid request and one change that only this check refuses.
@Suite struct APNsCheckTests {
    let bench = APNsBench()

    @Test(
        arguments: [
            ("authorization", nil), ("apns-id", nil), ("apns-topic", nil), ("apns-push-type", nil), ("apns-expiration", "1900000000"),
            ("apns-priority", "10"), ("apns-collapse-id", "a"), ("apns-channel-id", "a"),
            ("apns-request-id", "123e4567-e89b-12d3-a456-4266554400a1"),
        ] as [(String, String?)])
    func `each of the fields may occur once`(name: String, value: String?) async throws {
        let given = try #require(HTTPField.Name(name).flatMap { bench.request().headerFields[$0] } ?? value)
        #expect(try await bench.verdict { $0.set(name, given) } == "200")
        let verdict = try await bench.verdict {
            $0.set(name, given)
            $0.add(name, given)
        }
        #expect(verdict == "400 DuplicateHeaders")
    }

    @Test func `an empty topic counts as missing`() async throws {
        #expect(try await bench.verdict { $0.set("apns-topic", "") } == "400 MissingTopic")
    }

    @Test func `an allowed topic must still have the form of a topic`() async throws {
        for topic in ["com_example", "com.example.\u{e9}", "com.example news"] {
            bench.simulator.allow(topic: topic)
            #expect(try await bench.verdict { $0.set("apns-topic", topic) } == "400 BadTopic")
        }
    }

    @Test func `an app of another team is refused even if its phone is in the path`() async throws {
        let phone = bench.lab.addPhone(PhoneDescription(name: "bob", platform: .apns, app: PhoneApp("com.other.app")))
        let path = "/3/device/\(bench.lab.pushHandle(of: phone) ?? "")"
        func verdict() async throws -> String {
            try await bench.verdict {
                $0.path = path
                $0.set("apns-topic", "com.other.app")
            }
        }
        #expect(try await verdict() == "400 TopicDisallowed")
        bench.simulator.allow(topic: "com.other.app")
        #expect(try await verdict() == "200")
    }

    @Test(arguments: [("background", "1", "5"), ("liveactivity", "1", "5"), ("liveactivity", "1", "10")])
    func `a priority must be allowed for the push type`(type: String, bad: String, good: String) async throws {
        for (priority, verdict) in [(bad, "400 BadPriority"), (good, "200")] {
            let answer = try await bench.verdict {
                $0.set("apns-push-type", type)
                $0.set("apns-topic", APNsBench.topic + (type == "background" ? "" : ".push-type.liveactivity"))
                $0.set("apns-priority", priority)
            }
            #expect(answer == verdict)
        }
    }

    @Test func `a path without a device token is refused`() async throws {
        #expect(try await bench.verdict { $0.path = "/3/device" } == "400 MissingDeviceToken")
    }

    /// When handles are adopted, only its form can make a device token invalid.
    @Test func `a device token is a whole number of bytes in hexadecimal, 32 or more`() async throws {
        let lab = PhoneLab(clock: bench.time.clock, random: bench.time.random, adoption: HandleAdoption())
        let simulator = APNsSimulator(
            lab: lab, clock: bench.time.clock, random: bench.time.random,
            settings: APNsSimulatorSettings(
                teamID: "TEAM123456", keys: ["KEY1234567": .init(publicKey: bench.key.publicKey)], topics: [APNsBench.topic],
                environment: .production))
        let good = String(repeating: "0123456789abcdef", count: 4)
        for (token, verdict) in [
            (good, 200), (good.uppercased(), 200), (good + "00", 200), (good.dropLast() + "g", 400), (good + "0", 400),
            (String(good.dropLast(2)), 400), (String(repeating: good, count: 3) + "00000000", 200),
            (String(repeating: good, count: 3) + "0000000000", 400),
        ] {
            var request = bench.request()
            request.path = "/3/device/\(token)"
            let reply = Reply(await simulator.handle(request, body: Array(#"{"aps":{}}"#.utf8)))
            #expect(reply.status == verdict, "\(token)")
            if verdict == 400 { #expect(reply.member("reason") == "BadDeviceToken") }
        }
    }

    // MARK: - Authentication

    @Test(
        arguments: [
            (#"{"alg":"ES256","kid":"KEY1234567"}"#, #""iss":"TEAM123456","iat":NOW"#, "200"),
            (#"{"alg":"ES256"}"#, #""iss":"TEAM123456","iat":NOW"#, "403 InvalidProviderToken"),
            (#"{"alg":"ES256","kid":"KEY1234567"}"#, #""iat":NOW"#, "403 InvalidProviderToken"),
            (#"{"alg":"ES256","kid":"KEY1234567"}"#, #""iss":"TEAM123456""#, "403 InvalidProviderToken"),
            (#"{"alg":"ES256","kid":"KEY1234567"}"#, #""iss":"TEAM123456","iat":"NOW""#, "200"),
            (#"{"kid":"KEY1234567"}"#, #""iss":"TEAM123456","iat":NOW"#, "403 InvalidProviderToken"),
            (#"{"alg":"ES384","kid":"KEY1234567"}"#, #""iss":"TEAM123456","iat":NOW"#, "403 InvalidProviderToken"),
        ])
    func `a token has its key, its team and its time`(header: String, claims: String, verdict: String) async throws {
        let claims = "{\(claims.replacing("NOW", with: String(bench.time.seconds)))}"
        let token = try TokenText.es256(header: header, claims: claims, key: bench.key)
        #expect(try await bench.verdict { $0.set("authorization", "bearer \(token)") } == verdict)
    }

    @Test func `a key for one environment is valid only there`() async throws {
        let key = P256.Signing.PrivateKey()
        let token = try bench.token(header: #"{"alg":"ES256","kid":"ONEWORLD12"}"#, key: key)
        for (environment, verdict) in [(APNsEnvironment.development, "403 BadEnvironmentKeyIdInToken"), (.production, "200")] {
            bench.simulator.trust(key: key.publicKey, kid: "ONEWORLD12", environment: environment)
            #expect(try await bench.verdict { $0.set("authorization", "bearer \(token)") } == verdict)
        }
    }

    @Test func `a key for some topics is invalid for others`() async throws {
        let key = P256.Signing.PrivateKey()
        let token = try bench.token(header: #"{"alg":"ES256","kid":"SOMETOPICS"}"#, key: key)
        for (topics, verdict) in [(Set<String>(), "400 TopicDisallowed"), ([APNsBench.topic], "200")] {
            bench.simulator.trust(key: key.publicKey, kid: "SOMETOPICS", topics: topics)
            #expect(try await bench.verdict { $0.set("authorization", "bearer \(token)") } == verdict)
        }
    }

    @Test(
        arguments: [
            ([.production], -10, 10, nil), ([.production], -10, 0, nil), ([.production], 0, 10, nil),
            ([.production], -10, -1, "BadCertificate"), ([.production], 1, 10, "BadCertificate"), ([], -10, 10, "BadCertificate"),
            ([.development], -10, 10, "BadCertificateEnvironment"), ([.development, .production], -10, 10, nil),
        ] as [(Set<APNsEnvironment>, Int64, Int64, String?)])
    func `a certificate is valid for its time and its environments`(
        environments: Set<APNsEnvironment>, from: Int64, until: Int64, reason: String?
    ) throws {
        let authority = APNsCertificateAuthority(seed: P256.Signing.PrivateKey())
        let now = bench.time.seconds
        let order = APNsCertificateAuthority.Order(
            topics: [APNsBench.topic], environments: environments, from: now + from, until: now + until)
        let pem = try #require(authority.issue(order)).certificate.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        let der = [UInt8](try #require(Data(base64Encoded: pem.joined())))
        func verdict(_ certificate: APNsPushCertificate) -> String? {
            do throws(APNsRefusal) {
                try certificate.check(seconds: now, environment: .production)
                return nil
            } catch {
                return error.reason.rawValue
            }
        }
        #expect(verdict(APNsPushCertificate(der: der, authority: authority.publicKey)) == reason)
        #expect(verdict(APNsPushCertificate(der: der, authority: P256.Signing.PrivateKey().publicKey)) == "BadCertificate")
        #expect(verdict(APNsPushCertificate(der: Array(der.dropLast()), authority: authority.publicKey)) == "BadCertificate")
    }
}
