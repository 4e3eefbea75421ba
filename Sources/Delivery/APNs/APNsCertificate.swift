import FoundationEssentials
import PushCore
import SwiftASN1
import X509

/// A certificate of Apple's developer account for sending ("Establishing a certificate-based connection to APNs"), with its key.
package struct APNsCertificate: Sendable {
    /// What the TLS handshake shows.
    package let identity: ClientIdentity
    /// What it may send to, as its extension 1.2.840.113635.100.6.3.6 lists it (bundle ids with their suffixes), or else its
    /// subject's user id alone. In their order.
    package let topics: [String]
    /// As the extensions 1.2.840.113635.100.6.3.1 and 6.3.2 mark them; empty where it bears neither mark.
    package let environments: Set<APNsSettings.Environment>
    /// Of the subject: the bundle id, or the topic of a device management.
    package let userID: String?
    /// The moment after which it no longer holds.
    package let expires: Timestamp
    private static let development: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 3, 1]
    private static let production: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 3, 2]
    private static let topicList: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 3, 6]
    /// Marks certificates of old for VoIP alone, whose only topic has the suffix.
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

    /// The bundle id that all of its topics belong to; nil where there are several, or none.
    package var bundleID: String? {
        // The only topic of a certificate may be an app that is called so.
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
