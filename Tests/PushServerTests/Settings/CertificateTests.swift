import FoundationEssentials
import PushModel
import SwiftASN1
import Testing
import X509

@testable import PushServer

@Suite struct CertificateTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "certificates-\(UUID().uuidString)")
    private let now = Timestamp(seconds: 1_790_000_000)

    private var settings: ServerSettings {
        var settings = ServerSettings()
        settings.data = folder.path
        settings.certificateNames = ["push.example", "10.1.2.3"]
        return settings
    }

    private func read(_ name: String) throws -> String { try String(contentsOf: folder.appending(path: "tls/\(name)"), encoding: .utf8) }

    @Test func `A server without a certificate creates one with all its names, once`() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = CertificateFiles(settings: settings)
        _ = try files.identity(now: now)
        let first = try read("server.pem")
        let chain = try PEMDocument.parseMultiple(pemString: first).map { try Certificate(pemDocument: $0) }
        #expect(chain.count == 2)
        let names = try #require(try chain[0].extensions.subjectAlternativeNames)
        #expect(
            names.map { "\($0)" }.count == 5 && names.contains(.dnsName("localhost")) && names.contains(.dnsName("push.example")))
        #expect(names.contains(.ipAddress(ASN1OctetString(contentBytes: [10, 1, 2, 3]))))
        #expect(chain[1].publicKey.isValidSignature(chain[0].signature, for: chain[0]))
        #expect(chain[0].notValidBefore < Date(timeIntervalSince1970: 1_790_000_000))
        let key = try FileManager.default.attributesOfItem(atPath: folder.appending(path: "tls/server.key").path)
        #expect(key[.posixPermissions] as? Int == 0o600)
        _ = try files.identity(now: now)
        #expect(try read("server.pem") == first)
    }

    @Test func `A change of the names creates another certificate`() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try CertificateFiles(settings: settings).identity(now: now)
        let first = try read("server.pem")
        var other = settings
        other.certificateNames = ["other.example"]
        _ = try CertificateFiles(settings: other).identity(now: now)
        #expect(try read("server.pem") != first)
    }

    @Test func `An invalid certificate leaves the previous one in use`() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try CertificateFiles(settings: settings).identity(now: now)
        var own = settings
        own.certificate = folder.appending(path: "own.pem").path
        own.key = folder.appending(path: "own.key").path
        try read("server.pem").write(toFile: folder.appending(path: "own.pem").path, atomically: true, encoding: .utf8)
        try read("server.key").write(toFile: folder.appending(path: "own.key").path, atomically: true, encoding: .utf8)
        let files = CertificateFiles(settings: own)
        let identity = try files.identity(now: now)
        let before = files.fingerprint
        for (broken, why) in [
            ("", "contains no PEM private key"), ("no PEM", "own.key contains no PEM private key"),
            (try DevelopmentCertificate(names: [], now: now).key.reveal(), "own.key does not belong to the first certificate in"),
        ] {
            try broken.write(toFile: folder.appending(path: "own.key").path, atomically: true, encoding: .utf8)
            #expect(files.fingerprint != before)
            let error = #expect(throws: PushError.self) { try files.reload(identity) }
            #expect(error?.message.contains(why) == true, "\(error?.message ?? "")")
        }
    }

    @Test func `The server's certificate and key are read in every PEM variant`() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try CertificateFiles(settings: settings).identity(now: now)
        var own = settings
        own.certificate = folder.appending(path: "own.pem").path
        own.key = folder.appending(path: "own.key").path
        let (chain, key) = (try read("server.pem"), try read("server.key"))
        func oneLine(_ pem: String) -> String {
            pem.replacing("\n", with: "")
        }
        for (certificate, privateKey) in [
            (oneLine(chain), oneLine(key)), (chain.replacing("\n", with: "\r\n"), "\u{feff}" + key.replacing("\n", with: "\r\n")),
            ("Bag Attributes\n  " + chain.replacing("\n", with: "\n  "), key.replacing("\n", with: #"\n"#)),
        ] {
            try certificate.write(toFile: own.certificate ?? "", atomically: true, encoding: .utf8)
            try privateKey.write(toFile: own.key ?? "", atomically: true, encoding: .utf8)
            let files = CertificateFiles(settings: own)
            _ = try files.identity(now: now)
            #expect(try PEMText(Array(files.chain().utf8)).blocks == PEMText(Array(chain.utf8)).blocks)
        }
    }

    @Test(
        arguments: [
            ("127.0.0.1", true), ("127.8.9.1", true), ("::1", true), ("0.0.0.0", false), ("::", false), ("10.0.0.1", false),
        ])
    func `Loopback addresses are recognized`(text: String, isLoopback: Bool) {
        #expect(IPAddress(text)?.isLoopback == isLoopback)
    }

    @Test func `A host name is not an IP address`() {
        for text in ["localhost", "", "1.2.3", "1.2.3.4.5", "::g"] { #expect(IPAddress(text) == nil, "\(text)") }
    }

    @Test func `A generated certificate is renewed before it expires, and the operator's own never`() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = CertificateFiles(settings: settings)
        #expect(try files.renew(now: now))
        let first = try read("server.pem")
        #expect(try !files.renew(now: now + .seconds(790 * 86_400)))
        #expect(try read("server.pem") == first)
        let late = now + .seconds(795 * 86_400)
        let fingerprint = try #require(files.fingerprint)
        #expect(try files.renew(now: late))
        #expect(try read("server.pem") != first && files.fingerprint != fingerprint)
        #expect(try !files.renew(now: late))
        try "no certificate".write(to: folder.appending(path: "tls/server.pem"), atomically: true, encoding: .utf8)
        #expect(try files.renew(now: late))
        var own = settings
        (own.certificate, own.key) = ("missing.pem", "missing.key")
        #expect(try !CertificateFiles(settings: own).renew(now: late))
    }
}
