import Lua
import PushCore

// What plugins have beside what flows have.
extension Binding {
    static let config = Binding(
        "push.config", "What the plugin was configured with, checked against the schema of its manifest. Cannot be changed.", style: .value,
        returns: "table", phases: .pluginsRunning, example: "local limit = push.config.limit", body: .prelude)

    static let groupCountTags = Binding(
        "group:count_tags", "How many of the group's devices have each of these tags; tags that none has are left out.",
        parameters: [.required("tags", .list(.tag), "at most 10,000 tags")], returns: "table<string, integer>",
        phases: [.hook(.beforeDeliver)], errors: ["tag.invalid", "group.too_many_tags"],
        example: "local sleeping = group:count_tags { \"time_zone:Europe.Lisbon\" }",
        body: .async { arguments, _ in
            let tags = try arguments.tags("tags")
            guard tags.count <= 10_000 else {
                throw LuaError.misuse(
                    "group.too_many_tags", "group:count_tags got \(tags.count) tags, more than 10,000", hint: "ask for some at a time")
            }
            let counts = await (try arguments.receiver(as: GroupObject.self)).group.counts(of: tags)
            return Dictionary(zip(tags, counts).lazy.filter { $0.1 > 0 }.map { ($0.0.text, $0.1) }) { first, _ in first }
        })

    static let groupDevices = Binding(
        "group:devices", "Goes through the devices of the group one by one, which costs time for each: prefer tags where these will do.",
        returns: "fun(): push.GroupDevice?", phases: [.hook(.beforeDeliver)], capability: .hubRead,
        example: "for device in group:devices() do push.log(device.number, device.registration) end", body: .prelude)
}

extension HostFunctions {
    /// What the prelude needs for plugins.
    static func plugins(_ home: FlowRun) -> [LuaFunction] {
        [
            LuaFunction("host.config") { (site: LuaCallSite) throws in
                let run = home.attached(site)
                try run.permit(.config)
                return run.plugin?.config ?? .nil
            },
            LuaFunction("host.config_names") { (site: LuaCallSite) in home.attached(site).plugin?.configNames ?? [] },
            LuaFunction("host.group_page") { (site: LuaCallSite, object: LuaObject, after: Int?) async throws in
                try home.attached(site).permit(.groupDevices)
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
        Field("to", "string", "the tag expression; none for everyone and for single devices", isOptional: true),
        Field("audience", "\"everyone\"|\"expression\"|\"devices\"", "who gets it"),
        Field("content", "\"template\"|\"native\"", "what it is made of"),
        Field("properties", "table<string, string>", "what templates are filled with", isOptional: true),
        Field("payload", "table<push.Platform, string>", "a body for each platform", isOptional: true),
        Field("priority", "string", "high, normal or low", isOptional: true),
        Field("collapse_id", "string", "what a later one replaces it by", isOptional: true),
        Field("expires_at", "string", "until when it is worth delivering, ISO 8601", isOptional: true),
        Field("test", "boolean", "whether it is a test send"),
        Field("hub", "string", "the hub's name"),
        Field("origin", "string[]", "the plugins on whose behalf it is sent"),
    ]

    static let draft = TypeDescription(
        "push.Draft", "A notification that is about to be accepted.",
        fields: request + [Field("at", "string", "when it is to go out, ISO 8601", isOptional: true)])

    static let sent = TypeDescription(
        "push.Sent", "A notification that was accepted.",
        fields: request + [
            Field("id", "string", "its id"), Field("at", "string", "when it is to go out, ISO 8601", isOptional: true),
        ])

    static let group = TypeDescription(
        "push.Group", "The devices of one platform that are about to get a notification.",
        fields: request + [
            Field("notification", "string", "the notification's id"),
            Field("platform", "push.Platform", "the push service of the devices"),
            Field("count", "integer", "how many they are"),
            Field("direct", "boolean", "whether they are handles without registrations: these have no tags"),
        ])

    static let groupDevice = TypeDescription(
        "push.GroupDevice", "One device of a group.",
        fields: [
            Field("number", "integer", "what a ruling names it by"),
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
            Field("state", "push.State", "how it ended"),
            Field("tags", "string", "the tag expression, as it was sent", isOptional: true),
            Field("sent", "integer", "devices whose push service took it"),
            Field("failed", "integer", "devices that did not get it"),
            Field("total", "integer", "all devices"),
            Field("enqueued_at", "string", "when it was accepted, ISO 8601"),
            Field("started_at", "string", "when its delivery began", isOptional: true),
            Field("ended_at", "string", "when it ended", isOptional: true),
            Field("counts", "table<push.Platform, table<string, integer>>", "how many devices ended how"),
            Field("notices", "string[]", "what an operator should know of it"),
            Field("origin", "string[]", "the plugins on whose behalf it was sent"),
        ])

    static let candidate = TypeDescription(
        "push.Candidate", "A registration or an installation that is about to be kept.",
        fields: [
            Field("kind", "\"registration\"|\"installation\"", "which of both"),
            Field("id", "string", "its id"),
            Field("hub", "string", "the hub's name"),
            Field("platform", "push.Platform", "the push service of the device"),
            Field("user", "string", "whose device it is", isOptional: true),
            Field("tags", "string[]", "its tags"),
            Field("templates", "string[]", "the names of its templates"),
            Field("is_new", "boolean", "whether nothing of that id was there before"),
            Field("origin", "string[]", "the plugins on whose behalf it is changed"),
        ])

    static let login = TypeDescription(
        "push.Login", "A user who has proved who they are.",
        fields: [
            Field("username", "string", "the user's name"),
            Field("address", "string", "where the request comes from", isOptional: true),
            Field("unproved", "boolean", "whether tutorial mode asked for no password"),
        ])

    static let secureFetch = TypeDescription(
        "push.SecureFetch", "A user who is about to read a secure payload.",
        fields: [Field("id", "string", "the payload's id"), Field("username", "string", "the user's name")])

    static let routeRequest = TypeDescription(
        "push.Request", "A request to a plugin's route.",
        fields: [
            Field("method", "string", "GET, POST, …"),
            Field("path", "string", "below /plugins/NAME"),
            Field("params", "table", "those of the path and of the query that the route declares"),
            Field("headers", "table<string, string>", "by their names in small letters"),
            Field("body", "string", "the bytes of the body"),
            Field("json", "any", "the body as JSON; none where it is something else", isOptional: true),
            Field("user", "string", "who is logged in", isOptional: true),
            Field("delivery", "string", "what a webhook calls the message", isOptional: true),
        ])
}
