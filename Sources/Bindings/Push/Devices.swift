import Lua
import PushModel

/// A simulated device, as a handle for scripts.
final class DeviceObject: Sendable {
    let id: DeviceID
    let description: DeviceDescription

    var name: String { description.name }

    init(id: DeviceID, description: DeviceDescription) {
        self.id = id
        self.description = description
    }

    static let type = LuaObjectType.handle(
        "device", of: DeviceObject.self, describe: { "device \($0.name)" },
        properties: [
            "name": { .string($0.name) },
            "platform": { .string($0.description.platform.shortName) },
            "user": { $0.description.user.map(LuaValue.string) ?? .nil },
            "locale": { .string($0.description.locale) },
            "time_zone": { .string($0.description.timeZone) },
        ])
}

extension FlowRun {
    /// The device lab. Throws `target.unsupported` if there are no simulated devices.
    var lab: any DeviceLab {
        get throws(LuaError) {
            guard let lab = world.lab else {
                throw .failure(
                    "target.unsupported", "the target \(world.target.name) has no simulated devices",
                    hint: "the embedded target and a server's lab have simulated devices; put this into push.rehearse")
            }
            return lab
        }
    }
}

/// Simulated devices: their creation, inbox, actions and storage.
enum DeviceBindings {
    static let device = Binding(
        "push.device", "Creates a simulated device with the app installed.",
        takes: .table([
            .required("name", .string, "the device's name, unique in the run"),
            .optional("platform", .platform, "apns (the default), fcm, gcm, wns or browser"),
            .optional("user", .string, "the user of the device"),
            .optional("locale", .string, "BCP 47, en-US if absent"),
            .optional("time_zone", .string, "IANA name, UTC if absent"),
        ]),
        returns: "push.Device", errors: ["device.exists", "target.unsupported"],
        example: "local phone = push.device { name = \"alice-1\", platform = \"apns\" }",
        body: .async { arguments, run in
            let description = DeviceDescription(
                name: try arguments.text("name"), platform: try arguments.platform("platform") ?? .apns, user: arguments.string("user"),
                locale: arguments.string("locale") ?? "en-US", timeZone: arguments.string("time_zone") ?? "UTC")
            try run.store(HostCost.storedDevice, arguments)
            let id = try await run.lab.addDevice(description)
            return LuaObject(type: "device", payload: DeviceObject(id: id, description: description))
        })

    static let devices = Binding(
        "push.devices", "All simulated devices, in the order in which they were created.",
        takes: .table([
            .optional("user", .string, "only devices of this user"),
            .optional("platform", .platform, "only devices of this platform"),
        ]),
        returns: "push.Device[]", when: .in(needs: .phones),
        example: "for _, phone in ipairs(push.devices { user = \"alice\" }) do print(phone.name) end",
        body: .async { arguments, run in
            let lab = try run.lab
            let platform = try arguments.platform("platform")
            var found: [LuaObject] = []
            for id in await lab.devices() {
                let description = try await lab.device(id)
                guard platform == nil || description.platform == platform,
                    arguments.string("user") == nil || description.user == arguments.string("user")
                else { continue }
                found.append(LuaObject(type: "device", payload: DeviceObject(id: id, description: description)))
            }
            return found
        })

    static let findDevice = Binding(
        "push.find_device", "Finds a simulated device by name.",
        takes: .positional([.required("name", .string, "the device's name")]),
        returns: "push.Device", when: .in(needs: .phones), errors: ["device.not_found"],
        example: "local phone = push.find_device \"alice-1\"",
        body: .async { arguments, run in
            let (lab, name) = (try run.lab, try arguments.text("name"))
            var names: [String] = []
            for id in await lab.devices() {
                let description = try await lab.device(id)
                if description.name == name {
                    return LuaObject(type: "device", payload: DeviceObject(id: id, description: description))
                }
                names.append(description.name)
            }
            throw LuaError.failure(
                "device.not_found",
                "unknown device \"\(name)\"\(nearest(name, in: names).map { "; did you mean \"\($0)\"?" } ?? "")",
                hint: "push.devices() lists all")
        })

    static let inbox = Binding(
        "device:inbox", "All items that the device received, oldest first.",
        returns: "push.InboxItem[]", when: .in(needs: .phones),
        example: "for _, item in ipairs(phone:inbox()) do print(item.text) end",
        body: .async { arguments, run in
            let items = try await run.lab.inbox(of: arguments.receiver(as: DeviceObject.self).id)
            return items.map(InboxRecord.init)
        })

    static let waitFor = Binding(
        "device:wait_for", "Waits for an item that matches. Items already received count too.",
        takes: .table([
            .optional("alert", .string, "the text that the device shows"),
            .optional("title", .string, "the title"),
            .optional("contains", .string, "part of the text"),
            .optional("background", .boolean, "true: a push that only wakes the app"),
            .optional("within", .duration, "how long to wait, 30 s by default"),
        ]),
        returns: "push.InboxItem|nil", when: .in(needs: .phones),
        example: "push.expect(phone:wait_for { alert = \"Hello\", within = \"5s\" }).to.exist()",
        body: .async(.waiting) { arguments, run in
            let id = try arguments.receiver(as: DeviceObject.self).id
            let lab = try run.lab
            let deadline = run.world.clock.now + (try arguments.duration("within") ?? .seconds(30))
            var items = try await lab.inbox(of: id)
            while true {
                if let found = items.first(where: { arguments.fits($0) }) {
                    run.recordMissedItem(nil, of: arguments.site.task)
                    return InboxRecord(found) as InboxRecord?
                }
                if run.world.clock.now >= deadline {
                    run.recordMissedItem(
                        MissedItem(arguments, on: try arguments.receiver(as: DeviceObject.self).name, items).text, of: arguments.site.task)
                    return nil
                }
                try Task.checkCancellation()
                items = try await lab.waitForItems(moreThan: items.count, on: id, until: deadline)
            }
        })

    static let nextPush = Binding(
        "device:next_push", "Waits for the next push that wakes the app.",
        returns: "push.InboxItem", when: .in(needs: .phones),
        example: "local item = phone:next_push()",
        body: .async(.waiting) { arguments, run in
            let id = try arguments.receiver(as: DeviceObject.self).id
            return InboxRecord(try await run.lab.nextPush(on: id))
        })

    static let onPush = Binding(
        "device:on_push", "Runs a function for every push that wakes the app, in place of the app's own code.",
        takes: .positional([.required("fn", .function, "called with the item")]),
        when: .in(needs: .phones),
        example: "phone:on_push(function(item) phone:show { body = \"You have news\" } end)", body: .prelude)

    static let show = Binding(
        "device:show", "Lets the app show a local notification.",
        takes: .table([
            .required("body", .string, "the text"),
            .optional("title", .string, "the title"),
        ]),
        when: .in(needs: .phones),
        example: "phone:show { title = \"News\", body = \"Lua turns thirty-three\" }",
        body: .async { arguments, run in
            try run.store(HostCost.storedOutcome, arguments)
            try await run.lab.perform(
                .show(title: arguments.string("title") ?? "", body: arguments.string("body") ?? ""),
                on: arguments.receiver(as: DeviceObject.self).id)
        })

    static let actions: [Binding] = [
        action("offline", "Disconnects the device from the network.", .goOffline),
        action("online", "Reconnects the device. Notifications stored by the push service arrive now.", .goOnline),
        action("low_power", "Turns on power saving. Notifications that are not urgent are delayed by the push service.", .enterLowPower),
        action("full_power", "Turns off power saving. Delayed notifications arrive now.", .leaveLowPower),
        action("force_quit", "The user swipes the app away: background pushes no longer wake it.", .forceQuit),
        action("launch", "The user opens the app.", .launch),
        action("rotate_token", "The push service issues a new handle; the old one becomes invalid.", .rotateToken),
        action("uninstall", "The user deletes the app; its handle becomes invalid.", .uninstall),
        action("reinstall", "The user installs the app again, with a new handle and empty storage.", .reinstall),
        action("handle_pushes", "The app handles background pushes from now on.", .handlePushes),
    ]

    private static func action(_ name: String, _ summary: String, _ action: DeviceAction) -> Binding {
        Binding(
            "device:\(name)", summary,
            when: .in(needs: .phones),
            example: "phone:\(name)()",
            body: .async { arguments, run in
                try await run.lab.perform(action, on: arguments.receiver(as: DeviceObject.self).id)
            })
    }

    static let handle = Binding(
        "device:handle", "Returns the handle that the push service issued to the app.",
        returns: "string", errors: ["device.uninstalled"],
        example: "print(phone:handle())",
        body: .async { arguments, run in
            let handle = try await run.lab.handle(of: arguments.receiver(as: DeviceObject.self).id)
            return handle.text
        })

    static let storage = Binding(
        "device:storage", "The persistent storage of the app: a table of strings.",
        returns: "table<string, string>",
        example: "phone:storage().categories = \"Sports\"", body: .prelude)

    static let storageRead = Binding(
        "device:storage_read", "Returns everything that the app has stored.",
        returns: "table<string, string>",
        example: "local all = phone:storage_read()",
        body: .async { arguments, run in
            let all = try await run.lab.storage(of: arguments.receiver(as: DeviceObject.self).id)
            return all
        })

    static let storageWrite = Binding(
        "device:storage_write", "Stores or removes a text.",
        takes: .positional([
            .required("key", .string, "its name"),
            .optional("value", .either([.string, .number, .boolean]), "the text; nil removes it"),
        ]),
        example: "phone:storage_write(\"categories\", \"Sports\")",
        body: .async { arguments, run in
            try run.store(0, arguments)
            try await run.lab.store(
                arguments.value("value")?.text, for: arguments.text("key"),
                on: arguments.receiver(as: DeviceObject.self).id)
        })
}

extension Arguments {
    /// Whether an inbox item matches the arguments of `wait_for`.
    fileprivate func fits(_ item: InboxItem) -> Bool {
        if let alert = string("alert"), !item.isShown || (item.display.text != alert && item.alert.body != alert) { return false }
        if let title = string("title"), item.alert.title != title { return false }
        if let part = string("contains"), !item.display.text.contains(part) { return false }
        if let background = boolean("background"), item.isBackground != background { return false }
        return string("alert") != nil || string("title") != nil || string("contains") != nil
            || boolean("background") != nil || item.isShown
    }
}

extension JSON {
    /// The id of a secure payload in a push. Its position depends on the platform.
    fileprivate var secureID: String? {
        if let id = (self["secureId"] ?? self["data"]?["secureId"])?.string { return id }
        guard self["type"]?.string == "wns/raw", let text = self["text"]?.string, !text.isEmpty,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return text
    }
}

/// A notification received by a device, as scripts see it: `push.InboxItem`.
struct InboxRecord: LuaWritableRecord, Sendable {
    static let luaMembers: [(name: String, shape: LuaShape)] = [
        ("id", .text), ("received_at", .text), ("title", .text), ("body", .text), ("text", .text), ("source", .text),
        ("shown", .boolean), ("background", .boolean), ("badge", .integer.optional), ("reason", .text.optional), ("payload", .value),
        ("secure_id", .text.optional),
    ]

    private let item: InboxItem
    private let payload: LuaValue
    private let secureID: String?

    init(_ item: InboxItem) {
        self.item = item
        // JSON that is nested too deeply for a Lua value stays text.
        let json = (try? JSON(parsing: item.payload)).flatMap { $0.depth < 60 ? $0 : nil }
        payload = json.map(LuaValue.init) ?? (item.payload.isEmpty ? .nil : LuaValue(bytes: item.payload))
        secureID = json?.secureID
    }

    func writeMembers(to writer: inout LuaWriter) {
        writer.write(item.id)
        writer.write(item.receivedAt.description)
        writer.write(item.alert.title)
        writer.write(item.alert.body)
        writer.write(item.display.text)
        writer.write(item.source.rawValue)
        writer.write(item.isShown)
        writer.write(item.isBackground)
        writer.write(item.alert.badge)
        writer.write(item.display.reasonNotShown)
        writer.write(payload)
        writer.write(secureID)
    }
}

extension LuaValue {
    /// A string if the bytes are valid UTF-8, otherwise bytes.
    init(bytes: [UInt8]) {
        self = String(validating: bytes, as: UTF8.self).map(LuaValue.string) ?? .bytes(bytes)
    }
}
