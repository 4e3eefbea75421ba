package import Bindings
import Crypto
import Glibc
package import PushModel
import PushRuntime

/// A folder of plugins (`plugins` by default): one subfolder per plugin, and `plugins.yaml`, which lists the plugins in use.
package struct PluginFolder: Sendable {
    package let path: String
    /// The path as messages show it.
    package let shown: String

    package init(path: String, shown: String? = nil) {
        self.path = path
        self.shown = shown ?? path
    }

    static let list = "plugins.yaml"
    private static let maximumFiles = 500
    private static let maximumBytes = 16 << 20

    package var listPath: String { "\(path)/\(Self.list)" }

    /// The absolute path with symbolic links resolved: identical for every process that uses the folder.
    package var resolvedPath: String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    package func folder(of name: String) -> String { "\(path)/\(name)" }

    /// Names of the plugins in the folder, in use or not.
    package var names: [String] {
        ScriptFinder.folders(under: [path]).compactMap { folder in
            let name = String(folder.dropFirst(path.count + 1))
            return PluginSource.isName(name) && access("\(folder)/\(PluginSource.main)", F_OK) == 0 ? name : nil
        }.sorted()
    }

    /// Validates a plugin's name. Throws `plugin.name`.
    package static func check(name: String) throws(PushError) {
        guard !PluginSource.isName(name) else { return }
        throw PushError(
            "plugin.name", "invalid plugin name \"\(name.prefix(60))\"",
            hint: "use at most 40 lower-case letters and digits, with - between them, such as quiet-hours")
    }

    /// Reads all Lua files of a plugin. Throws `plugin.not_found`, `plugin.too_large` and `script.*`.
    package func source(of name: String) throws(PushError) -> PluginSource {
        try Self.check(name: name)
        let folder = folder(of: name)
        guard access("\(folder)/\(PluginSource.main)", F_OK) == 0 else {
            let known = names
            throw PushError(
                "plugin.not_found", "unknown plugin \(name): \(folder)/\(PluginSource.main) does not exist",
                hint: nearest(name, in: known).map { "did you mean \($0)?" } ?? "create it with pushhost plugin new \(name)")
        }
        // Files may be written while they are read. Two equal reads in a row are a consistent version.
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
            PushError("plugin.too_large", "\(folder) has more than \(what)", hint: "move what the plugin does not need out of the folder")
        }
        guard paths.count <= Self.maximumFiles else { throw tooLarge("\(Self.maximumFiles) Lua files") }
        var files: [String: [UInt8]] = [:]
        var bytes = 0
        // The folder itself may be a symbolic link; links inside it must not lead out of it.
        let home = Self.realPath(folder).map { $0 + "/" }
        for path in paths {
            guard let home, Self.realPath(path)?.hasPrefix(home) != false else {
                throw PushError(
                    "script.unreadable", "\(path) is a link to a file outside \(folder)",
                    hint: "copy the file into the folder: a plugin cannot use files outside it")
            }
            let content = try ScriptFile.read(path).source
            bytes += content.count
            guard bytes <= Self.maximumBytes else { throw tooLarge("\(Self.maximumBytes >> 20) MiB of Lua files") }
            files[String(path.dropFirst(folder.count + 1))] = content
        }
        return PluginSource(name: name, folder: "\(shown)/\(name)", files: files)
    }
}

extension PluginSource {
    /// Computes the version's hash: SHA-256 over the length and bytes of each path and content, ordered by path.
    package init(name: String, folder: String, files: [String: [UInt8]]) {
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
