/// What the tutorials' app does on the device for breaking news: registers a template for its categories straight at the
/// hub, and remembers both.
///
/// The device has one registration. Where it remembers none (the app's storage was cleared), it takes up the one that the
/// hub has for its handle and the template's name, so that old categories do not live on beside the new ones.
package struct DeviceSubscriber: Sendable {
    static let registrationKey = "subscriptionId"
    static let categoriesKey = "categories"

    private let hub: any HubGateway
    private let storage: any DeviceStorage

    package init(hub: any HubGateway, storage: any DeviceStorage) {
        self.hub = hub
        self.storage = storage
    }

    /// Subscribes to these categories and no others. When the hub says that the remembered id is gone (410), a new one is
    /// asked for, once. Nothing is remembered before the hub has taken it.
    ///
    /// Throws `subscription.category` for a tag that only the backend or the hub gives out, and what the hub throws.
    package func subscribe(
        handle: DeviceHandle, categories: [Tag], template: RegistrationTemplate
    ) async throws(PushError) -> Registration {
        let categories = categories.uniqued()
        for category in categories where category.isUserTag || category.reservedForm != nil {
            throw PushError(
                "subscription.category", "\"\(category)\" is no category: it names a user or a device",
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

    /// Deletes the registration and forgets it with its categories. One that is gone already is fine.
    package func unsubscribe() async throws(PushError) {
        if let id = try await rememberedID() {
            do {
                try await hub.deleteRegistration(id, ifMatch: nil)
            } catch  where ["hub.not_found", "hub.gone"].contains(error.code) {}
        }
        try await storage.store(nil, Self.registrationKey)
        try await storage.store(nil, Self.categoriesKey)
    }

    /// What the device is subscribed to, as it remembers. Throws `subscription.storage` where that is no list of texts.
    package func categories() async throws(PushError) -> [String] {
        guard let text = try await storage.text(Self.categoriesKey) else { return [] }
        guard let list = (try? JSON(parsing: text))?.array, !list.contains(where: { $0.string == nil }) else {
            throw PushError(
                "subscription.storage", "the device's storage has no list of texts under \"\(Self.categoriesKey)\"",
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
