import ArgumentParser
import Bindings
import Lua
import PushLab
import PushModel
import PushServer

struct PluginEnableCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "Make a plugin live: adds it to the end of the list.",
        discussion: """
            Loads the plugin and runs its specs first, and reports the findings of pushhost plugin check. The capabilities that it needs \
            must be granted, with --grant or pushhost plugin grant. If a server is running, waits until the plugin is live there.

            Example: pushhost plugin enable frequency-cap --grant
            """)

    @Argument(help: "Name of the plugin, as pushhost plugin list shows it.")
    var name: String

    @Flag(help: "Grant all capabilities that it needs.")
    var grant = false

    @OptionGroup
    var options: PluginOptions

    func run(in program: HostProgram) async {
        await options.session.run { () async throws(PushError) in
            let settings = try options.settings()
            let folder = PluginFolder(path: settings.plugins)
            let entry = try PluginListFile(folder).list()[name]
            if let native = program.plugin(named: name) { return try await enable(native, entry, folder, program) }
            let versions = PluginVersions(path: "\(settings.data)/plugins")
            let listed = entry ?? PluginList.Entry(name: name)
            let source = try versions.source(of: listed, in: folder)
            let findings = try await PluginCheckCommand.report(name, listed, folder, versions, program).findings
            let probe = try await PluginProbe(folder: folder, program: program).load(source, entry, grantingAll: grant)
            try await PluginProbe(folder: folder, program: program).trial(of: source)
            let changed = try options.change(folder, name) { entry throws(PushError) in
                [.enabled(true)] + (grant ? [.grants(PluginGrants.merged(entry?.grants ?? [], probe.grants.needs))] : [])
            }
            let missing = grant ? [] : probe.grants.missing
            let takeOver = await PluginRollout.settled(name, source, in: folder, settings)
            return CommandResult(
                json: .object(
                    JSONObject([
                        ("name", .string(name)), ("changed", .bool(changed)), ("version", .string(source.version)),
                        ("missing", .array(missing.map { .string($0.description) })),
                        ("findings", .array(findings.map(JSON.string))), ("server", takeOver.json),
                    ]))
            ) { palette in
                [changed ? "\(palette.bold(name)) is enabled, version \(source.version)" : "\(palette.bold(name)) is already enabled"]
                    + missing.map { "  needs \($0), which is not granted: pushhost plugin grant \(name) \($0)" }
                    + (findings.isEmpty ? [] : ["  possible mistakes found: pushhost plugin check \(name)"]) + takeOver.lines
            }
        }
    }
}

extension PluginEnableCommand {
    private func enable(_ native: NativePluginType, _ entry: PluginList.Entry?, _ folder: PluginFolder, _ program: HostProgram)
        async throws(PushError)
        -> CommandResult
    {
        let shown = name
        do throws(LuaError) {
            _ = try await PluginProbe(folder: folder, program: program).tried(native, entry ?? PluginList.Entry(name: name))
        } catch {
            throw PushError(error.code, error.message, hint: error.hint)
        }
        let changed = try options.change(folder, name) { _ throws(PushError) in [.enabled(true)] }
        return CommandResult(
            json: .object([
                "name": .string(name), "changed": .bool(changed), "version": .string(NativePluginType.version), "missing": .array([]),
            ])
        ) { palette in
            ["\(palette.bold(shown)) \(changed ? "is enabled, compiled into the program" : "is already enabled")"]
        }
    }
}

struct PluginDisableCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable", abstract: "Disable a plugin. Its position in the list, grants and stored values stay.",
        discussion: "Example: pushhost plugin disable frequency-cap")

    @Argument(help: "Name of the plugin, as pushhost plugin list shows it.")
    var name: String

    @OptionGroup
    var options: PluginOptions

    func run(in program: HostProgram) async {
        await options.session.run { () async throws(PushError) in
            let folder = try options.folder()
            let changed = try options.change(folder, name) { entry throws(PushError) in
                guard entry != nil else { throw PluginGrants.unlisted(name, in: folder, program) }
                return [.enabled(false)]
            }
            return CommandResult(json: .object(["name": .string(name), "changed": .bool(changed)])) { palette in
                ["\(palette.bold(name)) \(changed ? "is disabled" : "is already disabled")"]
            }
        }
    }
}

struct PluginGrantCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "grant", abstract: "Grant capabilities to a plugin.",
        discussion: """
            Without CAPABILITY, all capabilities that the plugin needs are granted. docs/explanation/plugin-security.md describes each.

            Example: pushhost plugin grant frequency-cap kv
            """)

    @Argument(help: "Name of the plugin, as pushhost plugin list shows it.")
    var name: String

    @Argument(help: "Capabilities, such as hub.send, kv, http:api.example.com, secret:token.")
    var capability: [String] = []

    @OptionGroup
    var options: PluginOptions

    func run(in program: HostProgram) async {
        await options.session.run { () async throws(PushError) in
            let folder = try options.folder()
            var granted: [Capability] = []
            try PluginGrants.checkIsScript(name, in: program)
            for text in capability { granted.append(try PluginGrants.capability(text)) }
            if capability.isEmpty {
                let versions = PluginVersions(path: "\(try options.settings().data)/plugins")
                let entry = try PluginListFile(folder).list()[name]
                let source = try versions.source(of: entry ?? PluginList.Entry(name: name), in: folder)
                granted = try await PluginProbe(folder: folder, program: program).load(source, entry, grantingAll: true).grants.needs
            }
            var all: [Capability] = []
            _ = try options.change(folder, name) { entry throws(PushError) in
                guard let entry else { throw PluginGrants.unlisted(name, in: folder, program) }
                all = PluginGrants.merged(entry.grants, granted)
                return [.grants(all)]
            }
            return PluginGrants.result(name, all)
        }
    }
}

struct PluginRevokeCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revoke capabilities of a plugin.", discussion: "Example: pushhost plugin revoke frequency-cap kv")

    @Argument(help: "Name of the plugin, as pushhost plugin list shows it.")
    var name: String

    @Argument(help: "Capabilities to revoke.")
    var capability: [String]

    @OptionGroup
    var options: PluginOptions

    func run(in program: HostProgram) async {
        await options.session.run { () async throws(PushError) in
            let folder = try options.folder()
            var revoked: [Capability] = []
            for text in capability { revoked.append(try PluginGrants.capability(text)) }
            var left: [Capability] = []
            _ = try options.change(folder, name) { entry throws(PushError) in
                guard let entry else { throw PluginGrants.unlisted(name, in: folder, program) }
                if let stray = revoked.first(where: { !entry.grants.contains($0) }) {
                    throw PushError(
                        "plugin.not_granted", "\(name) was not granted \(stray)",
                        hint: entry.grants.isEmpty
                            ? "it has no grants" : "its grants are \(entry.grants.map(\.description).joined(separator: ", "))")
                }
                left = entry.grants.filter { !revoked.contains($0) }
                return [.grants(left)]
            }
            return PluginGrants.result(name, left)
        }
    }
}

struct PluginRollbackCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollback", abstract: "Make an older version of a plugin live and pin it, regardless of the content of its folder.",
        discussion: """
            Without VERSION, the version that was live before becomes live. --release removes the pin, so that the folder's content is \
            live again.

            Example: pushhost plugin rollback frequency-cap
            """)

    @Argument(help: "Name of the plugin, as pushhost plugin list shows it.")
    var name: String

    @Argument(help: "First digits of the version's hash, as pushhost plugin list shows it.")
    var version: String?

    @Flag(help: "Remove the pin, so that the folder's content is live again.")
    var release = false

    @OptionGroup
    var options: PluginOptions

    func validate() throws {
        guard !(release && version != nil) else {
            throw ValidationError.usage("--release and VERSION cannot be combined", hint: "remove one of them")
        }
    }

    func run(in program: HostProgram) async {
        await options.session.run { () async throws(PushError) in
            let settings = try options.settings()
            let folder = PluginFolder(path: settings.plugins)
            let versions = PluginVersions(path: "\(settings.data)/plugins")
            try PluginGrants.checkIsScript(name, in: program)
            // Asks the server for the live version, because it may have rejected the folder's content.
            let served = version == nil && !release ? try await PluginOptions.served(settings) : nil
            guard let entry = try PluginListFile(folder).list()[name] else { throw PluginGrants.unlisted(name, in: folder, program) }
            var pinned: PluginSource?
            if !release {
                let chosen: String
                if let version { chosen = version } else { chosen = try await Self.before(entry, served, folder, versions, program) }
                let source = try versions.source(of: name, chosen, folder: folder.folder(of: name))
                do throws(PushError) {
                    _ = try await PluginProbe(folder: folder, program: program).load(source, entry, grantingAll: false)
                } catch {
                    throw PushError(
                        error.code, "version \(source.version) of \(name) cannot be live: \(error.message)", hint: error.hint)
                }
                pinned = source
            }
            _ = try options.change(folder, name) { entry throws(PushError) in
                guard entry != nil else { throw PluginGrants.unlisted(name, in: folder, program) }
                return [.pin(pinned?.version)]
            }
            if let pinned {
                let (pin, takeOver) = (pinned.version, await PluginRollout.settled(name, pinned, in: folder, settings))
                return CommandResult(
                    json: .object(["name": .string(name), "version": .string(pin), "server": takeOver.json])
                ) { palette in
                    [
                        "\(palette.bold(name)) is pinned to version \(pin); undo with pushhost plugin rollback \(name) --release"
                    ] + takeOver.lines
                }
            }
            let fault = await Self.fault(entry, folder, program)
            return CommandResult(
                json: .object(["name": .string(name), "version": .null, "fault": fault.map { .string($0.message) } ?? .null])
            ) { palette in
                guard let fault else {
                    return ["\(palette.bold(name)) is no longer pinned; the content of \(folder.folder(of: name)) is live again"]
                }
                return [
                    "\(palette.bold(name)) is no longer pinned, but the content of its folder cannot be live: \(fault.message)",
                    "  the current version stays live until that is fixed",
                ]
            }
        }
    }
}

extension PluginRollbackCommand {
    /// The error that prevents the content of a plugin's folder from being live; nil if there is none.
    private static func fault(_ entry: PluginList.Entry, _ folder: PluginFolder, _ program: HostProgram) async -> PushError? {
        do throws(PushError) {
            let source = try folder.source(of: entry.name)
            _ = try await PluginProbe(folder: folder, program: program).load(source, entry, grantingAll: false)
            try await PluginProbe(folder: folder, program: program).trial(of: source)
            return nil
        } catch {
            return error
        }
    }

    /// The version that was live before the current one.
    private static func before(
        _ entry: PluginList.Entry, _ served: JSON?, _ folder: PluginFolder, _ versions: PluginVersions, _ program: HostProgram
    ) async throws(PushError) -> String {
        let known = versions.versions(of: entry.name)
        let live = served?["plugins"]?.array?.first { $0["name"]?.string == entry.name }?["live"]?["version"]?.string
        // The source that a server would start with.
        let source = try? folder.source(of: entry.name)
        let pin = entry.pin.flatMap { pin in known.contains { $0.hash.hasPrefix(pin) } ? pin : nil }
        let isFit = live == nil && pin == nil ? await fault(entry, folder, program) == nil : true
        let current = pin ?? live ?? (isFit ? source?.hash : versions.last(of: entry.name)?.hash) ?? ""
        // The next older version; the newest one if the current version was not stored.
        let index = known.firstIndex { $0.hash.hasPrefix(current) }
        guard let before = known.dropFirst(index.map { $0 + 1 } ?? 0).first else {
            throw PushError(
                "plugin.no_version", "no earlier version of \(entry.name) is stored in \(versions.path)",
                hint: "only the last \(PluginVersions.maximumVersions) live versions are stored")
        }
        return before.hash
    }
}

/// Functions shared by the commands about grants.
enum PluginGrants {
    static func capability(_ text: String) throws(PushError) -> Capability {
        do throws(Capability.Unreadable) {
            return try Capability(parsing: text)
        } catch {
            throw PushError(
                "usage.value", error.reason, hint: "capabilities are \(Capability.forms.joined(separator: ", "))")
        }
    }

    /// Throws `plugin.native` for a plugin that is compiled into the program.
    static func checkIsScript(_ name: String, in program: HostProgram) throws(PushError) {
        guard program.plugin(named: name) != nil else { return }
        throw PushError(
            "plugin.native", "\(name) is compiled into the program: it has no grants and no versions",
            hint: "to change or remove it, build another program")
    }

    /// Appends capabilities that are not covered yet, in the order in which they are granted.
    static func merged(_ old: [Capability], _ new: [Capability]) -> [Capability] {
        new.reduce(into: old) { all, capability in
            if !all.contains(where: { $0.covers(capability) }) { all.append(capability) }
        }
    }

    static func unlisted(_ name: String, in folder: PluginFolder, _ program: HostProgram) -> PushError {
        let names = folder.names + program.plugins.map(\.name)
        return PushError(
            "plugin.not_listed", "\(folder.listPath) does not list \(name)",
            hint: names.contains(name)
                ? "enable it first: pushhost plugin enable \(name)"
                : nearest(name, in: names).map { "did you mean \"\($0)\"?" } ?? "see all names with pushhost plugin list")
    }

    static func result(_ name: String, _ grants: [Capability]) -> CommandResult {
        CommandResult(
            json: .object(["name": .string(name), "grants": .array(grants.map { .string($0.description) })])
        ) { palette in
            ["\(palette.bold(name)) may: \(grants.isEmpty ? "nothing" : grants.map(\.description).joined(separator: ", "))"]
        }
    }
}
