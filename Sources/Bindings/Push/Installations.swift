import Lua
import PushModel
import Synchronization

/// Installations of a hub.
enum InstallationBindings {
    static let install = Binding(
        "push.install",
        "Creates or overwrites an installation at the hub, with one channel, any number of templates and an id of your own.",
        takes: .leading(
            [
                .required("id", .string, "the installation's id, preferably a UUID"),
                .optional("device", .object("device"), "the device whose handle is used"),
                .optional("platform", .platform, "apns, fcm, gcm, wns or browser, with push_channel"),
                .optional("push_channel", .string, "the handle, if no device is given", mistakenFor: ["handle", "token"]),
                .optional("user", .string, "the user, for $UserId:{…}", mistakenFor: ["user_id", "username"]),
                .optional("tags", .list(.tag), "its tags"),
                .optional(
                    "templates", .map(.template), "templates by name: a body, or { body=, headers=, expiry=, tags= }",
                    mistakenFor: ["template"]),
                .optional("push_variables", .map(.string), "further properties for the templates"),
                .optional("expires_in", .duration, "lifetime of the installation; set by the hub if absent"),
            ],
            constraint: { keys, name throws(LuaError) in
                if keys.contains("device"), let other = ["platform", "push_channel"].first(where: keys.contains) {
                    throw .misuse(
                        "installation.channel", "\(name): \"device\" and \"\(other)\" cannot be combined",
                        hint: "a device has a platform and a handle; use one of them",
                        details: ["key": .string(other)])
                }
                guard keys.contains("device") || keys.isSuperset(of: ["platform", "push_channel"]) else { throw .missingChannel }
            }),
        returns: "push.Installation", when: .in(.acting, capability: .hubWrite),
        errors: ["handle.invalid", "installation.invalid", "installation.channel", "tag.invalid", "template.syntax"],
        example: "push.install(\"f81d4fae\", { device = phone, tags = { \"Sports\" } })",
        body: .async { arguments, run in
            let id = try arguments.text("id")
            try run.store(HostCost.storedRegistration, arguments)
            let handle = try await arguments.channel(run)
            var installation = Installation(
                id: id, userID: arguments.string("user"), handle: handle, tags: try arguments.tags("tags"),
                pushVariables: arguments.table("push_variables")?.texts ?? [:], templates: try arguments.templates())
            if let lifetime = try arguments.duration("expires_in") {
                installation.expiration = run.world.clock.now + lifetime
            }
            try await run.world.hub.putInstallation(installation)
            if let device = arguments.payload("device", as: DeviceObject.self) {
                run.noteRegistration(named: installationTag(id), of: handle, device: device.name, task: arguments.site.task)
            }
            run.noteInstalled(installation, site: arguments.site)
            run.warn(of: installation.embeddedExpressions, site: arguments.site)
            return InstallationRecord(try await run.world.hub.installation(id))
        })

    static let installation = Binding(
        "push.installation", "Reads one installation.",
        takes: .positional([.required("id", .string, "the installation's id")]),
        returns: "push.Installation", when: .in(.running, capability: .hubRead), errors: ["hub.not_found"],
        example: "print(push.installation(\"f81d4fae\").platform)",
        body: .async { arguments, run in InstallationRecord(try await run.world.hub.installation(arguments.text("id"))) })

    static let installations = Binding(
        "push.installations", "Iterates over the hub's installations: all of them, or those of a user, a tag or a platform.",
        takes: .table([
            .optional("user", .string, "only installations of this user"), .optional("tag", .string, "only installations with this tag"),
            .optional("platform", .platform, "only installations of this platform"),
        ]),
        returns: "fun(): push.Installation?", when: .in(.running, capability: .hubRead), errors: ["installation.filter"],
        example: "for installation in push.installations { tag = \"Sports\" } do print(installation.id) end", body: .prelude)

    static let patch = Binding(
        "push.patch", "Changes parts of an installation atomically (JSON Patch: add, remove, replace).",
        takes: .positional([
            .required("id", .string, "the installation's id"),
            .required("operations", .list(.table), "{ { op = \"add\", path = \"/tags\", value = \"Sports\" }, … }")
                .ruled { if case .table(let table) = $0 { _ = try [PatchOperation](table) } },
        ]),
        returns: "push.Installation", when: .in(.acting, capability: .hubWrite),
        errors: ["hub.not_found", "installation.patch", "tag.invalid"],
        example: "push.patch(\"f81d4fae\", { { op = \"add\", path = \"/tags\", value = \"Sports\" } })",
        body: .async { arguments, run in
            let id = try arguments.text("id")
            try run.store(0, arguments)
            try await run.world.hub.patchInstallation(id, try [PatchOperation](arguments.table("operations") ?? LuaTable()))
            let installation = try await run.world.hub.installation(id)
            run.noteTemplates(of: installation)
            run.warn(of: installation.embeddedExpressions, site: arguments.site)
            return InstallationRecord(installation)
        })

    static let uninstall = Binding(
        "push.uninstall", "Deletes an installation. It is not an error if there is none.",
        takes: .positional([.required("id", .string, "the installation's id")]),
        when: .in(.acting, capability: .hubWrite),
        example: "push.uninstall(\"f81d4fae\")",
        body: .async { arguments, run in
            let id = try arguments.text("id")
            try await run.world.hub.deleteInstallation(id)
            run.state.withLock { $0.registrations[installationTag(id)] = nil }
        })

    fileprivate static func installationTag(_ id: String) -> String { "$InstallationId:{\(id)}" }
}

extension FlowRun {
    /// Records whether an installation has templates. Warns if it replaced one that had some and has none itself.
    fileprivate func noteInstalled(_ installation: Installation, site: LuaCallSite) {
        guard noteTemplates(of: installation), installation.templates.isEmpty else { return }
        emit(
            .warning(
                FlowWarning(
                    code: "hub.registration_replaced",
                    message: "installation \"\(installation.id)\" has no templates now: it replaced one that had some",
                    near: ["pass the templates again, or change parts of the installation with push.patch"], location: site.location)))
    }

    /// Records whether an installation has templates. Returns whether it had some.
    @discardableResult
    fileprivate func noteTemplates(of installation: Installation) -> Bool {
        let (tag, isTemplate) = (InstallationBindings.installationTag(installation.id), !installation.templates.isEmpty)
        return state.withLock { $0.registrations.updateValue(isTemplate, forKey: tag) } ?? false
    }

    /// Loads a page for the iterator of `push.installations`.
    func installationPage(_ filter: LuaTable?, continuation: String?) async throws -> InstallationPage {
        let fields = (filter?.fields ?? [:]).sorted { $0.key < $1.key }
        guard fields.count <= 1 else {
            throw LuaError.misuse(
                "installation.filter", "push.installations takes one of \"user\", \"tag\" and \"platform\"",
                hint: "filter by the rest inside the loop")
        }
        let wanted: InstallationFilter =
            switch (fields.first?.key, fields.first?.value.text ?? "") {
            case ("user"?, let name): .user(name)
            case ("tag"?, let text): .tag(try Tag(text))
            case ("platform"?, let name): .platform(try Platform.named(name))
            default: .all
            }
        let page = try await RunOperation(run: self).perform {
            try await world.hub.installations(wanted, page: Page(continuation: continuation))
        }
        return InstallationPage(installations: page.installations.map(InstallationRecord.init), continuation: page.continuation)
    }
}

extension Arguments {
    fileprivate func channel(_ run: FlowRun) async throws -> DeviceHandle {
        if let device = payload("device", as: DeviceObject.self) { return try await run.lab.handle(of: device.id) }
        guard let platform = try platform("platform"), let text = string("push_channel") else { throw LuaError.missingChannel }
        return try DeviceHandle(platform: platform, text: text)
    }

    fileprivate func templates() throws -> [String: InstallationTemplate] {
        var templates: [String: InstallationTemplate] = [:]
        for (name, value) in table("templates")?.fields ?? [:] {
            if case .string(let body) = value {
                templates[name] = InstallationTemplate(body: body)
            } else if case .table(let table) = value {
                templates[name] = try InstallationTemplate(table, name: name)
            }
        }
        return templates
    }
}

extension [PatchOperation] {
    /// Reads patch operations. Throws `installation.patch`.
    fileprivate init(_ table: LuaTable) throws {
        self = try table.array.enumerated().map { index, value in
            func refuse(_ why: String) -> LuaError {
                .misuse(
                    "installation.patch", "operation \(index + 1) \(why)",
                    hint: "write { op = \"add\", path = \"/tags\", value = \"Sports\" }; op is add, remove or replace")
            }
            guard case .table(let table) = value else { throw refuse("must be a table, got \(value.phrase)") }
            guard case .string(let op)? = table.fields["op"] else { throw refuse("has no op") }
            guard let kind = PatchOperation.Kind(rawValue: op) else {
                let near = nearest(op, in: PatchOperation.Kind.allCases.map(\.rawValue)).map { "; did you mean \"\($0)\"?" } ?? ""
                throw refuse("has the unknown op \"\(op)\"\(near)")
            }
            guard case .string(let path)? = table.fields["path"] else { throw refuse("has no path") }
            do throws(JSONConversionError) {
                return PatchOperation(kind, path, try table.fields["value"]?.json(named: "value"))
            } catch {
                throw LuaError.misuse(
                    "installation.patch", "operation \(index + 1) cannot be written as JSON: \(error.message)", hint: error.hint)
            }
        }
    }
}

extension LuaError {
    fileprivate static var missingChannel: LuaError {
        .misuse(
            "installation.channel", "push.install needs a device, or platform and push_channel",
            hint: "write device = phone, or platform = \"apns\", push_channel = \"…\"")
    }
}

extension InstallationTemplate {
    fileprivate init(_ table: LuaTable, name: String) throws {
        let keys = ["body", "headers", "expiry", "tags"]
        for key in table.fields.keys.sorted() where !keys.contains(key) {
            let near = nearest(key, in: keys)
            throw LuaError.misuse(
                "args.unknown_key", "the template \"\(name)\" has no key \"\(key)\"\(near.map { "; did you mean \"\($0)\"?" } ?? "")",
                hint: "its keys are \(keys.joined(separator: ", "))", details: ["key": .string(key)])
        }
        guard case .string(let body)? = table.fields["body"] else {
            throw LuaError.misuse("args.missing", "the template \"\(name)\" needs a \"body\"", hint: "give it as text")
        }
        for (key, isList) in [("headers", false), ("tags", true)] {
            guard let given = table.fields[key] else { continue }
            guard case .table(let inner) = given, isList ? inner.fields.isEmpty : inner.array.isEmpty else {
                throw LuaError.misuse(
                    "args.wrong_type",
                    "\"\(key)\" of the template \"\(name)\" must be \(isList ? "a list of strings" : "a table of strings"), got \(given.phrase)",
                    details: ["key": .string(key)])
            }
        }
        if let given = table.fields["expiry"], given.text == nil {
            throw LuaError.misuse(
                "args.wrong_type", "\"expiry\" of the template \"\(name)\" must be a string, got \(given.phrase)",
                details: ["key": .string("expiry")])
        }
        func texts(_ key: String) -> LuaTable? {
            if case .table(let inner)? = table.fields[key] { inner } else { nil }
        }
        let tags = try texts("tags")?.array.compactMap(\.text).map { try Tag($0) }
        self.init(
            body: body,
            headers: (texts("headers")?.texts ?? [:]).sorted { $0.key < $1.key }.map { PushHeader($0.key, $0.value) },
            expiry: table.fields["expiry"]?.text, tags: tags)
    }
}

/// An installation, as scripts see it: `push.Installation`.
struct InstallationRecord: LuaWritableRecord, Sendable {
    static let luaMembers: [(name: String, shape: LuaShape)] = [
        ("id", .text), ("platform", .text), ("push_channel", .text), ("push_channel_expired", .boolean), ("tags", [String].luaShape),
        ("push_variables", [String: String].luaShape), ("user", .text.optional), ("expires", .text.optional),
        ("templates", [String: TemplateRecord].luaShape),
    ]

    private let installation: Installation

    init(_ installation: Installation) { self.installation = installation }

    func writeMembers(to writer: inout LuaWriter) {
        writer.write(installation.id)
        writer.write(installation.handle.platform.shortName)
        writer.write(installation.handle.text)
        writer.write(installation.isPushChannelExpired)
        writer.write(installation.tags.map(\.text))
        writer.write(installation.pushVariables)
        writer.write(installation.userID)
        writer.write(installation.expiration?.iso8601(fraction: false))
        writer.write(installation.templates.mapValues(TemplateRecord.init))
    }
}

/// `push.InstallationTemplate`.
private struct TemplateRecord: LuaWritableRecord {
    static let luaMembers: [(name: String, shape: LuaShape)] = [("body", .text), ("tags", [String].luaShape), ("expiry", .text.optional)]

    let template: InstallationTemplate

    func writeMembers(to writer: inout LuaWriter) {
        writer.write(template.body)
        writer.write(template.tags?.map(\.text) ?? [])
        writer.write(template.expiry)
    }
}

/// A page of installations, with the token of the next page.
struct InstallationPage: LuaWritableRecord, Sendable {
    static let luaMembers: [(name: String, shape: LuaShape)] = [
        ("installations", [InstallationRecord].luaShape), ("continuation", .text.optional),
    ]

    let installations: [InstallationRecord]
    let continuation: String?

    func writeMembers(to writer: inout LuaWriter) {
        writer.write(installations)
        writer.write(continuation)
    }
}
