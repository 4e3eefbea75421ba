package import PushModel

/// The subscription flow of the tutorials' breaking-news app: registers a template for categories directly at the hub, and stores the
/// registration id and the categories on the device.
///
/// A device has one registration. If its storage was cleared, it reuses the hub's registration with its handle and the template's name, so
/// that old categories do not remain beside new ones.
package struct DeviceSubscriber: Sendable {
    static let registrationKey = "subscriptionId"
    static let categoriesKey = "categories"

    private let hub: any RegistrationGateway
    private let storage: any DeviceStorage

    package init(hub: any RegistrationGateway, storage: any DeviceStorage) {
        self.hub = hub
        self.storage = storage
    }

    /// Replaces the device's categories. If the hub reports that the stored id is gone (410), a new one is requested once. The device
    /// stores nothing before the hub has accepted the registration.
    ///
    /// Throws `subscription.category` for a tag that only the backend or the hub may set, and errors of the hub.
    package func subscribe(
        handle: DeviceHandle, categories: [Tag], template: RegistrationTemplate
    ) async throws(PushError) -> Registration {
        let categories = categories.uniqued()
        for category in categories where category.isUserTag || category.reservedForm != nil {
            throw PushError(
                "subscription.category", "invalid category \"\(category)\": the tag names a user or a device",
                hint: "subscribe to topics, such as Sports", status: 400)
        }
        let description = RegistrationDescription(handle: handle, tags: categories, template: template)
        let registration: Registration
        do {
            registration = try await hub.putRegistration(try await registrationID(for: description), description, ifMatch: nil)
        } catch  where error.code == "hub.gone" {
            registration = try await hub.putRegistration(try await hub.createRegistrationID(), description, ifMatch: nil)
        }
        try await storage.store(registration.id.text, Self.registrationKey)
        try await storage.store(JSON.array(categories.map { .string($0.text) }).text(), Self.categoriesKey)
        return registration
    }

    /// Deletes the registration, the stored id and the categories. A registration that does not exist any more is not an error.
    package func unsubscribe() async throws(PushError) {
        if let id = try await rememberedID() {
            do {
                try await hub.deleteRegistration(id, ifMatch: nil)
            } catch  where ["hub.not_found", "hub.gone"].contains(error.code) {}
        }
        try await storage.store(nil, Self.registrationKey)
        try await storage.store(nil, Self.categoriesKey)
    }

    /// The categories stored on the device. Throws `subscription.storage` if they are not a list of strings.
    package func categories() async throws(PushError) -> [String] {
        guard let text = try await storage.text(Self.categoriesKey) else { return [] }
        guard let list = (try? JSON(parsing: text))?.array, !list.contains(where: { $0.string == nil }) else {
            throw PushError(
                "subscription.storage", "the device's storage has no list of strings under \"\(Self.categoriesKey)\"",
                hint: "subscribe again")
        }
        return list.compactMap(\.string)
    }

    private func rememberedID() async throws(PushError) -> RegistrationID? {
        try await storage.text(Self.registrationKey).flatMap { RegistrationID($0) }
    }

    private func registrationID(for description: RegistrationDescription) async throws(PushError) -> RegistrationID {
        if let remembered = try await rememberedID() { return remembered }
        let known = try await hub.allRegistrations(.handle(description.handle)).first { known in
            known.installationID == nil && known.template.map { $0.name == description.template?.name } == true
                && !known.tags.contains { $0.isUserTag || $0.reservedForm != nil }
        }
        if let known { return known.id }
        return try await hub.createRegistrationID()
    }
}
