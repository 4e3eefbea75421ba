import Crypto
import Glibc
import NIOSSL
import PushCore
import WebAPI

/// Where the certificate of a server comes from: the files of its operator, or those that it makes itself in its data folder.
struct CertificateFiles {
    let settings: ServerSettings

    /// How long before its end a certificate for development is made anew.
    private static let remainder: Duration = .seconds(30 * 86_400)

    private var folder: String { "\(settings.data)/tls" }
    /// What clients of a development certificate are told to trust; nil for a certificate of the operator.
    var authority: String? { settings.certificate == nil ? "\(folder)/authority.pem" : nil }

    private var certificatePath: String { settings.certificate ?? "\(folder)/server.pem" }
    private var keyPath: String { settings.key ?? "\(folder)/server.key" }

    /// Reads them; makes them first where that is needed.
    func identity(now: Timestamp) throws(PushError) -> TLSIdentity {
        try renew(now: now)
        let (certificate, key) = try read()
        do throws(PushError) {
            return try TLSIdentity(certificate: certificate, key: key)
        } catch {
            throw fault(certificate, key)
        }
    }

    /// Reads them again. Throws where they cannot be used; then the ones before stay.
    func reload(_ identity: TLSIdentity) throws(PushError) {
        let (certificate, key) = try read()
        do throws(PushError) {
            try identity.exchange(certificate: certificate, key: key)
        } catch {
            throw fault(certificate, key)
        }
    }

    /// Which of the two files it is that cannot be used, and why.
    private func fault(_ certificate: [UInt8], _ key: Secret) -> PushError {
        let chain = try? NIOSSLCertificate.fromPEMBytes(certificate)
        let keys = PEMText(Array(key.reveal().utf8)).blocks
        let why =
            if chain?.isEmpty != false {
                "\(certificatePath) holds no certificate in PEM"
            } else if (try? NIOSSLPrivateKey(bytes: Array(key.reveal().utf8), format: .pem)) == nil {
                keys.contains(where: \.isEncrypted)
                    ? "the private key in \(keyPath) has a passphrase, which nobody could enter"
                    : "\(keyPath) holds no private key in PEM"
            } else {
                "the key in \(keyPath) does not belong to the first certificate in \(certificatePath)"
            }
        return PushError(
            "tls.unusable", why, hint: "give the chain and the key that belongs to its first certificate, both in PEM", status: 400)
    }

    /// Whether both can be read.
    var exists: Bool { access(certificatePath, R_OK) == 0 && access(keyPath, R_OK) == 0 }

    /// The chain as text, if the key belongs to it.
    func chain() throws(PushError) -> String {
        let (certificate, key) = try read()
        guard (try? TLSIdentity(certificate: certificate, key: key)) != nil else { throw fault(certificate, key) }
        return String(decoding: certificate, as: UTF8.self)
    }

    /// Changes when the content of one of the files does; nil where they cannot be read just now.
    var fingerprint: [UInt8]? {
        guard let (certificate, key) = try? read() else { return nil }
        return Array(SHA256.hash(data: certificate + Array(key.reveal().utf8)))
    }

    /// Both in the strict form of PEM, as far as they are PEM.
    private func read() throws(PushError) -> ([UInt8], Secret) {
        (PEMText.strict(try text(certificatePath)), Secret(String(decoding: PEMText.strict(try text(keyPath)), as: UTF8.self)))
    }

    private func text(_ path: String) throws(PushError) -> [UInt8] {
        do {
            return try TextFile.read(path, limit: 1 << 20, kind: "PEM file")
        } catch {
            throw PushError("tls.unusable", error.message, hint: "check tls.certificate and tls.key")
        }
    }

    /// Makes a certificate for development where there is none, where it is for other names, or where it ends soon; true then.
    @discardableResult
    func renew(now: Timestamp) throws(PushError) -> Bool {
        guard settings.certificate == nil else { return false }
        let names = settings.certificateNames.sorted().joined(separator: "\n") + "\n"
        let namesPath = "\(folder)/names"
        let known = try? TextFile.read(namesPath, limit: 1 << 16, kind: "secrets")
        if known == Array(names.utf8), access(keyPath, R_OK) == 0, let chain = try? text(certificatePath),
            let end = DevelopmentCertificate.end(ofChain: chain), end > now + Self.remainder
        {
            return false
        }
        let made = try DevelopmentCertificate(names: settings.certificateNames, now: now)
        if mkdir(folder, 0o700) != 0, errno != EEXIST {
            throw PushError("tls.unusable", "\(folder) cannot be made: \(String(cString: strerror(errno)))")
        }
        // Without the names the others are made anew, also where this is interrupted: so they go first and come last.
        unlink(namesPath)
        try ResultFile.write(Array(made.authority.utf8), to: "\(folder)/authority.pem", permissions: 0o644)
        try ResultFile.write(Array(made.chain.utf8), to: certificatePath, permissions: 0o644)
        try ResultFile.write(Array(made.key.reveal().utf8), to: keyPath, permissions: 0o600)
        try ResultFile.write(Array(names.utf8), to: namesPath, permissions: 0o644)
        return true
    }
}
