/// The settings of a hub (Azure's `NotificationHubDescription`).
package struct HubDescription: Sendable, Equatable {
    /// How long a registration lives after its last update, at least a day; nil: forever.
    package var registrationTTL: Duration?
    package var rules: [AuthorizationRule]
    package var credentials: [PlatformCredential.Kind: PlatformCredential]
    /// At most 1,024 characters. Stored but not used by the hub.
    package var userMetadata: String?
    /// Stored but not enforced by the hub.
    package var quotas: [Quota: Int64]

    /// The limits of Azure's tiers, in the order of a hub's description.
    package enum Quota: String, Sendable, CaseIterable {
        case operations = "DailyOperations"
        case activeDevices = "DailyMaxActiveDevices"
        case activeRegistrations = "DailyMaxActiveRegistrations"
    }

    package init(
        registrationTTL: Duration? = nil, rules: [AuthorizationRule] = [],
        credentials: [PlatformCredential.Kind: PlatformCredential] = [:], userMetadata: String? = nil,
        quotas: [Quota: Int64] = [:]
    ) {
        self.registrationTTL = registrationTTL
        self.rules = rules
        self.credentials = credentials
        self.userMetadata = userMetadata
        self.quotas = quotas
    }
}

/// The sender's credential for a push service, as named properties (`AppId`, `Token`, `PrivateKey` …).
package struct PlatformCredential: Sendable, Equatable {
    /// In the order of a hub's description.
    package enum Kind: String, Sendable, CaseIterable {
        case apns = "Apns"
        case wns = "Wns"
        case gcm = "Gcm"
        case mpns = "Mpns"
        case adm = "Adm"
        case baidu = "Baidu"
        case fcmV1 = "FcmV1"
        case browser = "Browser"

        package var platform: Platform? { Platform(rawValue: rawValue.lowercased()) }
    }

    /// In the order given.
    package let properties: [(name: String, value: Secret)]

    /// Drops properties that are not set: Azure's clients write an empty value or the text `null` for them.
    package init(properties: [(name: String, value: Secret)]) {
        self.properties = properties.filter { property in
            let text = property.value.reveal()
            return text != "null" && !text.allSatisfy(\.isWhitespace)
        }
    }

    /// The property with this name, in any case.
    package subscript(name: String) -> Secret? {
        properties.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// Whether the credential has no properties; some of Azure's clients send such.
    package var isEmpty: Bool { properties.isEmpty }

    package static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.properties.elementsEqual(rhs.properties) { $0.name == $1.name && $0.value == $1.value }
    }
}

/// A hub as stored.
package struct HubRecord: Sendable, Equatable {
    /// Never reused for another hub.
    package var number: Int64
    /// At most 260 characters; slashes are allowed.
    package var name: String
    package var description: HubDescription
    package var createdAt: Timestamp
    package var updatedAt: Timestamp

    package init(number: Int64, name: String, description: HubDescription, createdAt: Timestamp, updatedAt: Timestamp) {
        self.number = number
        self.name = name
        self.description = description
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }
}
