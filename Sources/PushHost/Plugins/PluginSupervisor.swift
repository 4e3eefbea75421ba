import Bindings
import Lua
import PushCore

/// Keeps what is live the same as what is listed: loads what has changed, tries it out before it is called, and leaves the version before
/// it where that fails.
actor PluginSupervisor {
    private let folder: PluginFolder
    private let versions: PluginVersions
    private let host: PluginHost
    /// Of the program.
    private let natives: [NativePluginType]
    private let clock: any HubClock
    private let log: @Sendable (PluginMessage) -> Void
    private var live: [String: LoadedPlugin] = [:]
    private var refused: [String: Refusal] = [:]
    /// Those that something was taken back from, and that were not loaded anew since.
    private var restricted: Set<String> = []
    private var (isRefreshing, isAsked) = (false, false)
    /// Why the list could not be read.
    private(set) var listFailure: PushError?
    private var listed: [PluginList.Entry] = []

    /// What was not taken over, and why.
    struct Refusal: Sendable {
        var hash: String?
        var entry: PluginList.Entry
        var error: LuaError
    }

    init(
        folder: PluginFolder, versions: PluginVersions, host: PluginHost, natives: [NativePluginType] = NativeParts.plugins,
        clock: any HubClock, log: @escaping @Sendable (PluginMessage) -> Void
    ) {
        self.folder = folder
        self.versions = versions
        self.host = host
        self.natives = natives
        self.clock = clock
        self.log = log
    }

    /// Loads what is listed for the first time. A plugin that does not load begins with the version that was live last; where there is
    /// none it is thrown why, for a server must not begin without what it shall ask.
    func begin() async throws(PushError) {
        let entries = try readList()
        for entry in entries where entry.isEnabled {
            await take(entry)
            guard live[entry.name] == nil, let refusal = refused[entry.name] else { continue }
            // A pin stands for what somebody has read.
            guard entry.pin == nil, let last = versions.versions(of: entry.name).first,
                let source = try? versions.source(of: entry.name, last.hash, folder: "\(folder.shown)/\(entry.name)"),
                let loaded = try? await host.load(source, configuration(of: entry))
            else {
                let place = refusal.error.location.map { "\($0): " } ?? ""
                throw PushError(
                    "plugin.refused", "the plugin \(entry.name) cannot be loaded: \(place)\(refusal.error.message) (\(refusal.error.code))",
                    hint: refusal.error.hint
                        ?? "pushhost plugin check \(entry.name) shows more; pushhost plugin disable \(entry.name) goes without it")
            }
            live[entry.name] = loaded
            tell(loaded.source, .warn, "is live as it was before: what is in \(folder.folder(of: entry.name)) was refused")
        }
        install(entries)
    }

    /// Takes over what has changed since. Where that is under way already it is done once more when it has ended: of two at a time the
    /// older one could have the last word.
    func refresh() async {
        isAsked = true
        guard !isRefreshing else { return }
        isRefreshing = true
        defer { isRefreshing = false }
        while isAsked {
            isAsked = false
            await takeOver()
        }
    }

    private func takeOver() async {
        let entries: [PluginList.Entry]
        do throws(PushError) {
            entries = try readList()
            listFailure = nil
        } catch {
            if listFailure != error { tell(nil, .error, "the list stays as it was: \(error.message)") }
            listFailure = error
            return
        }
        // What is taken back or out of use is so now, whatever becomes of the rest.
        for entry in entries {
            guard let grants = live[entry.name]?.configuration.grants,
                grants.contains(where: { old in !entry.grants.contains { $0.covers(old) } })
            else { continue }
            host.restrict(entry.name, to: entry.grants)
            restricted.insert(entry.name)
        }
        let used = Set(entries.filter(\.isEnabled).map(\.name))
        for name in live.keys.sorted() where !used.contains(name) {
            if let gone = live.removeValue(forKey: name) { tell(gone.source, .info, "is not live any more") }
            restricted.remove(name)
        }
        refused = refused.filter { used.contains($0.key) }
        install(entries)
        for entry in entries where entry.isEnabled {
            // One whose specs take long holds up those behind it, and takes nothing back from those before it.
            if await take(entry) { install(entries) }
        }
    }

    /// The same, and what was refused is tried again: the cause may have been outside of its files.
    func retry() async {
        refused = [:]
        await refresh()
    }

    /// Refreshes whenever something happens to the folder, until the task is cancelled.
    func keepUp(_ watch: FolderWatch) async throws(PushError) {
        while !Task.isCancelled {
            // First watch, then look: what changes in between is seen either way, also folders that come meanwhile.
            var (folders, isComplete): (Set<String>, Bool) = ([], true)
            while case let found = foldersToWatch, found != folders {
                folders = found
                isComplete = try watch.follow([folder.listPath, folder.path], allIn: folders)
            }
            await refresh()
            guard await watch.next(within: isComplete ? nil : .seconds(1)) else { return }
        }
    }

    // MARK: - One plugin

    /// With those that links of listed plugins lead to.
    private var foldersToWatch: Set<String> {
        Set(ScriptFinder.folders(under: [folder.path] + listed.map { folder.folder(of: $0.name) }))
    }

    private func readList() throws(PushError) -> [PluginList.Entry] {
        let text: [UInt8]
        do throws(PushError) {
            text = try TextFile.read(folder.listPath, limit: 1 << 20, kind: "script")
        } catch {
            guard error.code == "script.not_found" else { throw error }
            // Whoever wants none empties it: a list that is gone is more often being written, or moved by mistake.
            guard listed.isEmpty else {
                throw PushError("plugin.list", "\(folder.listPath) is gone", hint: "put it back; an empty list takes all out of use")
            }
            text = []
        }
        listed = try PluginList(text: String(decoding: text, as: UTF8.self), path: folder.listPath).entries
        return listed
    }

    private func configuration(of entry: PluginList.Entry) -> PluginConfiguration {
        PluginConfiguration(values: entry.config, grants: entry.grants, file: folder.listPath)
    }

    /// Makes a plugin live as it is listed, where it is not already, or notes why not. Answers whether another one is live.
    @discardableResult
    private func take(_ entry: PluginList.Entry) async -> Bool {
        var hash: String?
        do {
            if let native = natives.first(where: { $0.name == entry.name }) {
                hash = native.source.hash
                return try take(native, entry)
            }
            let source = try versions.source(of: entry, in: folder)
            hash = source.hash
            let configuration = configuration(of: entry)
            if let current = live[entry.name], current.source.hash == source.hash, current.configuration == configuration {
                refused[entry.name] = nil
                guard restricted.contains(entry.name) else { return false }
            }
            if let refusal = refused[entry.name], refusal.hash == source.hash, refusal.entry == entry { return false }
            // What was live once has passed.
            let isKnown = versions.versions(of: entry.name).contains { $0.hash == source.hash }
            if live[entry.name]?.source.hash != source.hash, !isKnown { try await PluginTrial(source: source).run() }
            let loaded = try await host.load(source, configuration)
            do throws(PushError) {
                // One that somebody goes back to stays where it was in the order of versions, so that he can go back further.
                if entry.pin == nil || !isKnown { try versions.keep(source, now: clock.now) }
            } catch {
                tell(source, .warn, error.message)
            }
            let before = live.updateValue(loaded, forKey: entry.name)
            refused[entry.name] = nil
            restricted.remove(entry.name)
            tell(
                source, .info,
                "is live\(before.map { $0.source.hash == source.hash ? ", configured anew" : ", after \($0.source.version)" } ?? "")")
            for capability in loaded.grants.missing {
                tell(
                    source, .warn, "needs \(capability), which it was not granted: pushhost plugin grant \(entry.name) \(capability)")
            }
            return true
        } catch {
            let error = (error as? LuaError) ?? (error as? PushError).map(LuaError.init) ?? .hostFailure("\(error)")
            // A folder that cannot be read says nothing new each time.
            if let known = refused[entry.name], known.error == error, known.entry == entry { return false }
            refused[entry.name] = Refusal(hash: hash, entry: entry, error: error)
            let stays = live[entry.name].map { ": \($0.source.version) stays live" } ?? ""
            log(
                PluginMessage(
                    plugin: entry.name, version: hash.map { String($0.prefix(PluginSource.shownDigits)) } ?? "-", level: .error,
                    text: "was refused\(stays): \(error.message) (\(error.code))\(error.hint.map { "; \($0)" } ?? "")",
                    location: error.location))
            return false
        }
    }

    /// The same of one that is a part of the program.
    private func take(_ native: NativePluginType, _ entry: PluginList.Entry) throws -> Bool {
        try folder.checkNative(entry)
        let configuration = configuration(of: entry)
        let before = live[entry.name]
        let isAnother = before?.configuration != configuration
        if isAnother {
            live[entry.name] = try host.load(native, configuration)
            tell(native.source, .info, "is live\(before == nil ? "" : ", configured anew")")
        }
        refused[entry.name] = nil
        return isAnother
    }

    private func install(_ entries: [PluginList.Entry]) {
        host.install(entries.filter(\.isEnabled).compactMap { live[$0.name] })
    }

    private func tell(_ source: PluginSource?, _ level: PluginMessage.Level, _ text: String) {
        log(PluginMessage(plugin: source?.name ?? PluginMessage.list, version: source?.version ?? "-", level: level, text: text))
    }

    // MARK: - What there is

    /// For lists: every listed plugin, what is live of it, and what was refused.
    var report: [PluginReport] {
        let statuses = Dictionary(host.statuses.map { ($0.plugin.name, $0) }) { first, _ in first }
        return listed.map { entry in
            PluginReport(
                entry: entry, status: statuses[entry.name], refusal: refused[entry.name]?.error,
                refusedHash: refused[entry.name]?.hash, kept: versions.versions(of: entry.name))
        }
    }
}

/// How a listed plugin stands.
struct PluginReport: Sendable {
    var entry: PluginList.Entry
    /// Nil where it is not live.
    var status: PluginStatus?
    var refusal: LuaError?
    /// Of what was refused; nil where that could not be read.
    var refusedHash: String?
    var kept: [PluginVersions.Version]
}

extension LuaError {
    fileprivate static func hostFailure(_ message: String) -> LuaError {
        LuaError(kind: .failure, code: "host.error", message: message)
    }
}
