/// The id of a registration, made by the hub: `{digits}-{digits}-{shard}`.
package struct RegistrationID: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    /// - Parameter text: a valid id; it is not checked.
    package init(unchecked text: String) { self.text = text }

    /// Nil if the text does not have Azure's format.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            parts.allSatisfy({ $0.utf8.count <= 19 })
        else { return nil }
        self.text = text
    }

    /// A random id: two numbers of 19 digits and shard 1.
    package init(random: some RandomSource) {
        let first = random.next() % 9_000_000_000_000_000_000 + 1_000_000_000_000_000_000
        let second = random.next() % 9_000_000_000_000_000_000 + 1_000_000_000_000_000_000
        text = "\(first)-\(second)-1"
    }

    package var description: String { text }
}

/// A description of a device, as the hub stores it.
package struct Registration: Sendable, Equatable {
    package var id: RegistrationID
    /// Counts up with each update; `W/"n"` on the wire.
    package var etag: Int
    package var expiration: Timestamp
    /// Time of the last create or update. Feedback from before this time is ignored.
    package var updatedAt: Timestamp
    package var description: RegistrationDescription
    /// The installation that the registration represents, if any.
    package var installationID: String?

    package init(
        id: RegistrationID, etag: Int, expiration: Timestamp, updatedAt: Timestamp, description: RegistrationDescription,
        installationID: String? = nil
    ) {
        self.id = id
        self.etag = etag
        self.expiration = expiration
        self.updatedAt = updatedAt
        self.description = description
        self.installationID = installationID
    }

    package var handle: DeviceHandle {
        get { description.handle }
        set { description.handle = newValue }
    }
    package var tags: [Tag] {
        get { description.tags }
        set { description.tags = newValue }
    }
    package var template: RegistrationTemplate? { description.template }
    package var pushVariables: [String: String] { description.pushVariables }
    package var secondaryTile: String? { description.secondaryTile }
    package var platform: Platform { handle.platform }
}

/// One device handle with its tags and at most one template: the data with which a client creates or updates a registration.
package struct RegistrationDescription: Sendable, Equatable {
    package var handle: DeviceHandle
    package var tags: [Tag]
    package var template: RegistrationTemplate?
    /// Further properties for templates. A property of the message with the same name wins.
    package var pushVariables: [String: String]
    /// The id of the pinned tile that the handle belongs to (WNS, MPNS).
    package var secondaryTile: String?

    package init(
        handle: DeviceHandle, tags: [Tag] = [], template: RegistrationTemplate? = nil,
        pushVariables: [String: String] = [:], secondaryTile: String? = nil
    ) {
        self.handle = handle
        self.tags = tags
        self.template = template
        self.pushVariables = pushVariables
        self.secondaryTile = secondaryTile
    }
}
