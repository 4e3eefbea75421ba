import Bindings
import Lua
import PushLab
import PushModel
import PushRuntime

/// Applies the plugin list to a running server: loads changed plugins and runs their specs before the new version goes live. If a version
/// fails, the previous one stays live.
actor PluginSupervisor {
    let folder: PluginFolder
    private let versions: PluginVersions
    private let host: PluginHost
    /// Plugins compiled into the program.
    private let natives: [NativePluginType]
    private let clock: any HubClock
    private let log: @Sendable (PluginMessage) -> Void
    private let runSpecs: @Sendable (PluginSource) async throws -> Void
    private var live: [String: LoadedPlugin] = [:]
    /// Files of plugins that were taken out of use.
    private var former: [String: PluginSource] = [:]
    /// Capabilities that each plugin was granted when its current version went live.
    private var granted: [String: [Capability]] = [:]
    private var refused: [String: Refusal] = [:]
    /// `fail_closed` phases of plugins that were refused while no version of them was live. These phases reject everything.
    private var withheld: [String: Set<HookPhase>] = [:]
    /// Plugins whose grants were reduced and that have not been reloaded since.
    private var restricted: Set<String> = []
    /// Versions whose specs are running.
    private var trying: [String: LoadedPlugin] = [:]
    /// How often in a row each plugin's files changed while its specs ran.
    private var supersededTrials: [String: Int] = [:]
    private static let maximumSupersededTrials = 3
    /// Whether the server has started: live plugins are being called.
    private var hasStarted = false
    /// Plugins being loaded or tested. The value is whether a refresh was requested meanwhile.
    private var inFlight: [String: Bool] = [:]
    /// Why the list could not be read; nil if it could.
    private(set) var listFailure: PushError?
    private var listed: [PluginList.Entry] = []
    /// Hash of the most recently read list.
    private(set) var revision = ""
    /// Plugins whose changed entry has not been applied yet.
    private var changed: Set<String> = []

    /// A version that did not go live, and why.
    struct Refusal: Sendable {
        var hash: String?
        var entry: PluginList.Entry
        var error: LuaError
    }

    init(
        folder: PluginFolder, versions: PluginVersions, host: PluginHost, natives: [NativePluginType],
        clock: any HubClock, log: @escaping @Sendable (PluginMessage) -> Void,
        runSpecs: @escaping @Sendable (PluginSource) async throws -> Void
    ) {
        self.folder = folder
        self.versions = versions
        self.host = host
        self.natives = natives
        self.clock = clock
        self.log = log
        self.runSpecs = runSpecs
    }

    /// Loads the listed plugins at server start. A plugin that fails to load falls back to the version that was live most recently. Throws
    /// `plugin.refused` if there is none: a server must not start without a plugin that may have to veto sends.
    package func begin() async throws(PushError) {
        let (entries, isList) = try readList()
        for entry in entries where entry.isEnabled {
            await take(entry)
            guard live[entry.name] == nil, let refusal = refused[entry.name] else { continue }
            let place = refusal.error.location.map { "\($0): " } ?? ""
            throw PushError(
                "plugin.refused", "the plugin \(entry.name) cannot be loaded: \(place)\(refusal.error.message) (\(refusal.error.code))",
                hint: refusal.error.hint
                    ?? "for details run pushhost plugin check \(entry.name); to start without it, pushhost plugin disable \(entry.name)")
        }
        // An explicitly empty list (`[]`) is intended and needs no warning.
        let names = isList ? [] : versions.names
        if !names.isEmpty {
            record(
                nil, .warn,
                "\(folder.listPath) is missing or empty: not loading \(names.joined(separator: ", ")), which were live before")
        }
        hasStarted = true
        install()
    }

    /// Keeps a plugin active while its listed version is refused or being tested: reloads the live version, or the one that was live most
    /// recently, with the current configuration. Otherwise its hooks would be skipped although it is listed. It gets no capability that it
    /// did not have before: new grants are meant for the new version.
    private func fallBack(_ entry: PluginList.Entry, _ why: String) async {
        let current = live[entry.name]
        // A pin names a reviewed version: do not fall back to another one.
        guard let before = current?.source ?? (entry.pin == nil ? formerSource(of: entry.name) : nil) else { return }
        var configuration = configuration(of: entry)
        if let granted = granted[entry.name] ?? versions.granted(entry.name) {
            configuration.grants.removeAll { grant in !granted.contains { $0.covers(grant) } }
        }
        guard current?.configuration != configuration || restricted.contains(entry.name),
            let loaded = try? await host.load(before, configuration), listed.contains(entry)
        else { return }
        live[entry.name] = loaded
        restricted.remove(entry.name)
        install()
        record(before, .warn, "the previous version is live\(current == nil ? "" : ", reconfigured"): \(why)", .live)
    }

    /// Covers the time while a plugin's specs run. A live version continues; without one, falls back or blocks the `fail_closed` phases.
    private func bridge(_ entry: PluginList.Entry, _ loaded: LoadedPlugin) async {
        guard hasStarted, live[entry.name] == nil else { return }
        await fallBack(entry, "the specs of \(loaded.source.version) are running")
        guard live[entry.name] == nil, listed.contains(entry), !loaded.failClosedPhases.isEmpty else { return }
        withheld[entry.name] = loaded.failClosedPhases
        install()
        record(loaded.source, .warn, "not live while its specs run: rejecting everything in \(loaded.failClosedPhases.names) (fail_closed)")
    }

    /// The version that was live most recently, in this process or an earlier one.
    private func formerSource(of name: String) -> PluginSource? {
        former[name]
            ?? versions.last(of: name).flatMap { try? versions.source(of: name, $0.hash, folder: "\(folder.shown)/\(name)") }
    }

    /// Blocks the `fail_closed` phases of a plugin of which no version is live. The phases are read from the refused version or, if that
    /// cannot be loaded, from the version that was live most recently. If neither can be loaded, nothing is blocked.
    private func blockClosedPhases(_ entry: PluginList.Entry, _ source: PluginSource?) async {
        guard hasStarted, live[entry.name] == nil else { return }
        var phases: Set<HookPhase>?
        if let native = natives.first(where: { $0.name == entry.name }) {
            phases = native.failClosedPhases
        } else {
            for case let known? in [source, formerSource(of: entry.name)] where phases == nil {
                phases = await host.failClosedPhases(of: known)
            }
        }
        guard listed.contains(entry), live[entry.name] == nil, refused[entry.name] != nil else { return }
        // If no version can be loaded now, phases that were found earlier stay blocked.
        withheld[entry.name] = phases ?? withheld[entry.name]
        install()
        guard let phases = withheld[entry.name], !phases.isEmpty else { return }
        log(
            PluginMessage(
                plugin: entry.name, version: source?.version ?? "-", level: .error,
                text: "not live: rejecting everything in \(phases.names) (fail_closed)"))
    }

    /// Applies the changes since the last refresh. Plugins are loaded and tested concurrently; removals and revoked grants apply at once. A
    /// plugin that is already being tested is checked again afterwards, because of two concurrent loads the older one could finish last.
    package func refresh() async {
        // If the new list cannot be read, changed files still apply, with the previous list.
        removeUnlisted()
        await withDiscardingTaskGroup { group in
            for entry in listed where entry.isEnabled { group.addTask { await self.takeOver(entry.name) } }
        }
    }

    private func takeOver(_ name: String) async {
        guard inFlight[name] == nil else {
            inFlight[name] = true
            // It may have been disabled and enabled again.
            if let loaded = trying[name], let entry = listed.first(where: { $0.name == name }), entry.isEnabled {
                await bridge(entry, loaded)
            }
            return
        }
        defer { inFlight[name] = nil }
        repeat {
            inFlight[name] = false
            changed.remove(name)
            // The list may have changed while the specs ran.
            guard let entry = listed.first(where: { $0.name == name }), entry.isEnabled else { return }
            await take(entry)
        } while inFlight[name] == true
    }

    /// Reads the list, then immediately removes plugins that are no longer listed and revokes grants that are no longer given.
    private func removeUnlisted() {
        let (entries, before): ([PluginList.Entry], [PluginList.Entry])
        do throws(PushError) {
            before = listed
            entries = try readList().entries
            listFailure = nil
        } catch {
            if listFailure != error { record(nil, .error, "the previous list stays in effect: \(error.message)") }
            listFailure = error
            return
        }
        for entry in entries {
            guard let grants = live[entry.name]?.configuration.grants,
                grants.contains(where: { old in !entry.grants.contains { $0.covers(old) } })
            else { continue }
            host.restrict(entry.name, to: entry.grants)
            restricted.insert(entry.name)
        }
        changed = changed.union(entries.filter { $0.isEnabled && !before.contains($0) }.map(\.name))
        let used = Set(entries.filter(\.isEnabled).map(\.name))
        let ended = live.values.filter { !used.contains($0.name) }.sorted { $0.name < $1.name }
        for plugin in ended {
            (live[plugin.name], former[plugin.name]) = (nil, plugin.source)
            restricted.remove(plugin.name)
        }
        refused = refused.filter { used.contains($0.key) }
        withheld = withheld.filter { used.contains($0.key) }
        install()
        // Log after `install()`, so that the message is true.
        for plugin in ended { record(plugin.source, .info, "is no longer live", .ended) }
    }

    /// Refreshes and also retries refused versions: the cause may have been outside their files.
    package func retry() async {
        refused = [:]
        await refresh()
    }

    /// Refreshes on every change in the folder, until the task is cancelled.
    func keepUp(_ watch: FolderWatch) async throws(PushError) {
        let failure = await withDiscardingTaskGroup { group -> PushError? in
            while !Task.isCancelled {
                do throws(PushError) {
                    let isComplete = try follow(watch)
                    // Runs concurrently with the next change: specs may take a while, but revocations apply at once.
                    group.addTask { await self.refresh() }
                    guard await watch.next(within: isComplete ? nil : .seconds(1)) else { return nil }
                } catch {
                    return error
                }
            }
            return nil
        }
        if let failure { throw failure }
    }

    /// Starts watching before it reads, so that no change is missed, including new folders. Returns whether all folders can be watched.
    private func follow(_ watch: FolderWatch) throws(PushError) -> Bool {
        // Even the plugin folder itself may not exist yet.
        var (folders, isComplete): (Set<String>?, Bool) = (nil, true)
        while case let found = foldersToWatch, found != folders {
            folders = found
            isComplete = try watch.follow([folder.listPath, folder.path], allIn: found)
            removeUnlisted()
        }
        return isComplete
    }

    // MARK: - One plugin

    /// All folders under the plugin folder, including the targets of symbolic links of listed plugins.
    private var foldersToWatch: Set<String> {
        Set(ScriptFinder.folders(under: [folder.path] + listed.map { folder.folder(of: $0.name) }))
    }

    /// Reads the entries, and whether the text contains a list at all.
    private func readList() throws(PushError) -> (entries: [PluginList.Entry], isList: Bool) {
        var list: PluginList?
        var revision = ""
        do throws(PushError) {
            let text = try TextFile.read(folder.listPath, limit: 1 << 20, kind: "script")
            list = try PluginList(text: String(decoding: text, as: UTF8.self), path: folder.listPath)
            revision = PluginList.revision(text)
        } catch {
            guard error.code == "script.not_found" else { throw error }
        }
        let isList = list?.isList == true
        // To use no plugins, write `[]`. A missing or empty file is more likely being written, or was moved by mistake.
        guard isList || listed.isEmpty else {
            let (what, fix) = list == nil ? ("is missing", "restore it, or ") : ("is empty", "fill it in, or ")
            throw PushError("plugin.list", "\(folder.listPath) \(what)", hint: "\(fix)write [] to use no plugins")
        }
        (listed, self.revision) = (list?.entries ?? [], revision)
        return (listed, isList)
    }

    private func configuration(of entry: PluginList.Entry) -> PluginConfiguration {
        PluginConfiguration(values: entry.config, grants: entry.grants, file: folder.listPath)
    }

    /// Makes the listed version of a plugin live if it is not, or records why it was refused.
    private func take(_ entry: PluginList.Entry) async {
        var (hash, read): (String?, PluginSource?)
        do {
            if let native = natives.first(where: { $0.name == entry.name }) {
                hash = native.source.hash
                return try take(native, entry)
            }
            let source = try versions.source(of: entry, in: folder)
            (hash, read) = (source.hash, source)
            let configuration = configuration(of: entry)
            if let current = live[entry.name], current.source.hash == source.hash, current.configuration == configuration {
                refused[entry.name] = nil
                guard restricted.contains(entry.name) else { return }
            }
            if let refusal = refused[entry.name], refusal.hash == source.hash, refusal.entry == entry { return }
            // Load before the specs run, so that load errors are not reported as spec failures.
            let loaded = try await host.load(source, configuration)
            // A version that was live before has passed its specs.
            let isKnown = versions.versions(of: entry.name).contains { $0.hash == source.hash }
            if live[entry.name]?.source.hash != source.hash, !isKnown {
                trying[entry.name] = loaded
                defer { trying[entry.name] = nil }
                await bridge(entry, loaded)
                try await runSpecs(source)
                // The files changed while the specs ran, so this version may be incomplete. After several changes in a row it is accepted
                // anyway.
                if hasStarted, entry.pin == nil, supersededTrials[entry.name, default: 0] < Self.maximumSupersededTrials,
                    (try? folder.source(of: entry.name))?.hash != source.hash
                {
                    record(source, .info, "changed while its specs ran: running them again for the new version")
                    supersededTrials[entry.name, default: 0] += 1
                    inFlight[entry.name] = true
                    return
                }
                supersededTrials[entry.name] = nil
            }
            guard listed.contains(entry) else { return }
            do throws(PushError) {
                // A rollback keeps the version's position in the order of versions, so that a further rollback is possible.
                if entry.pin == nil || !isKnown { try versions.save(source, now: clock.now) }
                try versions.remember(source, granted: entry.grants)
            } catch {
                record(source, .warn, error.message)
            }
            let before = live.updateValue(loaded, forKey: entry.name)
            granted[entry.name] = entry.grants
            refused[entry.name] = nil
            withheld[entry.name] = nil
            restricted.remove(entry.name)
            install()
            record(
                source, .info,
                "is live\(before.map { $0.source.hash == source.hash ? ", reconfigured" : ", replacing \($0.source.version)" } ?? "")",
                .live)
            for capability in loaded.grants.missing {
                record(
                    source, .warn, "needs \(capability), which is not granted: run pushhost plugin grant \(entry.name) \(capability)")
            }
        } catch {
            let error = (error as? LuaError) ?? (error as? PushError).map(LuaError.init) ?? .hostFailure("\(error)")
            guard listed.contains(entry), !Task.isCancelled else { return }
            // Do not log the same refusal again.
            if let known = refused[entry.name], known.hash == hash, known.error == error, known.entry == entry { return }
            refused[entry.name] = Refusal(hash: hash, entry: entry, error: error)
            let stays = live[entry.name].map { ": \($0.source.version) stays live" } ?? ""
            log(
                PluginMessage(
                    plugin: entry.name, version: hash.map { String($0.prefix(PluginSource.shownDigits)) } ?? "-", level: .error,
                    text: "was rejected\(stays): \(error.message) (\(error.code))\(error.hint.map { "; \($0)" } ?? "")",
                    location: error.location, change: .refused))
            await fallBack(entry, "the listed version was rejected")
            await blockClosedPhases(entry, read)
        }
    }

    /// Makes a plugin that is compiled into the program live.
    private func take(_ native: NativePluginType, _ entry: PluginList.Entry) throws {
        try NativePluginCheck.run(entry, in: folder)
        let configuration = configuration(of: entry)
        let before = live[entry.name]
        if before?.configuration != configuration {
            live[entry.name] = try host.load(native, configuration)
            install()
            record(native.source, .info, "is live\(before == nil ? "" : ", reconfigured")", .live)
        }
        refused[entry.name] = nil
    }

    private func install() {
        let names = listed.filter(\.isEnabled).map(\.name)
        host.install(
            names.compactMap { live[$0] },
            absent: names.filter { live[$0] == nil }.compactMap { name in withheld[name].map { AbsentPlugin(name: name, phases: $0) } })
    }

    private func record(_ source: PluginSource?, _ level: PluginMessage.Level, _ text: String, _ change: PluginMessage.Change? = nil) {
        let name = source?.name ?? PluginMessage.list
        log(PluginMessage(plugin: name, version: source?.version ?? "-", level: level, text: text, change: change))
    }

    // MARK: - Status

    /// The state of every listed plugin.
    package var report: [PluginReport] {
        let statuses = Dictionary(host.statuses.map { ($0.plugin.name, $0) }) { first, _ in first }
        return listed.map { entry in
            var report = PluginReport(entry, versions: versions.versions(of: entry.name))
            (report.status, report.trying) = (statuses[entry.name], trying[entry.name]?.source.version)
            (report.refusal, report.refusedHash) = (refused[entry.name]?.error, refused[entry.name]?.hash)
            report.isPending = changed.contains(entry.name) || inFlight[entry.name] != nil
            if live[entry.name] == nil { report.withheld = withheld[entry.name]?.inOrder ?? [] }
            report.last = versions.last(of: entry.name)
            return report
        }
    }
}

extension LuaError {
    fileprivate static func hostFailure(_ message: String) -> LuaError { LuaError(kind: .failure, code: "host.error", message: message) }
}
