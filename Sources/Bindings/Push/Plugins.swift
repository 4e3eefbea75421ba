import Lua
import PushModel

/// Functions that only plugins can call.
enum PluginBindings {
    static let config = Binding(
        "push.config", "The plugin's configuration, checked against the schema in its manifest. Read-only.",
        takes: .value,
        returns: "table", when: .in(.pluginsRunning),
        example: "local limit = push.config.limit", body: .prelude)

    static let groupCountTags = Binding(
        "group:count_tags", "Counts the devices of the group with each of these tags. Tags without devices are omitted.",
        takes: .positional([.required("tags", .list(.tag), "at most 10,000 tags")]),
        returns: "table<string, integer>", when: .in([.hook(.beforeDeliver)]), errors: ["tag.invalid", "group.too_many_tags"],
        example: "local sleeping = group:count_tags { \"time_zone:Europe.Lisbon\" }",
        body: .async { arguments, _ in
            let tags = try arguments.tags("tags")
            guard tags.count <= 10_000 else {
                throw LuaError.misuse(
                    "group.too_many_tags", "group:count_tags got \(tags.count) tags, at most 10,000 are allowed", hint: "split the call")
            }
            let counts = await (try arguments.receiver(as: GroupObject.self)).group.counts(of: tags)
            return Dictionary(zip(tags, counts).lazy.filter { $0.1 > 0 }.map { ($0.0.text, $0.1) }) { first, _ in first }
        })

    static let groupDevices = Binding(
        "group:devices", "Iterates over the devices of the group. This takes time for each device; prefer tags if possible.",
        returns: "fun(): push.GroupDevice?", when: .in([.hook(.beforeDeliver)], capability: .hubRead),
        example: "for device in group:devices() do push.log(device.number, device.registration) end", body: .prelude)
}

extension HostFunctions {
    /// Functions that the Lua prelude needs for plugins.
    static func plugins(_ home: FlowRun) -> [LuaFunction] {
        [
            LuaFunction("host.config") { (site: LuaCallSite) throws in
                let run = home.attached(site)
                try run.permit(PluginBindings.config.name, PluginBindings.config.conditions)
                return run.plugin?.config ?? .nil
            },
            LuaFunction("host.config_names") { (site: LuaCallSite) in home.attached(site).plugin?.configNames ?? [] },
            LuaFunction("host.group_page") { (site: LuaCallSite, object: LuaObject, after: Int?) async throws in
                try home.attached(site).permit(PluginBindings.groupDevices.name, PluginBindings.groupDevices.conditions)
                guard let group = (object.payload as? GroupObject)?.group else { return [GroupDeviceRecord]() }
                return await group.devices(after: after.flatMap { UInt32(exactly: $0) }, limit: 1000).map(GroupDeviceRecord.init)
            },
        ]
    }
}

/// `push.GroupDevice`.
struct GroupDeviceRecord: LuaWritableRecord, Sendable {
    static let luaMembers: [(name: String, shape: LuaShape)] = [
        ("number", .integer), ("registration", .text.optional), ("installation", .text.optional), ("tags", [String].luaShape),
        ("template", .text.optional),
    ]

    let device: HookedDevice

    func writeMembers(to writer: inout LuaWriter) {
        writer.write(Int(device.number))
        writer.write(device.registrationID?.text)
        writer.write(device.installationID)
        writer.write(device.tags.map(\.text))
        writer.write(device.templateName)
    }
}

extension TypeDescription {
    private static let request: [Field] = [
        Field("to", "string", "the tag expression; absent for everyone and for single devices", isOptional: true),
        Field("audience", "\"everyone\"|\"expression\"|\"devices\"", "the kind of audience"),
        Field("content", "\"template\"|\"native\"", "the kind of content"),
        Field("properties", "table<string, string>", "properties for templates", isOptional: true),
        Field("payload", "table<push.Platform, string>", "a body for each platform", isOptional: true),
        Field("priority", "string", "high, normal or low", isOptional: true),
        Field("collapse_id", "string", "the id by which a later notification replaces it", isOptional: true),
        Field("expires_at", "string", "when it expires, ISO 8601", isOptional: true),
        Field("test", "boolean", "whether it is a test send"),
        Field("hub", "string", "the hub's name"),
        Field("origin", "string[]", "the plugins on whose behalf it is sent"),
    ]

    static let draft = TypeDescription(
        "push.Draft", "A notification before it is accepted.",
        fields: request + [Field("at", "string", "when it is due, ISO 8601", isOptional: true)])

    static let sent = TypeDescription(
        "push.Sent", "A notification that was accepted.",
        fields: request + [
            Field("id", "string", "its id"), Field("at", "string", "when it is due, ISO 8601", isOptional: true),
        ])

    static let group = TypeDescription(
        "push.Group", "The devices of one platform before a notification is delivered to them.",
        fields: request + [
            Field("notification", "string", "the notification's id"),
            Field("platform", "push.Platform", "the push service of the devices"),
            Field("count", "integer", "the number of devices"),
            Field("direct", "boolean", "whether they are handles without registrations, which have no tags"),
        ])

    static let groupDevice = TypeDescription(
        "push.GroupDevice", "One device of a group.",
        fields: [
            Field("number", "integer", "the number by which a ruling refers to it"),
            Field("registration", "string", "the id of its registration", isOptional: true),
            Field("installation", "string", "the id of its installation", isOptional: true),
            Field("tags", "string[]", "its tags"),
            Field("template", "string", "the name of its template", isOptional: true),
        ])

    static let ended = TypeDescription(
        "push.Ended", "A notification that has ended.",
        fields: [
            Field("id", "string", "its id"),
            Field("hub", "string", "the hub's name"),
            Field("state", "push.State", "the final state"),
            Field("tags", "string", "the tag expression, as it was sent", isOptional: true),
            Field("sent", "integer", "devices for which the push service accepted it"),
            Field("failed", "integer", "devices that were not reached"),
            Field("total", "integer", "all devices"),
            Field("enqueued_at", "string", "when it was accepted, ISO 8601"),
            Field("started_at", "string", "when its delivery began", isOptional: true),
            Field("ended_at", "string", "when it ended", isOptional: true),
            Field("counts", "table<push.Platform, table<string, integer>>", "number of devices by result"),
            Field("notices", "string[]", "notices for the operator"),
            Field("origin", "string[]", "the plugins on whose behalf it was sent"),
        ])

    static let candidate = TypeDescription(
        "push.Candidate", "A registration or installation before it is stored.",
        fields: [
            Field("kind", "\"registration\"|\"installation\"", "registration or installation"),
            Field("id", "string", "its id"),
            Field("hub", "string", "the hub's name"),
            Field("platform", "push.Platform", "the push service of the device"),
            Field("user", "string", "the user of the device", isOptional: true),
            Field("tags", "string[]", "its tags"),
            Field("templates", "string[]", "the names of its templates"),
            Field("is_new", "boolean", "whether the id did not exist before"),
            Field("origin", "string[]", "the plugins on whose behalf it is changed"),
        ])

    static let login = TypeDescription(
        "push.Login", "A login of an authenticated user.",
        fields: [
            Field("username", "string", "the user's name"),
            Field("address", "string", "the address of the client", isOptional: true),
            Field("unproved", "boolean", "whether tutorial mode accepted it without a password"),
        ])

    static let secureFetch = TypeDescription(
        "push.SecureFetch", "A user's request to read a secure payload.",
        fields: [Field("id", "string", "the payload's id"), Field("username", "string", "the user's name")])

    static let routeRequest = TypeDescription(
        "push.Request", "A request to a plugin's route.",
        fields: [
            Field("method", "string", "GET, POST, …"),
            Field("path", "string", "the path below /plugins/NAME"),
            Field("params", "table", "the path and query parameters that the route declares"),
            Field("headers", "table<string, string>", "by lower-case name"),
            Field("body", "string", "the bytes of the body"),
            Field("json", "any", "the body as JSON; absent if it is not JSON", isOptional: true),
            Field("user", "string", "the name of the logged-in user", isOptional: true),
            Field("delivery", "string", "the message id of a webhook", isOptional: true),
        ])
}
