import Bindings
import Lua
import PushCore

/// Keeps what is live the same as what is listed: loads what has changed, tries it out before it is called, and leaves the version before
/// it where that fails.
actor PluginSupervisor {
    let folder: PluginFolder
    private let versions: PluginVersions
    private let host: PluginHost
    /// Of the program.
    private let natives: [NativePluginType]
    private let clock: any HubClock
    private let log: @Sendable (PluginMessage) -> Void
    private let tryOut: @Sendable (PluginSource) async throws -> Void
    private var live: [String: LoadedPlugin] = [:]
    /// The files of those that were taken out.
    private var former: [String: PluginSource] = [:]
    /// What each was granted when it was taken over.
    private var granted: [String: [Capability]] = [:]
    private var refused: [String: Refusal] = [:]
    /// What those decide about with `fail_closed` that were refused while nothing of them was live.
    private var withheld: [String: Set<HookPhase>] = [:]
    /// Those that something was taken back from, and that were not loaded anew since.
    private var restricted: Set<String> = []
    /// Versions whose specs run.
    private var trying: [String: LoadedPlugin] = [:]
    /// How often in a row a plugin changed while its specs ran.
    private var overtaken: [String: Int] = [:]
    private static let mostOvertaken = 3
    /// Whether somebody is served by what is live.
    private var hasBegun = false
    /// Those that are being loaded and tried out, and whether there is news of them since.
    private var underWay: [String: Bool] = [:]
    /// Why the list could not be read.
    private(set) var listFailure: PushError?
    private var listed: [PluginList.Entry] = []
    /// The hash of the list that was read last.
    private(set) var revision = ""
    /// Those whose entry has changed, until something has come of that.
    private var changed: Set<String> = []

    /// What was not taken over, and why.
    struct Refusal: Sendable {
        var hash: String?
        var entry: PluginList.Entry
        var error: LuaError
    }

    init(
        folder: PluginFolder, versions: PluginVersions, host: PluginHost, natives: [NativePluginType] = NativeParts.plugins,
        clock: any HubClock, log: @escaping @Sendable (PluginMessage) -> Void,
        tryOut: @escaping @Sendable (PluginSource) async throws -> Void = { try await PluginTrial(source: $0).run() }
    ) {
        self.folder = folder
        self.versions = versions
        self.host = host
        self.natives = natives
        self.clock = clock
        self.log = log
        self.tryOut = tryOut
    }

    /// Loads what is listed for the first time. A plugin that does not load begins with the version that was live last; where there is
    /// none it is thrown why, for a server must not begin without what it shall ask.
    func begin() async throws(PushError) {
        let (entries, isList) = try readList()
        for entry in entries where entry.isEnabled {
            await take(entry)
            guard live[entry.name] == nil, let refusal = refused[entry.name] else { continue }
            let place = refusal.error.location.map { "\($0): " } ?? ""
            throw PushError(
                "plugin.refused", "the plugin \(entry.name) cannot be loaded: \(place)\(refusal.error.message) (\(refusal.error.code))",
                hint: refusal.error.hint
                    ?? "pushhost plugin check \(entry.name) shows more; pushhost plugin disable \(entry.name) goes without it")
        }
        // A list that says that it is empty was meant so.
        let names = isList ? [] : versions.names
        if !names.isEmpty {
            tell(
                nil, .warn,
                "\(folder.listPath) is gone or empty, and \(names.joined(separator: ", ")) not in use; they were live before")
        }
        hasBegun = true
        install()
    }

    /// What goes on where a plugin was refused, or is tried out: the version that is live, or was live last, as it is listed now. Without
    /// it, what it decides about would go by it, although it is listed. It gets nothing that it was not granted before: that is meant for
    /// the other one.
    private func fallBack(_ entry: PluginList.Entry, _ why: String) async {
        let current = live[entry.name]
        // A pin stands for what somebody has read.
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
        tell(before, .warn, "is live as it was before\(current == nil ? "" : ", configured anew"): \(why)", .live)
    }

    /// What becomes of a plugin while its specs run. Where it is live, that goes on; one that is not decides about something already.
    private func bridge(_ entry: PluginList.Entry, _ loaded: LoadedPlugin) async {
        guard hasBegun, live[entry.name] == nil else { return }
        await fallBack(entry, "\(loaded.source.version) is tried out")
        guard live[entry.name] == nil, listed.contains(entry), !loaded.closedPhases.isEmpty else { return }
        withheld[entry.name] = loaded.closedPhases
        install()
        tell(loaded.source, .warn, "is tried out; it is fail_closed: what \(loaded.closedPhases.names) decides about is refused meanwhile")
    }

    /// The version that was live last, in this server or before it.
    private func formerSource(of name: String) -> PluginSource? {
        former[name]
            ?? versions.last(of: name).flatMap { try? versions.source(of: name, $0.hash, folder: "\(folder.shown)/\(name)") }
    }

    /// Where nothing of a plugin is live, what it has declared to decide about with `fail_closed` is refused: by what was refused, or, where
    /// that cannot be read, by the version that was live last. One that nobody could ever read has declared nothing.
    private func withhold(_ entry: PluginList.Entry, _ source: PluginSource?) async {
        guard hasBegun, live[entry.name] == nil else { return }
        var phases: Set<HookPhase>?
        if let native = natives.first(where: { $0.name == entry.name }) {
            phases = native.closedPhases
        } else {
            for case let known? in [source, formerSource(of: entry.name)] where phases == nil {
                phases = await host.closedPhases(of: known)
            }
        }
        guard listed.contains(entry), live[entry.name] == nil, refused[entry.name] != nil else { return }
        // What could be read of it before still holds.
        withheld[entry.name] = phases ?? withheld[entry.name]
        install()
        guard let phases = withheld[entry.name], !phases.isEmpty else { return }
        log(
            PluginMessage(
                plugin: entry.name, version: source?.version ?? "-", level: .error,
                text: "is not live, and fail_closed: what \(phases.names) decides about is refused meanwhile"))
    }

    /// Takes over what has changed since. One plugin waits for no other one's specs, and what is taken back or out of use is so at once.
    /// What is being tried out already is looked at once more afterwards: of two at a time the older one could have the last word.
    func refresh() async {
        // Files are taken over also by the list that holds because the new one cannot be read.
        takeOut()
        await withDiscardingTaskGroup { group in
            for entry in listed where entry.isEnabled { group.addTask { await self.takeOver(entry.name) } }
        }
    }

    private func takeOver(_ name: String) async {
        guard underWay[name] == nil else {
            underWay[name] = true
            // It may have been taken out of use and put back.
            if let loaded = trying[name], let entry = listed.first(where: { $0.name == name }), entry.isEnabled {
                await bridge(entry, loaded)
            }
            return
        }
        defer { underWay[name] = nil }
        repeat {
            underWay[name] = false
            changed.remove(name)
            // Its specs may take a while, and the list be another one then.
            guard let entry = listed.first(where: { $0.name == name }), entry.isEnabled else { return }
            await take(entry)
        } while underWay[name] == true
    }

    /// Reads the list, and takes out of use what it has not any more, and back what it does not grant any more: whatever becomes of the
    /// rest, and whatever takes long.
    private func takeOut() {
        let (entries, before): ([PluginList.Entry], [PluginList.Entry])
        do throws(PushError) {
            before = listed
            entries = try readList().entries
            listFailure = nil
        } catch {
            if listFailure != error { tell(nil, .error, "the list stays as it was: \(error.message)") }
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
        let gone = live.values.filter { !used.contains($0.name) }.sorted { $0.name < $1.name }
        for plugin in gone {
            (live[plugin.name], former[plugin.name]) = (nil, plugin.source)
            restricted.remove(plugin.name)
        }
        refused = refused.filter { used.contains($0.key) }
        withheld = withheld.filter { used.contains($0.key) }
        install()
        // What the log says is so.
        for plugin in gone { tell(plugin.source, .info, "is not live any more", .ended) }
    }

    /// The same, and what was refused is tried again: the cause may have been outside of its files.
    func retry() async {
        refused = [:]
        await refresh()
    }

    /// Refreshes whenever something happens to the folder, until the task is cancelled.
    func keepUp(_ watch: FolderWatch) async throws(PushError) {
        let failure = await withDiscardingTaskGroup { group -> PushError? in
            while !Task.isCancelled {
                do throws(PushError) {
                    let isComplete = try follow(watch)
                    // Beside what happens next: specs may take a while, and what is taken back is so at once.
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

    /// First watch, then look: what changes in between is seen either way, also folders that come meanwhile. Answers whether all of it
    /// can be watched.
    private func follow(_ watch: FolderWatch) throws(PushError) -> Bool {
        // Not even the folder itself may be there yet.
        var (folders, isComplete): (Set<String>?, Bool) = (nil, true)
        while case let found = foldersToWatch, found != folders {
            folders = found
            isComplete = try watch.follow([folder.listPath, folder.path], allIn: found)
            takeOut()
        }
        return isComplete
    }

    // MARK: - One plugin

    /// With those that links of listed plugins lead to.
    private var foldersToWatch: Set<String> {
        Set(ScriptFinder.folders(under: [folder.path] + listed.map { folder.folder(of: $0.name) }))
    }

    /// The entries, and whether there is a list at all.
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
        // Whoever wants none says so: a list that is gone is more often being written, or moved by mistake, and whoever writes a file
        // begins with nothing.
        guard isList || listed.isEmpty else {
            let (what, cure) = list == nil ? ("is gone", "put it back; ") : ("is empty", "write it; ")
            throw PushError("plugin.list", "\(folder.listPath) \(what)", hint: "\(cure)[] in it takes all out of use")
        }
        (listed, self.revision) = (list?.entries ?? [], revision)
        return (listed, isList)
    }

    private func configuration(of entry: PluginList.Entry) -> PluginConfiguration {
        PluginConfiguration(values: entry.config, grants: entry.grants, file: folder.listPath)
    }

    /// Makes a plugin live as it is listed, where it is not already, or notes why not.
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
            // First: what is wrong with it by itself is not to be told as what fails in a spec.
            let loaded = try await host.load(source, configuration)
            // What was live once has passed.
            let isKnown = versions.versions(of: entry.name).contains { $0.hash == source.hash }
            if live[entry.name]?.source.hash != source.hash, !isKnown {
                trying[entry.name] = loaded
                defer { trying[entry.name] = nil }
                await bridge(entry, loaded)
                try await tryOut(source)
                // Of a folder that is still being written this is a part. One that changes faster than its specs run is taken all the same.
                if hasBegun, entry.pin == nil, overtaken[entry.name, default: 0] < Self.mostOvertaken,
                    (try? folder.source(of: entry.name))?.hash != source.hash
                {
                    tell(source, .info, "has changed while its specs ran: they run for the newer one")
                    overtaken[entry.name, default: 0] += 1
                    underWay[entry.name] = true
                    return
                }
                overtaken[entry.name] = nil
            }
            guard listed.contains(entry) else { return }
            do throws(PushError) {
                // One that somebody goes back to stays where it was in the order of versions, so that he can go back further.
                if entry.pin == nil || !isKnown { try versions.keep(source, now: clock.now) }
                try versions.remember(source, granted: entry.grants)
            } catch {
                tell(source, .warn, error.message)
            }
            let before = live.updateValue(loaded, forKey: entry.name)
            granted[entry.name] = entry.grants
            refused[entry.name] = nil
            withheld[entry.name] = nil
            restricted.remove(entry.name)
            install()
            tell(
                source, .info,
                "is live\(before.map { $0.source.hash == source.hash ? ", configured anew" : ", after \($0.source.version)" } ?? "")", .live
            )
            for capability in loaded.grants.missing {
                tell(
                    source, .warn, "needs \(capability), which it was not granted: pushhost plugin grant \(entry.name) \(capability)")
            }
        } catch {
            let error = (error as? LuaError) ?? (error as? PushError).map(LuaError.init) ?? .hostFailure("\(error)")
            guard listed.contains(entry), !Task.isCancelled else { return }
            // A folder that cannot be read says nothing new each time.
            if let known = refused[entry.name], known.hash == hash, known.error == error, known.entry == entry { return }
            refused[entry.name] = Refusal(hash: hash, entry: entry, error: error)
            let stays = live[entry.name].map { ": \($0.source.version) stays live" } ?? ""
            log(
                PluginMessage(
                    plugin: entry.name, version: hash.map { String($0.prefix(PluginSource.shownDigits)) } ?? "-", level: .error,
                    text: "was refused\(stays): \(error.message) (\(error.code))\(error.hint.map { "; \($0)" } ?? "")",
                    location: error.location, change: .refused))
            await fallBack(entry, "what it is listed as now was refused")
            await withhold(entry, read)
        }
    }

    /// The same of one that is a part of the program.
    private func take(_ native: NativePluginType, _ entry: PluginList.Entry) throws {
        try folder.checkNative(entry)
        let configuration = configuration(of: entry)
        let before = live[entry.name]
        if before?.configuration != configuration {
            live[entry.name] = try host.load(native, configuration)
            install()
            tell(native.source, .info, "is live\(before == nil ? "" : ", configured anew")", .live)
        }
        refused[entry.name] = nil
    }

    private func install() {
        let names = listed.filter(\.isEnabled).map(\.name)
        host.install(
            names.compactMap { live[$0] },
            absent: names.filter { live[$0] == nil }.compactMap { name in withheld[name].map { AbsentPlugin(name: name, phases: $0) } })
    }

    private func tell(_ source: PluginSource?, _ level: PluginMessage.Level, _ text: String, _ change: PluginMessage.Change? = nil) {
        let name = source?.name ?? PluginMessage.list
        log(PluginMessage(plugin: name, version: source?.version ?? "-", level: level, text: text, change: change))
    }

    // MARK: - What there is

    /// For lists: every listed plugin, what is live of it, and what was refused.
    var report: [PluginReport] {
        let statuses = Dictionary(host.statuses.map { ($0.plugin.name, $0) }) { first, _ in first }
        return listed.map { entry in
            PluginReport(
                entry: entry, status: statuses[entry.name], refusal: refused[entry.name]?.error,
                refusedHash: refused[entry.name]?.hash, trying: trying[entry.name]?.source.version,
                isPending: changed.contains(entry.name) || underWay[entry.name] != nil,
                withheld: live[entry.name] == nil ? withheld[entry.name]?.inOrder ?? [] : [], kept: versions.versions(of: entry.name),
                last: versions.last(of: entry.name))
        }
    }
}

extension LuaError {
    fileprivate static func hostFailure(_ message: String) -> LuaError {
        LuaError(kind: .failure, code: "host.error", message: message)
    }
}
