import Lua
import PushModel

/// Subscriptions of a device to categories.
enum SubscriptionBindings {
    static let subscribe = Binding(
        "push.subscribe",
        "Registers a device directly at the hub, with a template and its categories as tags. Subscribing again replaces the categories, "
            + "which the device stores.",
        takes: .table([
            .required("device", .object("device"), "the device to subscribe: push.device{…}"),
            .required(
                "categories", .list(.tag), "the categories: { \"Sports\", \"Science\" }",
                mistakenFor: ["tags", "category", "topics"]),
            .optional(
                "template", .template,
                "a template's body, or { name=, body=, headers=, expiry= }; by default one that shows the property"),
            .optional("property", .string, "the property that the default template shows, messageParam by default"),
        ]),
        returns: "push.Registration",
        errors: [
            "device.uninstalled", "hub.gone", "subscription.category", "tag.invalid", "template.document", "template.format",
            "template.name", "template.syntax",
        ],
        example: "push.subscribe { device = phone, categories = { \"Sports\", \"Science\" } }",
        body: .async { arguments, run in
            let device = try arguments.handle("device", as: DeviceObject.self)
            let lab = try run.lab
            try run.store(HostCost.storedRegistration, arguments)
            let handle = try await lab.handle(of: device.id)
            let property = arguments.string("property") ?? "messageParam"
            let template =
                try arguments.template("template", platform: handle.platform)
                ?? RegistrationTemplate(
                    name: "breakingNews", body: AlertPayloads.template(property: property, platform: handle.platform),
                    platform: handle.platform)
            let registration = try await DeviceSubscriber(hub: run.world.hub, storage: LabStorage(lab: lab, device: device.id))
                .subscribe(handle: handle, categories: try arguments.tags("categories"), template: template)
            run.noteRegistration(registration, device: device.name, site: arguments.site)
            run.warn(of: template.embeddedExpressions, site: arguments.site)
            return RegistrationRecord(registration)
        })

    static let unsubscribe = Binding(
        "push.unsubscribe", "Deletes the device's subscription and its stored categories.",
        takes: .table([.required("device", .object("device"), "the device")]),
        example: "push.unsubscribe { device = phone }",
        body: .async { arguments, run in
            let device = try arguments.handle("device", as: DeviceObject.self)
            let storage = LabStorage(lab: try run.lab, device: device.id)
            try await DeviceSubscriber(hub: run.world.hub, storage: storage).unsubscribe()
        })

    static let categories = Binding(
        "device:categories", "Lists the categories of the device's subscription, as stored on the device.",
        returns: "string[]", errors: ["subscription.storage"],
        example: "for _, category in ipairs(phone:categories()) do print(category) end",
        body: .async { arguments, run in
            let device = try arguments.receiver(as: DeviceObject.self)
            let storage = LabStorage(lab: try run.lab, device: device.id)
            let categories = try await DeviceSubscriber(hub: run.world.hub, storage: storage).categories()
            return categories
        })
}

/// The storage of the app on a simulated device.
private struct LabStorage: DeviceStorage {
    let lab: any DeviceController
    let device: DeviceID

    func text(_ key: String) async throws(PushError) -> String? { try await lab.storage(of: device)[key] }

    func store(_ text: String?, _ key: String) async throws(PushError) { try await lab.store(text, for: key, on: device) }
}
