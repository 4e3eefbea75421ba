import FoundationEssentials
package import PushModel
import SwiftASN1
import X509

/// An APNs client certificate from Apple's developer account, with its key ("Establishing a certificate-based connection to APNs").
package struct APNsCertificate: Sendable {
    /// The certificate and key that the TLS handshake presents.
    package let identity: ClientIdentity
    /// The topics that it may send to, in the certificate's order: those of extension 1.2.840.113635.100.6.3.6 (bundle ids with their
    /// suffixes), or else the user id of its subject.
    package let topics: [String]
    /// The environments that extensions 1.2.840.113635.100.6.3.1 and 6.3.2 mark; empty if it has neither.
    package let environments: Set<APNsSettings.Environment>
    /// The user id of the subject: the bundle id, or the topic for device management (MDM).
    package let userID: String?
    /// The last time at which it is valid.
    package let expires: Timestamp
    private static let development: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 3, 1]
    private static let production: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 3, 2]
    private static let topicList: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 3, 6]
    /// Marks older certificates for VoIP only; their single topic has the suffix `.voip`.
    private static let voip: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 3, 4]
    private static let userIDAttribute: ASN1ObjectIdentifier = [0, 9, 2342, 19_200_300, 100, 1, 1]

    package init(_ identity: ClientIdentity) {
        self.identity = identity
        let certificate = identity.certificate
        userID = certificate.subject.lazy.flatMap(\.self).first { $0.type == Self.userIDAttribute }.flatMap { String($0.value) }
        let listed = certificate.extensions[oid: Self.topicList].map { Self.texts(in: Array($0.value)) } ?? []
        topics = listed.isEmpty ? userID.map { [$0] } ?? [] : listed
        var environments: Set<APNsSettings.Environment> = []
        if certificate.extensions[oid: Self.development] != nil { environments.insert(.development) }
        if certificate.extensions[oid: Self.production] != nil { environments.insert(.production) }
        self.environments = environments
        expires = Timestamp(seconds: Int64(certificate.notValidAfter.timeIntervalSince1970))
    }

    /// The bundle id that all topics share; `nil` if there are several bundle ids, or no topics.
    package var bundleID: String? {
        // A single topic is a bundle id, even if it ends like a suffix.
        let isSuffixed = topics.count > 1 || identity.certificate.extensions[oid: Self.voip] != nil
        let suffixes = APNsPushType.allCases.map(\.topicSuffix).filter { !$0.isEmpty && isSuffixed }
        let bundles = Set(
            topics.map { topic in
                suffixes.first { topic.hasSuffix($0) }.map { String(topic.dropLast($0.count)) } ?? topic
            })
        return bundles.count == 1 ? bundles.first : nil
    }

    /// `SEQUENCE { topic UTF8String, SEQUENCE { purpose UTF8String } … }`
    private static func texts(in bytes: [UInt8]) -> [String] {
        guard let node = try? DER.parse(bytes) else { return [] }
        return node.parts.compactMap { part in
            guard part.identifier == .utf8String else { return nil }
            return String(validating: part.octets, as: UTF8.self)
        }
    }
}
