import ArgumentParser
import Bindings
import Lua
import PushCore

struct PluginEnableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "Make a plugin live: puts it into the list, behind the others.",
        discussion: """
            It is loaded and runs its specs first; what else pushhost plugin check would find is told. What it needs has to be granted: \
            --grant, or pushhost plugin grant. Where a server runs, the command ends when it is live there.
            """)

    @Argument(help: "The plugin's name.")
    var name: String

    @Flag(help: "Grant it all that it needs.")
    var grant = false

    @OptionGroup
    var options: PluginOptions

    func run() async {
        await options.session.run { () async throws(PushError) in
            let settings = try options.settings()
            let folder = PluginFolder(path: settings.plugins)
            let entry = try PluginOptions.list(of: folder)[name]
            if let native = NativeParts.plugin(named: name) { return try await enable(native, entry, folder) }
            let versions = PluginVersions(path: "\(settings.data)/plugins")
            let listed = entry ?? PluginList.Entry(name: name)
            let source = try versions.source(of: listed, in: folder)
            let findings = try await PluginCheckCommand.report(name, listed, folder, versions).findings
            let probe = try await PluginProbe(folder: folder).load(source, entry, grantingAll: grant)
            try await PluginProbe(folder: folder).trial(of: source)
            let changed = try options.change(folder, name) { entry throws(PushError) in
                [.enabled(true)] + (grant ? [.grants(PluginGrants.merged(entry?.grants ?? [], probe.grants.needs))] : [])
            }
            let missing = grant ? [] : probe.grants.missing
            let takeOver = await TakeOver.settled(name, source, in: folder, settings)
            return CommandResult(
                json: .object(
                    JSONObject([
                        ("name", .string(name)), ("changed", .bool(changed)), ("version", .string(source.version)),
                        ("missing", .array(missing.map { .string($0.description) })),
                        ("findings", .array(findings.map(JSON.string))), ("server", takeOver.json),
                    ]))
            ) { palette in
                [changed ? "\(palette.bold(name)) is enabled, version \(source.version)" : "\(palette.bold(name)) was enabled already"]
                    + missing.map { "  needs \($0), which it was not granted: pushhost plugin grant \(name) \($0)" }
                    + (findings.isEmpty ? [] : ["  pushhost plugin check \(name) finds what may be wrong in it"]) + takeOver.lines
            }
        }
    }
}

extension PluginEnableCommand {
    private func enable(_ native: NativePluginType, _ entry: PluginList.Entry?, _ folder: PluginFolder) async throws(PushError)
        -> CommandResult
    {
        let shown = name
        do throws(LuaError) {
            _ = try await PluginProbe(folder: folder).tried(native, entry ?? PluginList.Entry(name: name))
        } catch {
            throw PushError(error.code, error.message, hint: error.hint)
        }
        let changed = try options.change(folder, name) { _ throws(PushError) in [.enabled(true)] }
        return CommandResult(
            json: .object([
                "name": .string(name), "changed": .bool(changed), "version": .string(NativePluginType.version), "missing": .array([]),
            ])
        ) { palette in
            ["\(palette.bold(shown)) \(changed ? "is enabled, a part of the program" : "was enabled already")"]
        }
    }
}

struct PluginDisableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable", abstract: "Take a plugin out of use; its place in the list, its grants and what it keeps stay.")

    @Argument(help: "The plugin's name.")
    var name: String

    @OptionGroup
    var options: PluginOptions

    func run() async {
        await options.session.run { () async throws(PushError) in
            let folder = try options.folder()
            let changed = try options.change(folder, name) { entry throws(PushError) in
                guard entry != nil else { throw PluginGrants.unlisted(name, in: folder) }
                return [.enabled(false)]
            }
            return CommandResult(json: .object(["name": .string(name), "changed": .bool(changed)])) { palette in
                ["\(palette.bold(name)) \(changed ? "is disabled" : "was disabled already")"]
            }
        }
    }
}

struct PluginGrantCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grant", abstract: "Allow a plugin what it asks for.",
        discussion: "Without a capability all are granted that it needs. docs/plugin-security.md says what each allows.")

    @Argument(help: "The plugin's name.")
    var name: String

    @Argument(help: "Such as hub.send, kv, http:api.example.com, secret:token.")
    var capability: [String] = []

    @OptionGroup
    var options: PluginOptions

    func run() async {
        await options.session.run { () async throws(PushError) in
            let folder = try options.folder()
            var granted: [Capability] = []
            try PluginGrants.checkIsScript(name)
            for text in capability { granted.append(try PluginGrants.capability(text)) }
            if capability.isEmpty {
                let versions = PluginVersions(path: "\(try options.settings().data)/plugins")
                let entry = try PluginOptions.list(of: folder)[name]
                let source = try versions.source(of: entry ?? PluginList.Entry(name: name), in: folder)
                granted = try await PluginProbe(folder: folder).load(source, entry, grantingAll: true).grants.needs
            }
            var all: [Capability] = []
            _ = try options.change(folder, name) { entry throws(PushError) in
                guard let entry else { throw PluginGrants.unlisted(name, in: folder) }
                all = PluginGrants.merged(entry.grants, granted)
                return [.grants(all)]
            }
            return PluginGrants.result(name, all)
        }
    }
}

struct PluginRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "revoke", abstract: "Take back what a plugin was allowed.")

    @Argument(help: "The plugin's name.")
    var name: String

    @Argument(help: "What it was granted.")
    var capability: [String]

    @OptionGroup
    var options: PluginOptions

    func run() async {
        await options.session.run { () async throws(PushError) in
            let folder = try options.folder()
            var revoked: [Capability] = []
            for text in capability { revoked.append(try PluginGrants.capability(text)) }
            var left: [Capability] = []
            _ = try options.change(folder, name) { entry throws(PushError) in
                guard let entry else { throw PluginGrants.unlisted(name, in: folder) }
                if let stray = revoked.first(where: { !entry.grants.contains($0) }) {
                    throw PushError(
                        "plugin.not_granted", "\(name) was not granted \(stray)",
                        hint: entry.grants.isEmpty
                            ? "it was granted nothing" : "it was granted \(entry.grants.map(\.description).joined(separator: ", "))")
                }
                left = entry.grants.filter { !revoked.contains($0) }
                return [.grants(left)]
            }
            return PluginGrants.result(name, left)
        }
    }
}

struct PluginRollbackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollback", abstract: "Make an older version of a plugin live, and keep it so whatever is in the folder.",
        discussion: "Without a version: the one that was live before. --release lets the folder be live again.")

    @Argument(help: "The plugin's name.")
    var name: String

    @Argument(help: "The first digits of the version's hash, as pushhost plugin list shows it.")
    var version: String?

    @Flag(help: "Let what is in the folder be live again.")
    var release = false

    @OptionGroup
    var options: PluginOptions

    func validate() throws {
        guard !(release && version != nil) else { throw ValidationError("--release and a version exclude each other: keep one of them") }
    }

    func run() async {
        await options.session.run { () async throws(PushError) in
            let settings = try options.settings()
            let folder = PluginFolder(path: settings.plugins)
            let versions = PluginVersions(path: "\(settings.data)/plugins")
            try PluginGrants.checkIsScript(name)
            // A server knows what is live: what is in the folder may have been refused.
            let served = version == nil && !release ? try await PluginOptions.served(settings) : nil
            guard let entry = try PluginOptions.list(of: folder)[name] else { throw PluginGrants.unlisted(name, in: folder) }
            var pinned: PluginSource?
            if !release {
                let chosen: String
                if let version { chosen = version } else { chosen = try await Self.before(entry, served, folder, versions) }
                let source = try versions.source(of: name, chosen, folder: folder.folder(of: name))
                do throws(PushError) {
                    _ = try await PluginProbe(folder: folder).load(source, entry, grantingAll: false)
                } catch {
                    throw PushError(
                        error.code, "version \(source.version) cannot be live as \(name) is listed: \(error.message)", hint: error.hint)
                }
                pinned = source
            }
            _ = try options.change(folder, name) { entry throws(PushError) in
                guard entry != nil else { throw PluginGrants.unlisted(name, in: folder) }
                return [.pin(pinned?.version)]
            }
            if let pinned {
                let (pin, takeOver) = (pinned.version, await TakeOver.settled(name, pinned, in: folder, settings))
                return CommandResult(
                    json: .object(["name": .string(name), "version": .string(pin), "server": takeOver.json])
                ) { palette in
                    [
                        "\(palette.bold(name)) is pinned to version \(pin); pushhost plugin rollback \(name) --release lets the folder be live again"
                    ] + takeOver.lines
                }
            }
            let fault = await Self.fault(entry, folder)
            return CommandResult(
                json: .object(["name": .string(name), "version": .null, "fault": fault.map { .string($0.message) } ?? .null])
            ) { palette in
                guard let fault else { return ["\(palette.bold(name)) is what is in \(folder.folder(of: name)) again"] }
                return [
                    "\(palette.bold(name)) is not pinned any more, but what is in its folder cannot be live: \(fault.message)",
                    "  until it is mended the version stays live that is",
                ]
            }
        }
    }
}

extension PluginRollbackCommand {
    /// What keeps the folder of a plugin from being live.
    private static func fault(_ entry: PluginList.Entry, _ folder: PluginFolder) async -> PushError? {
        do throws(PushError) {
            let source = try folder.source(of: entry.name)
            _ = try await PluginProbe(folder: folder).load(source, entry, grantingAll: false)
            try await PluginProbe(folder: folder).trial(of: source)
            return nil
        } catch {
            return error
        }
    }

    /// The version that was live before the one that is.
    private static func before(
        _ entry: PluginList.Entry, _ served: JSON?, _ folder: PluginFolder, _ versions: PluginVersions
    ) async throws(PushError) -> String {
        let known = versions.versions(of: entry.name)
        let live = served?["plugins"]?.array?.first { $0["name"]?.string == entry.name }?["live"]?["version"]?.string
        // What a server would begin with.
        let source = try? folder.source(of: entry.name)
        let pin = entry.pin.flatMap { pin in known.contains { $0.hash.hasPrefix(pin) } ? pin : nil }
        let isFit = live == nil && pin == nil ? await fault(entry, folder) == nil : true
        let current = pin ?? live ?? (isFit ? source?.hash : versions.last(of: entry.name)?.hash) ?? ""
        // Behind the one that is live; before all where that one could not be kept.
        let place = known.firstIndex { $0.hash.hasPrefix(current) }
        guard let before = known.dropFirst(place.map { $0 + 1 } ?? 0).first else {
            throw PushError(
                "plugin.no_version", "no version of \(entry.name) before this one is kept in \(versions.path)",
                hint: "the versions that were live are kept, the last \(PluginVersions.kept)")
        }
        return before.hash
    }
}

/// What commands about grants have in common.
enum PluginGrants {
    static func capability(_ text: String) throws(PushError) -> Capability {
        do throws(Capability.Unreadable) {
            return try Capability(parsing: text)
        } catch {
            throw PushError(
                "usage.value", "\"\(text)\" \(error.reason)", hint: "capabilities are \(Capability.forms.joined(separator: ", "))")
        }
    }

    /// Throws `plugin.native` for one that is a part of the program.
    static func checkIsScript(_ name: String) throws(PushError) {
        guard NativeParts.plugin(named: name) != nil else { return }
        throw PushError(
            "plugin.native", "\(name) is a part of the program: it is granted nothing, and has no versions",
            hint: "another program goes with and without it")
    }

    /// In the order in which they were granted.
    static func merged(_ old: [Capability], _ new: [Capability]) -> [Capability] {
        new.reduce(into: old) { all, capability in
            if !all.contains(where: { $0.covers(capability) }) { all.append(capability) }
        }
    }

    static func unlisted(_ name: String, in folder: PluginFolder) -> PushError {
        let names = folder.names + NativeParts.plugins.map(\.name)
        return PushError(
            "plugin.not_listed", "\(folder.listPath) does not list \(name)",
            hint: names.contains(name)
                ? "enable it first: pushhost plugin enable \(name)"
                : nearest(name, in: names).map { "did you mean \($0)?" } ?? "pushhost plugin list shows what there is")
    }

    static func result(_ name: String, _ grants: [Capability]) -> CommandResult {
        CommandResult(
            json: .object(["name": .string(name), "grants": .array(grants.map { .string($0.description) })])
        ) { palette in
            ["\(palette.bold(name)) may: \(grants.isEmpty ? "nothing" : grants.map(\.description).joined(separator: ", "))"]
        }
    }
}
