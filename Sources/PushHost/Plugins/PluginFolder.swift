import Bindings
import Crypto
import Glibc
import PushCore

/// A folder of plugins, `plugins` unless another one is named: in it a folder for each plugin, and the list of those that are in use.
struct PluginFolder: Sendable {
    let path: String
    /// As messages show it.
    let shown: String

    init(path: String, shown: String? = nil) {
        self.path = path
        self.shown = shown ?? path
    }

    static let list = "plugins.yaml"
    private static let mostFiles = 500
    private static let mostBytes = 16 << 20

    var listPath: String { "\(path)/\(Self.list)" }

    /// The folder without links, from the root: the same for everybody who uses it.
    var place: String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    /// Of the list as it stands.
    var revision: String {
        (try? TextFile.read(listPath, limit: 1 << 20, kind: "script")).map { PluginList.revision($0) } ?? ""
    }

    func folder(of name: String) -> String { "\(path)/\(name)" }

    /// The plugins that there are, in use or not.
    var names: [String] {
        ScriptFinder.folders(under: [path]).compactMap { folder in
            let name = String(folder.dropFirst(path.count + 1))
            return PluginSource.isName(name) && access("\(folder)/\(PluginSource.main)", F_OK) == 0 ? name : nil
        }.sorted()
    }

    /// Throws `plugin.native` where a plugin that is a part of the program is listed as if it were a folder.
    func checkNative(_ entry: PluginList.Entry) throws(PushError) {
        func refusal(_ what: String, _ hint: String) -> PushError {
            PushError("plugin.native", "\(entry.name) is a part of the program, \(what)", hint: hint)
        }
        if access("\(folder(of: entry.name))/\(PluginSource.main)", F_OK) == 0 {
            throw refusal("and \(folder(of: entry.name)) is a plugin, too", "give the folder another name")
        }
        if entry.pin != nil { throw refusal("and has no versions", "take \"version\" out of \(listPath)") }
    }

    /// Throws `plugin.name`.
    static func check(name: String) throws(PushError) {
        guard !PluginSource.isName(name) else { return }
        throw PushError(
            "plugin.name", "\"\(name.prefix(60))\" cannot be a plugin's name",
            hint: "use small letters and digits, with - between them, at most 40, such as quiet-hours")
    }

    /// All Lua files of a plugin. Throws `plugin.not_found`, `plugin.too_large` and `script.*`.
    func source(of name: String) throws(PushError) -> PluginSource {
        try Self.check(name: name)
        let folder = folder(of: name)
        guard access("\(folder)/\(PluginSource.main)", F_OK) == 0 else {
            let known = names
            throw PushError(
                "plugin.not_found", "there is no plugin \(name): \(folder)/\(PluginSource.main) does not exist",
                hint: nearest(name, in: known).map { "did you mean \($0)?" } ?? "pushhost plugin new \(name) makes one to begin with")
        }
        // Whoever writes several files is not to be met half-way: what is read twice the same was not being written.
        var source = try read(name, folder)
        for _ in 0..<20 {
            let again = try read(name, folder)
            if again == source { break }
            source = again
        }
        return source
    }

    private static func realPath(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private func read(_ name: String, _ folder: String) throws(PushError) -> PluginSource {
        let paths = try ScriptFinder.files(under: [folder], suffix: ".lua")
        func tooLarge(_ what: String) -> PushError {
            PushError("plugin.too_large", "\(folder) has more than \(what)", hint: "a plugin has Lua files alone: move the rest out of it")
        }
        guard paths.count <= Self.mostFiles else { throw tooLarge("\(Self.mostFiles) Lua files") }
        var files: [String: [UInt8]] = [:]
        var bytes = 0
        // The folder itself may be a link; what is in it may lead nowhere else.
        let home = Self.realPath(folder).map { $0 + "/" }
        for path in paths {
            guard let home, Self.realPath(path)?.hasPrefix(home) != false else {
                throw PushError(
                    "script.unreadable", "\(path) is a link that leads out of \(folder)",
                    hint: "copy the file: a plugin has the files of its own folder alone")
            }
            let content = try ScriptFile.read(path).source
            bytes += content.count
            guard bytes <= Self.mostBytes else { throw tooLarge("\(Self.mostBytes >> 20) MiB of Lua files") }
            files[String(path.dropFirst(folder.count + 1))] = content
        }
        return PluginSource(name: name, folder: "\(shown)/\(name)", files: files)
    }
}

extension PluginSource {
    /// With the hash of the files: SHA-256 over each path and content, with their lengths, in the order of the paths.
    init(name: String, folder: String, files: [String: [UInt8]]) {
        var hash = SHA256()
        func add(_ bytes: some Collection<UInt8>) {
            withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { hash.update(bufferPointer: $0) }
            hash.update(data: Array(bytes))
        }
        for (path, content) in files.sorted(by: { $0.key < $1.key }) {
            add(path.utf8)
            add(content)
        }
        let digits = hash.finalize().map { byte in
            let text = String(byte, radix: 16)
            return text.count == 1 ? "0" + text : text
        }
        self.init(name: name, folder: folder, files: files, hash: digits.joined())
    }
}
