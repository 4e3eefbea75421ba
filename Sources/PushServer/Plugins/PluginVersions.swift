package import Bindings
import FoundationEssentials
import Glibc
package import PushLab
package import PushModel
import PushRuntime

/// Stores plugin versions that have been live, for rollback and for a server start when the plugin folder does not load.
package struct PluginVersions: Sendable {
    /// The folder `plugins` in the data folder.
    package let path: String

    package init(path: String) {
        self.path = path
    }

    /// How many versions of each plugin are stored.
    package static let maximumVersions = 10

    package struct Version: Sendable, Equatable {
        package var hash: String
        /// When it most recently went live other than by a pin.
        var live: Timestamp

        package var shown: String { String(hash.prefix(PluginSource.shownDigits)) }
    }

    private static let mark = "live"
    private static let lastMark = "last"
    private static let grantedMark = "granted"

    /// Stores a version as the newest one and deletes the oldest. Throws `plugin.unkept`.
    func save(_ source: PluginSource, now: Timestamp) throws(PushError) {
        let folder = "\(path)/\(source.name)/\(source.hash)"
        do {
            if access("\(folder)/\(Self.mark)", F_OK) != 0 {
                // Written to a draft folder and then moved, so that a version is complete or absent.
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
                "plugin.unkept", "cannot store version \(source.version) of \(source.name) in \(folder): \(error)",
                hint: "free disk space or make the folder writable: without it, a rollback to this version is impossible")
        }
        for old in versions(of: source.name).dropFirst(Self.maximumVersions) {
            try? FileManager.default.removeItem(atPath: "\(path)/\(source.name)/\(old.hash)")
        }
    }

    /// Records the live version and the plugin's grants without changing the order of versions. Throws `plugin.unkept`.
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
                "plugin.unkept", "cannot record that version \(source.version) of \(source.name) is live: \(error.message)",
                hint: "free disk space or make the folder writable: until then a restart may fall back to an older version")
        }
    }

    /// The grants recorded when a version of the plugin last went live; nil if unknown.
    func granted(_ name: String) -> [Capability]? {
        guard let text = try? TextFile.read("\(path)/\(name)/\(Self.grantedMark)", limit: 1 << 20, kind: "script") else { return nil }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap { try? Capability(parsing: String($0)) }
    }

    /// The version that was live most recently: the fallback at server start if the folder does not load.
    package func last(of name: String) -> Version? {
        let known = versions(of: name)
        let noted = try? TextFile.read("\(path)/\(name)/\(Self.lastMark)", limit: 64, kind: "script")
        return known.first { noted == Array($0.hash.utf8) } ?? known.first
    }

    /// Names of the plugins with at least one stored version.
    package var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).filter { PluginSource.isName($0) && !versions(of: $0).isEmpty }
            .sorted()
    }

    /// Stored versions, newest first, in the order in which they went live. Rollbacks do not change the order.
    package func versions(of name: String) -> [Version] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(path)/\(name)")) ?? []
        return names.filter { $0.wholeMatch(of: /[0-9a-f]{64}/) != nil }.compactMap { hash in
            guard let bytes = try? TextFile.read("\(path)/\(name)/\(hash)/\(Self.mark)", limit: 64, kind: "script"),
                let time = Int64(String(decoding: bytes, as: UTF8.self))
            else { return nil }
            return Version(hash: hash, live: Timestamp(milliseconds: time))
        }.sorted { ($0.live, $0.hash) > ($1.live, $1.hash) }
    }

    /// Reads the files that an entry asks for: the pinned version, from the store or from the folder, or else the folder's files.
    package func source(of entry: PluginList.Entry, in folder: PluginFolder) throws(PushError) -> PluginSource {
        guard let pin = entry.pin else { return try folder.source(of: entry.name) }
        do throws(PushError) {
            return try source(of: entry.name, pin, folder: "\(folder.shown)/\(entry.name)")
        } catch {
            guard let found = try? folder.source(of: entry.name), found.hash.hasPrefix(pin) else { throw error }
            return found
        }
    }

    /// Reads the stored version whose hash begins with `digits`. Throws `plugin.no_version`.
    ///
    /// - Parameter folder: the folder that messages name as the location of its files.
    package func source(of name: String, _ digits: String, folder: String) throws(PushError) -> PluginSource {
        let known = versions(of: name)
        guard let version = known.first(where: { $0.hash.hasPrefix(digits.lowercased()) }) else {
            throw PushError(
                "plugin.no_version", "unknown version \(digits) of \(name)",
                hint: known.isEmpty ? "no version was live yet" : "stored versions: \(known.map(\.shown).joined(separator: ", "))")
        }
        let files = "\(path)/\(name)/\(version.hash)/files"
        var contents: [String: [UInt8]] = [:]
        for path in try ScriptFinder.files(under: [files], suffix: ".lua") {
            contents[String(path.dropFirst(files.count + 1))] = try ScriptFile.read(path).source
        }
        let source = PluginSource(name: name, folder: folder, files: contents)
        guard source.hash == version.hash else {
            throw PushError(
                "plugin.no_version", "the stored version \(digits) of \(name) was modified in \(files)", hint: "choose another version")
        }
        return source
    }
}
