import Crypto
import FoundationEssentials
import SwiftASN1
import X509

/// The push certificate that a client presents in the TLS handshake (Apple, "Establishing a certificate-based connection to APNs").
struct APNsPushCertificate: Sendable {
    /// The topics, in the certificate's order. Without a list of topics, the user id of its subject, which is the bundle id.
    let topics: [String]
    let environments: Set<APNsEnvironment>
    /// Whether this authority issued it; other certificates are always rejected.
    let isGenuine: Bool
    private let notBefore: Int64
    private let notAfter: Int64

    /// Apple's extensions for topics and environments.
    static let topicsID: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 3, 6]
    static let developmentID: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 3, 1]
    static let productionID: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 3, 2]
    /// The attribute `UID` of a subject (RFC 4519 section 2.39).
    static let userID: ASN1ObjectIdentifier = [0, 9, 2342, 19_200_300, 100, 1, 1]

    /// - Parameter authority: The key that genuine certificates are signed with.
    init(der: [UInt8], authority: P256.Signing.PublicKey) {
        guard let certificate = try? Certificate(derEncoded: der) else {
            (topics, environments, isGenuine, notBefore, notAfter) = ([], [], false, 0, 0)
            return
        }
        isGenuine = Certificate.PublicKey(authority).isValidSignature(certificate.signature, for: certificate)
        notBefore = Int64(certificate.notValidBefore.timeIntervalSince1970)
        notAfter = Int64(certificate.notValidAfter.timeIntervalSince1970)
        var environments: Set<APNsEnvironment> = []
        if certificate.extensions[oid: Self.developmentID] != nil { environments.insert(.development) }
        if certificate.extensions[oid: Self.productionID] != nil { environments.insert(.production) }
        self.environments = environments
        let listed = certificate.extensions[oid: Self.topicsID].flatMap { try? APNsTopicList(derEncoded: $0.value) }
        let subject = certificate.subject.flatMap { Array($0) }.first { $0.type == Self.userID }.flatMap { String($0.value) }
        topics = listed?.topics ?? subject.map { [$0] } ?? []
    }

    /// Checks that it is valid now and in this environment.
    ///
    /// - Parameter seconds: The current time, in seconds since 1970.
    func check(seconds: Int64, environment: APNsEnvironment) throws(APNsRefusal) {
        guard isGenuine, notBefore <= seconds, seconds <= notAfter, !topics.isEmpty, !environments.isEmpty else {
            throw APNsRefusal(.badCertificate)
        }
        guard environments.contains(environment) else { throw APNsRefusal(.badCertificateEnvironment) }
    }

    /// The topics that it may send to. "If you omit this header field and your APNs certificate does not specify multiple topics, the APNs
    /// server uses the certificate's subject as the default topic."
    var allowance: APNsAllowedTopics {
        APNsAllowedTopics(bundleIDs: nil, topics: Set(topics), defaultTopic: topics.count == 1 ? topics.first : nil)
    }
}

/// The value of the topic extension: pairs of a topic and a sequence that names its kind.
struct APNsTopicList: DERImplicitlyTaggable {
    static var defaultIdentifier: ASN1Identifier { .sequence }

    var topics: [String]

    init(topics: [String]) {
        self.topics = topics
    }

    init(derEncoded node: ASN1Node, withIdentifier identifier: ASN1Identifier) throws {
        topics = try DER.sequence(node, identifier: identifier) { nodes in
            var topics: [String] = []
            while let node = nodes.next() {
                topics.append(String(try ASN1UTF8String(derEncoded: node)))
                _ = nodes.next()
            }
            return topics
        }
    }

    func serialize(into coder: inout DER.Serializer, withIdentifier identifier: ASN1Identifier) throws {
        try coder.appendConstructedNode(identifier: identifier) { coder in
            for topic in topics {
                try coder.serialize(ASN1UTF8String(topic))
                let suffix =
                    APNsPushType.bundleID(ofTopic: topic) == topic ? "app" : topic.split(separator: ".").last.map(String.init) ?? ""
                try coder.appendConstructedNode(identifier: .sequence) { try $0.serialize(ASN1UTF8String(suffix)) }
            }
        }
    }
}
