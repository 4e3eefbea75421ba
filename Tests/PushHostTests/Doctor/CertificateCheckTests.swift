import Foundation
import PushModel
import Support
import Testing

@testable import PushHost
@testable import PushServer

@Suite struct CertificateCheckTests {
    @Test func `A certificate is valid in every PEM variant`() throws {
        let (folder, now) = (try ScriptFolder(), Timestamp(seconds: 1_790_000_000))
        var settings = ServerSettings()
        settings.data = folder.url.path
        settings.certificateNames = ["push.example", "10.1.2.3"]
        _ = try CertificateFiles(settings: settings).identity(now: now)
        func read(_ name: String) throws -> String { try String(contentsOf: folder.url.appending(path: "tls/\(name)"), encoding: .utf8) }
        let (chain, key) = (try read("server.pem"), try read("server.key"))
        settings.certificate = folder.url.appending(path: "own.pem").path
        settings.key = folder.url.appending(path: "own.key").path
        for variant in [
            chain.replacing("\n", with: ""), chain.replacing("\n", with: "\r\n"),
            "Bag Attributes\n  " + chain.replacing("\n", with: "\n  "),
        ] {
            try folder.write("own.pem", Data(variant.utf8))
            try folder.write("own.key", Data(key.utf8))
            let check = CertificateCheck(settings: settings).check(now: now)
            #expect(check.isWell, "\(check)")
        }
    }
}
