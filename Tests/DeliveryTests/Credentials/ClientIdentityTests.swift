import Crypto
import Delivery
import NIOSSL
import PushModel
import SwiftASN1
import Testing
import X509

@Suite struct ClientIdentityTests {
    private let openSSL: OpenSSL

    init() throws { openSSL = try OpenSSL() }

    /// The output of `openssl pkcs12 -export` for a certificate and its key.
    private func pkcs12(
        _ sender: SenderCertificate, password: String = "secret", _ options: [String] = []
    ) async throws -> [UInt8] {
        try openSSL.write(try sender.pem, to: "certificate.pem")
        try openSSL.write(try sender.keyPEM, to: "key.pem")
        try await openSSL.run(
            [
                "pkcs12", "-export", "-in", "FOLDER/certificate.pem", "-inkey", "FOLDER/key.pem", "-out", "FOLDER/out.p12",
                "-passout", "pass:\(password)",
            ] + options)
        return try openSSL.read("out.p12")
    }

    private func fault(_ make: () throws -> ClientIdentity) -> PushError? {
        let error = #expect(throws: PushError.self) { _ = try make() }
        #expect(error?.code == "credential.invalid")
        #expect(error?.hint != nil)
        return error
    }

    @Test(arguments: [
        [], ["-legacy"], ["-keypbe", "PBE-SHA1-3DES", "-certpbe", "PBE-SHA1-3DES", "-macalg", "sha1"],
        ["-legacy", "-keypbe", "PBE-SHA1-2DES", "-certpbe", "PBE-SHA1-RC2-128"],
        ["-keypbe", "AES-128-CBC", "-certpbe", "AES-192-CBC", "-macalg", "sha512"], ["-macalg", "sha384", "-iter", "1"],
        ["-keypbe", "NONE", "-certpbe", "NONE"], ["-nomac"], ["-nomac", "-legacy"], ["-iter", "10000"],
    ])
    func `A PKCS #12 file is read in every form that OpenSSL writes`(options: [String]) async throws {
        for isRSA in [true, false] {
            let sender = try SenderCertificate(isRSA: isRSA)
            let identity = try ClientIdentity(pkcs12: try await pkcs12(sender, options), password: Secret("secret"))
            #expect(try identity.chain.map { try $0.toDERBytes() } == [try sender.certificate.serializeAsPEM().derBytes])
            #expect(try identity.key == NIOSSLPrivateKey(bytes: Array(try sender.keyPEM.utf8), format: .pem))
        }
    }

    @Test(arguments: ["", "pässwörd €", String(repeating: "long ", count: 40)])
    func `A password may be empty, long, or contain any characters`(password: String) async throws {
        let sender = try SenderCertificate()
        for options in [[], ["-legacy"]] {
            let file = try await pkcs12(sender, password: password, options)
            #expect(throws: Never.self) { try ClientIdentity(pkcs12: file, password: Secret(password)) }
            let error = fault { try ClientIdentity(pkcs12: file, password: Secret("wrong")) }
            #expect(error?.message == "the password does not open the PKCS #12 file")
        }
    }

    @Test(arguments: [[], ["-nomac"], ["-nomac", "-legacy"]])
    func `A wrong password is reported, also for a file without a checksum`(options: [String]) async throws {
        let file = try await pkcs12(try SenderCertificate(), options)
        // Decrypting with a wrong key yields plausible bytes about once in a hundred times.
        for word in ["wrong", "Secret", "secret "] {
            let error = fault { try ClientIdentity(pkcs12: file, password: Secret(word)) }
            #expect(error?.description.contains(word) == false)
        }
        if options.isEmpty {
            let error = fault { try ClientIdentity(pkcs12: file, password: Secret("")) }
            #expect(error?.message == "the PKCS #12 file has a password, and none was given")
        }
    }

    @Test func `The chain follows the sender's own certificate, wherever that is in the file`() async throws {
        let (sender, other) = (try SenderCertificate(), try SenderCertificate(userID: "authority", isRSA: true))
        try openSSL.write(try other.pem, to: "chain.pem")
        let file = try await pkcs12(sender, ["-certfile", "FOLDER/chain.pem"])
        let expected = try [sender, other].map { try $0.certificate.serializeAsPEM().derBytes }
        let identity = try ClientIdentity(pkcs12: file, password: Secret("secret"))
        #expect(try identity.chain.map { try $0.toDERBytes() } == expected)
        let pem = try ClientIdentity(
            certificates: Array("\(try other.pem)\n\(try sender.pem)".utf8), key: Array(try sender.keyPEM.utf8))
        #expect(try pem.chain.map { try $0.toDERBytes() } == expected && pem.fingerprint == identity.fingerprint)
    }

    @Test func `A file without the key or the certificate is refused without a crash`() async throws {
        let sender = try SenderCertificate()
        let withoutKey = try await pkcs12(sender, ["-nokeys"])
        #expect(
            fault { try ClientIdentity(pkcs12: withoutKey, password: Secret("secret")) }?.message
                == "the PKCS #12 file contains no private key")
        let withoutCertificate = try await pkcs12(sender, ["-nocerts"])
        #expect(
            fault { try ClientIdentity(pkcs12: withoutCertificate, password: Secret("secret")) }?.message
                == "there is no certificate beside the private key")
    }

    @Test func `An insecure method is refused by name`() async throws {
        let file = try await pkcs12(try SenderCertificate(), ["-legacy", "-keypbe", "PBE-SHA1-RC4-128"])
        let error = fault { try ClientIdentity(pkcs12: file, password: Secret("secret")) }
        #expect(error?.message.contains("1.2.840.113549.1.12.1.1") == true, "\(error?.message ?? "")")
        #expect(error?.hint?.contains("openssl pkcs12") == true)
    }

    @Test func `A file that is not PKCS #12 is refused`() async throws {
        let sender = try SenderCertificate()
        let files = [
            [], Array("hello".utf8), Array(try sender.pem.utf8), try sender.certificate.serializeAsPEM().derBytes,
            [0x30, 0x80], [0x30, 0x84, 0xff, 0xff, 0xff, 0xff], [UInt8](repeating: 0x30, count: 5000),
        ]
        for file in files {
            #expect(fault { try ClientIdentity(pkcs12: file, password: Secret("x")) }?.message == "this is not a PKCS #12 file")
        }
    }

    @Test func `A damaged file is refused or read, without a crash`() async throws {
        let random = SeededRandom(seed: 11)
        func below(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
        for options in [["-iter", "1"], ["-iter", "1", "-legacy", "-nomac"], ["-keypbe", "NONE", "-certpbe", "NONE", "-nomac"]] {
            let file = try await pkcs12(try SenderCertificate(), options)
            for _ in 0..<400 {
                await Task.yield()
                var damaged = file
                for _ in 0...below(3) {
                    let index = below(damaged.count)
                    switch below(3) {
                    case 0: damaged[index] = UInt8(below(256))
                    case 1: damaged.remove(at: index)
                    default: damaged.insert(UInt8(below(256)), at: index)
                    }
                }
                do {
                    _ = try ClientIdentity(pkcs12: damaged, password: Secret("secret"))
                } catch {
                    #expect(error.code == "credential.invalid")
                }
            }
        }
    }

    @Test func `PEM is read with its key in either file, encrypted or not, with Windows line ends and other text`() async throws {
        for isRSA in [true, false] {
            let sender = try SenderCertificate(isRSA: isRSA)
            _ = try await pkcs12(sender)
            let (certificate, key) = (try sender.pem, try sender.keyPEM)
            try await openSSL.run(["pkcs8", "-topk8", "-in", "FOLDER/key.pem", "-out", "FOLDER/sealed.pem", "-passout", "pass:secret"])
            let sealed = try openSSL.read("sealed.pem")
            try await openSSL.run(["pkcs12", "-in", "FOLDER/out.p12", "-nodes", "-passin", "pass:secret", "-out", "FOLDER/bags.pem"])
            let bags = try openSSL.read("bags.pem")
            #expect(String(decoding: bags, as: UTF8.self).contains("Bag Attributes"))
            let forms: [(certificates: [UInt8], key: [UInt8]?)] = [
                (Array(certificate.utf8), Array(key.utf8)), (Array("\(key)\n\(certificate)".utf8), nil),
                (Array(certificate.utf8), sealed), (bags, nil),
                (try sender.certificate.serializeAsPEM().derBytes, Array(key.utf8)),
                (
                    [0xef, 0xbb, 0xbf] + Array(certificate.replacing("\n", with: "\r\n").utf8),
                    Array(key.replacing("\n", with: "\r\n").utf8)
                ),
            ]
            for form in forms {
                let identity = try ClientIdentity(certificates: form.certificates, key: form.key, password: Secret("secret"))
                #expect(try identity.chain.first?.toDERBytes() == sender.certificate.serializeAsPEM().derBytes)
            }
            let wrong = fault { try ClientIdentity(certificates: Array(certificate.utf8), key: sealed, password: Secret("wrong")) }
            #expect(wrong?.message == "the password does not open the private key")
            let none = fault { try ClientIdentity(certificates: Array(certificate.utf8), key: sealed) }
            #expect(none?.message == "the private key is encrypted, and no password was given")
        }
    }

    @Test func `A key of another certificate, and swapped files, are reported`() throws {
        let (sender, other) = (try SenderCertificate(), try SenderCertificate())
        let (certificate, key) = (Array(try sender.pem.utf8), Array(try sender.keyPEM.utf8))
        let foreign = fault { try ClientIdentity(certificates: certificate, key: Array(try other.keyPEM.utf8)) }
        #expect(foreign?.message.hasPrefix("the private key does not belong to the certificate") == true)
        let alone = fault { try ClientIdentity(certificates: certificate, key: nil) }
        #expect(alone?.message == "there is no private key beside the certificate: only it is a certificate", "\(alone?.message ?? "")")
        let twice = fault { try ClientIdentity(certificates: certificate, key: certificate) }
        #expect(twice?.message.hasSuffix("it is a certificate") == true)
        let exchanged = fault { try ClientIdentity(certificates: key, key: key) }
        #expect(exchanged?.message == "there is no certificate beside the private key")
        #expect(fault { try ClientIdentity(certificates: Array("x".utf8), key: key) }?.message == "a certificate cannot be read")
    }

    @Test func `The certificate is sent to a server that requests it`() async throws {
        // This certificate is valid at the system's time.
        let end = Accounts.start + .seconds(20 * 365 * 86_400)
        let (sender, server) = (try SenderCertificate(end: end, isRSA: true), try SenderCertificate(userID: nil, end: end))
        func context(trusting trusted: SenderCertificate) throws -> NIOSSLContext {
            let identity = try ClientIdentity(certificates: Array(try server.pem.utf8), key: Array(try server.keyPEM.utf8))
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: identity.chain.map { .certificate($0) }, privateKey: .privateKey(identity.key))
            configuration.certificateVerification = .noHostnameVerification
            configuration.trustRoots = .certificates([try NIOSSLCertificate(bytes: Array(try trusted.pem.utf8), format: .pem)])
            return try NIOSSLContext(configuration: configuration)
        }
        let identity = try ClientIdentity(pkcs12: try await pkcs12(sender, ["-legacy"]), password: Secret("secret"))
        var tls = TLSTrust().configuration(showing: identity)
        tls.certificateVerification = .none
        for (trusted, isTaken) in [(sender, true), (server, false)] {
            let canned = try await CannedServer(
                .answering("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"), tls: try context(trusting: trusted))
            let route = try #require(WebAddress("https://127.0.0.1:\(canned.port)"))
            let transport = HTTPClientTransport(route: route, limits: .init().generous, tls: tls)
            let connector = try APNsConnector(
                settings: APNsSettings(certificate: try sender.loaded()), transport: transport, clock: VirtualClock(now: Accounts.start))
            let verdict = await connector.deliver(.apns()).first
            if case .accepted? = verdict { #expect(isTaken) } else { #expect(!isTaken, "\(String(describing: verdict))") }
            #expect(canned.requests.count == (isTaken ? 1 : 0))
            #expect(canned.requests.allSatisfy { !$0.lowercased().contains("authorization") })
            await transport.shutdown()
            try await canned.stop()
        }
    }
}
