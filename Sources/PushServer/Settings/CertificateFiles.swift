import Crypto
import Glibc
import NIOSSL
package import PushModel
import PushRuntime
package import WebAPI

/// The server's TLS certificate: the operator's files or, without them, a development certificate in the data folder.
package struct CertificateFiles {
    let settings: ServerSettings

    package init(settings: ServerSettings) {
        self.settings = settings
    }

    /// How long before it expires a development certificate is replaced.
    private static let remainder: Duration = .seconds(30 * 86_400)

    private var folder: String { "\(settings.data)/tls" }
    /// The CA certificate that clients of a development certificate must trust; nil for an operator's certificate.
    package var authority: String? { settings.certificate == nil ? "\(folder)/authority.pem" : nil }

    private var certificatePath: String { settings.certificate ?? "\(folder)/server.pem" }
    private var keyPath: String { settings.key ?? "\(folder)/server.key" }

    /// Reads the certificate and key; creates them first if a development certificate is due.
    package func identity(now: Timestamp) throws(PushError) -> TLSIdentity {
        try renew(now: now)
        let (certificate, key) = try read()
        do throws(PushError) {
            return try TLSIdentity(certificate: certificate, key: key)
        } catch {
            throw fault(certificate, key)
        }
    }

    /// Reads the files again. If they cannot be used, throws and keeps the previous certificate in use.
    package func reload(_ identity: TLSIdentity) throws(PushError) {
        let (certificate, key) = try read()
        do throws(PushError) {
            try identity.exchange(certificate: certificate, key: key)
        } catch {
            throw fault(certificate, key)
        }
    }

    /// The error that names the unusable file and the reason.
    private func fault(_ certificate: [UInt8], _ key: Secret) -> PushError {
        let chain = try? NIOSSLCertificate.fromPEMBytes(certificate)
        let keys = PEMText(Array(key.reveal().utf8)).blocks
        let why =
            if chain?.isEmpty != false {
                "\(certificatePath) contains no PEM certificate"
            } else if (try? NIOSSLPrivateKey(bytes: Array(key.reveal().utf8), format: .pem)) == nil {
                keys.contains(where: \.isEncrypted)
                    ? "the private key in \(keyPath) has a passphrase"
                    : "\(keyPath) contains no PEM private key"
            } else {
                "the key in \(keyPath) does not belong to the first certificate in \(certificatePath)"
            }
        return PushError(
            "tls.unusable", why, hint: "use a PEM chain and the unencrypted PEM key of its first certificate", status: 400)
    }

    /// Whether both files are readable.
    package var exists: Bool { access(certificatePath, R_OK) == 0 && access(keyPath, R_OK) == 0 }

    /// The chain in PEM. Throws if the key does not match.
    package func chain() throws(PushError) -> String {
        let (certificate, key) = try read()
        guard (try? TLSIdentity(certificate: certificate, key: key)) != nil else { throw fault(certificate, key) }
        return String(decoding: certificate, as: UTF8.self)
    }

    /// A hash of both files; nil if they cannot be read now.
    package var fingerprint: [UInt8]? {
        guard let (certificate, key) = try? read() else { return nil }
        return Array(SHA256.hash(data: certificate + Array(key.reveal().utf8)))
    }

    /// Reads both files, normalized to strict PEM.
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

    /// Creates a development certificate if none exists, the names have changed, or it expires soon. Returns whether it did.
    @discardableResult
    package func renew(now: Timestamp) throws(PushError) -> Bool {
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
            throw PushError("tls.unusable", "cannot create \(folder): \(String(cString: strerror(errno)))")
        }
        // A missing file of names causes renewal. Remove it first and write it last, so that an interrupted renewal is repeated.
        unlink(namesPath)
        try ResultFile.write(Array(made.authority.utf8), to: "\(folder)/authority.pem", permissions: 0o644)
        try ResultFile.write(Array(made.chain.utf8), to: certificatePath, permissions: 0o644)
        try ResultFile.write(Array(made.key.reveal().utf8), to: keyPath, permissions: 0o600)
        try ResultFile.write(Array(names.utf8), to: namesPath, permissions: 0o644)
        return true
    }
}
