import Delivery
import FoundationEssentials
import PushModel
import PushServer
import SwiftASN1
import WebAPI
import X509

/// Checks the server's certificate: whether it can be used, for how long, and for which names.
struct CertificateCheck {
    let settings: ServerSettings

    private static let name = "certificate"
    /// Days before the certificate's end from which the check fails. Certificates are usually renewed a month before.
    private static let soon = 14

    func check(now: Timestamp) -> Check {
        let files = CertificateFiles(settings: settings)
        guard files.exists else {
            return settings.certificate == nil
                ? .well(Self.name, "none yet; created when the server first starts with TLS")
                : .wrong(Self.name, "\(settings.certificate ?? "") cannot be read", "check tls.certificate and tls.key")
        }
        do throws(PushError) {
            let text = try files.chain()
            let first = PEMText(Array(text.utf8)).blocks.first { $0.label == "CERTIFICATE" }
            guard let first, let certificate = try? X509.Certificate(derEncoded: first.bytes) else {
                return .wrong(Self.name, "the certificate cannot be read", "use a chain in PEM, with the server's certificate first")
            }
            return judge(certificate, now)
        } catch {
            return .wrong(Self.name, error)
        }
    }

    private func judge(_ certificate: X509.Certificate, _ now: Timestamp) -> Check {
        let end = Timestamp(seconds: Int64(certificate.notValidAfter.timeIntervalSince1970))
        let days = Int((end - now).components.seconds / 86_400)
        let names = Self.names(of: certificate)
        let renew = settings.certificate == nil ? "remove the folder \(settings.data)/tls and start the server again" : "renew it"
        guard end > now else { return .wrong(Self.name, "it expired on \(end.iso8601(fraction: false))", renew) }
        guard Timestamp(seconds: Int64(certificate.notValidBefore.timeIntervalSince1970)) <= now else {
            return .wrong(Self.name, "it is not valid yet", "check the clock, or wait")
        }
        let validity = "\(days) day\(days == 1 ? "" : "s") until it expires; valid for \(names.joined(separator: ", "))"
        if let host = clientHost, !names.contains(where: { Self.matches($0, host) }) {
            return .wrong(Self.name, "it does not cover \(host): \(validity)", "add the name, with tls.names if the server makes it")
        }
        guard days >= Self.soon else { return .wrong(Self.name, validity, renew) }
        return .well(Self.name, validity)
    }

    /// The host name that clients use, if it is known.
    private var clientHost: String? {
        if let publicURL = settings.publicURL { return WebAddress(publicURL)?.host.lowercased() }
        return ["0.0.0.0", "::"].contains(settings.host) ? nil : settings.clientName.lowercased()
    }

    private static func matches(_ name: String, _ host: String) -> Bool {
        if name.lowercased() == host { return true }
        guard name.hasPrefix("*."), let dot = host.firstIndex(of: ".") else { return false }
        return name.dropFirst().lowercased() == host[dot...]
    }

    private static func names(of certificate: X509.Certificate) -> [String] {
        guard let names = try? certificate.extensions.subjectAlternativeNames else { return [] }
        return names.compactMap { name in
            switch name {
            case .dnsName(let text): text
            case .ipAddress(let bytes): IPAddress(bytes: Array(bytes.bytes)).text
            default: nil
            }
        }
    }
}
