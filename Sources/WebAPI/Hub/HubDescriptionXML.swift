package import HubWire
package import PushModel

/// A hub's description as an element `NotificationHubDescription` of an Atom entry.
package struct HubDescriptionXML: Sendable {
    package let hub: HubDescription

    package init(_ hub: HubDescription) { self.hub = hub }

    /// Maximum size of a hub description in bytes. It may contain certificates.
    package static let maximumSize = 256 << 10

    /// Reads the body of `PUT {hub}`: an Atom entry around a `NotificationHubDescription`.
    /// - Parameters:
    ///   - now: The creation time of rules that do not contain one.
    ///   - random: The source of keys for rules that do not contain any.
    /// Throws `xml.*` and `hub.description` (400).
    package init(body: [UInt8], now: Timestamp, random: some RandomSource) throws(PushError) {
        let element = try AtomEntry.description(in: body, limit: Self.maximumSize)
        guard element.name == "NotificationHubDescription" else {
            throw Self.refusal("\"\(element.name)\" is not a hub description", "send a NotificationHubDescription")
        }
        var hub = HubDescription()
        if let text = element.text(of: "RegistrationTtl")?.trimmed.nonEmpty {
            guard let lifetime = TimeToLive.parse(text), (lifetime ?? .seconds(86_400)) >= .seconds(86_400) else {
                throw Self.refusal("invalid RegistrationTtl \"\(text)\": not a duration of at least a day", "write P90D for 90 days")
            }
            hub.registrationTTL = lifetime
        }
        for kind in PlatformCredential.Kind.allCases {
            guard let credential = element["\(kind.rawValue)Credential"], !credential.isNil else { continue }
            let properties = credential["Properties"]?.children ?? []
            hub.credentials[kind] = PlatformCredential(
                properties: properties.compactMap { property in
                    guard let name = property.text(of: "Name")?.trimmed.nonEmpty else { return nil }
                    return (name, Secret(property.text(of: "Value") ?? ""))
                })
        }
        for rule in element["AuthorizationRules"]?.children ?? [] {
            hub.rules.append(try AuthorizationRule(rule, now: now, random: random))
        }
        guard Set(hub.rules.map(\.name)).count == hub.rules.count else {
            throw Self.refusal("two rules have the same name", "give each rule a unique name")
        }
        for quota in HubDescription.Quota.allCases {
            guard let text = element.text(of: quota.rawValue)?.trimmed.nonEmpty else { continue }
            guard let number = Int64(text) else {
                throw Self.refusal("invalid \(quota.rawValue) \"\(text)\": not an integer", "leave it out, the hub ignores it")
            }
            hub.quotas[quota] = number
        }
        hub.userMetadata = element.text(of: "UserMetadata")?.nonEmpty
        guard (hub.userMetadata?.count ?? 0) <= 1024 else {
            throw Self.refusal("the UserMetadata has more than 1,024 characters", "shorten it")
        }
        self.hub = hub
    }

    /// Appends the description, including keys and credentials: only for a caller with Manage.
    package func write(into writer: inout XMLWriter) {
        writer.description("NotificationHubDescription") { writer in
            writer.credential(.apns, of: hub)
            writer.element("RegistrationTtl", text: TimeToLive.text(hub.registrationTTL))
            writer.credential(.wns, of: hub)
            writer.element("AuthorizationRules") { writer in for rule in hub.rules { rule.write(into: &writer) } }
            writer.credential(.gcm, of: hub)
            writer.credential(.mpns, of: hub)
            for quota in HubDescription.Quota.allCases { writer.element(quota.rawValue, ifPresent: hub.quotas[quota].map { String($0) }) }
            writer.element("UserMetadata", ifPresent: hub.userMetadata)
            for kind in [PlatformCredential.Kind.adm, .baidu, .fcmV1, .browser] { writer.credential(kind, of: hub) }
        }
    }

    fileprivate static func refusal(_ why: String, _ hint: String) -> PushError {
        PushError("hub.description", why, hint: hint, status: 400)
    }
}

extension AuthorizationRule {
    fileprivate init(_ element: XMLElement, now: Timestamp, random: some RandomSource) throws(PushError) {
        guard let name = element.text(of: "KeyName")?.trimmed, (1...256).contains(name.count) else {
            throw HubDescriptionXML.refusal("a rule has no KeyName of 1 to 256 characters", "name every rule")
        }
        var rights: Set<Right> = []
        for child in element["Rights"]?.children ?? [] {
            guard let right = Right(rawValue: child.text.trimmed) else {
                throw HubDescriptionXML.refusal("the rule \(name) has the right \"\(child.text)\"", "rights are Listen, Manage and Send")
            }
            rights.insert(right)
        }
        guard !rights.isEmpty else { throw HubDescriptionXML.refusal("the rule \(name) has no rights", "add Listen, Manage or Send") }
        func key(_ member: String) throws(PushError) -> Secret {
            guard let text = element.text(of: member)?.trimmed.nonEmpty else { return SharedAccessKey.make(random) }
            guard SharedAccessKey.isValid(text) else {
                throw HubDescriptionXML.refusal(
                    "the \(member) of the rule \(name) is not 32 bytes in base64", "send 44 characters, or none")
            }
            return Secret(text)
        }
        func time(_ member: String) -> Timestamp { element.text(of: member).flatMap { Timestamp(iso8601: $0.trimmed) } ?? now }
        self.init(
            name: name, rights: rights, primaryKey: try key("PrimaryKey"), secondaryKey: try key("SecondaryKey"),
            createdAt: time("CreatedTime"), modifiedAt: time("ModifiedTime"))
    }

    fileprivate func write(into writer: inout XMLWriter) {
        writer.element("AuthorizationRule", ["i:type": "SharedAccessAuthorizationRule"]) { writer in
            writer.element("ClaimType", text: "SharedAccessKey")
            writer.element("ClaimValue", text: "None")
            writer.element("Rights") { writer in
                for right in rights.sorted() { writer.element("AccessRights", text: right.rawValue) }
            }
            writer.element("CreatedTime", text: createdAt.description)
            writer.element("ModifiedTime", text: modifiedAt.description)
            writer.element("KeyName", text: name)
            writer.element("PrimaryKey", text: primaryKey.reveal())
            writer.element("SecondaryKey", text: secondaryKey.reveal())
        }
    }
}

extension XMLWriter {
    fileprivate mutating func credential(_ kind: PlatformCredential.Kind, of hub: HubDescription) {
        guard let credential = hub.credentials[kind] else { return }
        element("\(kind.rawValue)Credential") { writer in
            writer.element("Properties") { writer in
                for (name, value) in credential.properties {
                    writer.element("Property") { writer in
                        writer.element("Name", text: name)
                        writer.element("Value", text: value.reveal())
                    }
                }
            }
        }
    }
}
