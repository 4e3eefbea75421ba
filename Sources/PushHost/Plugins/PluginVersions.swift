import Bindings
import FoundationEssentials
import Glibc
import PushCore

/// The versions of plugins that were live, as they were: what a plugin is rolled back to, and what a server begins with when the folder
/// has something that does not load.
struct PluginVersions: Sendable {
    /// `plugins` of the data folder.
    let path: String

    /// Versions of a plugin that are kept.
    static let kept = 10

    struct Version: Sendable, Equatable {
        var hash: String
        /// When it went live last other than by a pin, in milliseconds since 1970.
        var live: Timestamp

        var shown: String { String(hash.prefix(PluginSource.shownDigits)) }
    }

    private static let mark = "live"
    private static let lastMark = "last"
    private static let grantedMark = "granted"

    /// Keeps a version as the newest one, and forgets the oldest. Throws `plugin.unkept`.
    func keep(_ source: PluginSource, now: Timestamp) throws(PushError) {
        let folder = "\(path)/\(source.name)/\(source.hash)"
        do {
            if access("\(folder)/\(Self.mark)", F_OK) != 0 {
                // There is the whole of it, or nothing under its name.
                let draft = "\(path)/\(source.name)/.\(source.hash).\(getpid())"
                try? FileManager.default.removeItem(atPath: draft)
                for (file, content) in source.files {
                    let target = "\(draft)/files/\(file)"
                    let parent = String(target[..<(target.lastIndex(of: "/") ?? target.endIndex)])
                    try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
                    try ResultFile.write(content, to: target, permissions: 0o600)
                }
                try ResultFile.write(Array("\(now.milliseconds)".utf8), to: "\(draft)/\(Self.mark)", permissions: 0o600)
                try? FileManager.default.removeItem(atPath: folder)
                try FileManager.default.moveItem(atPath: draft, toPath: folder)
            } else {
                try ResultFile.write(Array("\(now.milliseconds)".utf8), to: "\(folder)/\(Self.mark)", permissions: 0o600)
            }
        } catch {
            throw PushError(
                "plugin.unkept", "the version \(source.version) of \(source.name) cannot be kept in \(folder): \(error)",
                hint: "make room, or let the folder be written to: it could not be rolled back to")
        }
        for old in versions(of: source.name).dropFirst(Self.kept) {
            try? FileManager.default.removeItem(atPath: "\(path)/\(source.name)/\(old.hash)")
        }
    }

    /// Notes that a kept version is live now, also where it keeps its place in the order of versions, and what the plugin was granted
    /// then. Throws `plugin.unkept`.
    func remember(_ source: PluginSource, granted: [Capability]) throws(PushError) {
        let texts = granted.map(\.description).sorted()
        do throws(PushError) {
            if last(of: source.name)?.hash != source.hash {
                try ResultFile.write(Array(source.hash.utf8), to: "\(path)/\(source.name)/\(Self.lastMark)", permissions: 0o600)
            }
            if self.granted(source.name)?.map(\.description).sorted() != texts {
                let text = texts.map { "\($0)\n" }.joined()
                try ResultFile.write(Array(text.utf8), to: "\(path)/\(source.name)/\(Self.grantedMark)", permissions: 0o600)
            }
        } catch {
            throw PushError(
                "plugin.unkept", "that \(source.version) of \(source.name) is live cannot be kept: \(error.message)",
                hint: "make room, or let the folder be written to: a server that finds the plugin broken would begin with an older one")
        }
    }

    /// What a plugin was granted when a version of it went live last; nil where that is not known.
    func granted(_ name: String) -> [Capability]? {
        guard let text = try? TextFile.read("\(path)/\(name)/\(Self.grantedMark)", limit: 1 << 20, kind: "script") else { return nil }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap { try? Capability(parsing: String($0)) }
    }

    /// The version that was live last: what a server begins with where the folder has something that does not load.
    func last(of name: String) -> Version? {
        let known = versions(of: name)
        let noted = try? TextFile.read("\(path)/\(name)/\(Self.lastMark)", limit: 64, kind: "script")
        return known.first { noted == Array($0.hash.utf8) } ?? known.first
    }

    /// The plugins that were live.
    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).filter { PluginSource.isName($0) && !versions(of: $0).isEmpty }
            .sorted()
    }

    /// Those that are kept, the newest first: in the order in which they went live, apart from those that somebody went back to.
    func versions(of name: String) -> [Version] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(path)/\(name)")) ?? []
        return names.filter { $0.wholeMatch(of: /[0-9a-f]{64}/) != nil }.compactMap { hash in
            guard let bytes = try? TextFile.read("\(path)/\(name)/\(hash)/\(Self.mark)", limit: 64, kind: "script"),
                let moment = Int64(String(decoding: bytes, as: UTF8.self))
            else { return nil }
            return Version(hash: hash, live: Timestamp(milliseconds: moment))
        }.sorted { ($0.live, $0.hash) > ($1.live, $1.hash) }
    }

    /// What is to be live of a plugin that is listed so: a pinned version, which may be what is in the folder, or what is there.
    func source(of entry: PluginList.Entry, in folder: PluginFolder) throws(PushError) -> PluginSource {
        guard let pin = entry.pin else { return try folder.source(of: entry.name) }
        do throws(PushError) {
            return try source(of: entry.name, pin, folder: "\(folder.shown)/\(entry.name)")
        } catch {
            guard let found = try? folder.source(of: entry.name), found.hash.hasPrefix(pin) else { throw error }
            return found
        }
    }

    /// The version whose hash begins with these digits. Throws `plugin.no_version`.
    ///
    /// - Parameter folder: where messages say that its files are.
    func source(of name: String, _ digits: String, folder: String) throws(PushError) -> PluginSource {
        let known = versions(of: name)
        guard let version = known.first(where: { $0.hash.hasPrefix(digits.lowercased()) }) else {
            throw PushError(
                "plugin.no_version", "no version \(digits) of \(name) is kept",
                hint: known.isEmpty ? "none is: one is kept once it is live" : "there are \(known.map(\.shown).joined(separator: ", "))")
        }
        let files = "\(path)/\(name)/\(version.hash)/files"
        var contents: [String: [UInt8]] = [:]
        for path in try ScriptFinder.files(under: [files], suffix: ".lua") {
            contents[String(path.dropFirst(files.count + 1))] = try ScriptFile.read(path).source
        }
        let source = PluginSource(name: name, folder: folder, files: contents)
        guard source.hash == version.hash else {
            throw PushError("plugin.no_version", "the version \(digits) of \(name) was changed in \(files)", hint: "choose another one")
        }
        return source
    }
}
