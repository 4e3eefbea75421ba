import Bindings
import Glibc
import Lua
import PushCore

/// The scripts of a project, as `push.run` reads them from disk.
struct ProjectScripts: ScriptLibrary {
    /// Learns of every file before it is read.
    var sources: SourceFiles?

    /// Not from a pipe: to a flow on its virtual clock the waiting would look like a standstill.
    func script(at path: String, from script: FlowScript) throws(PushError) -> FlowScript {
        let path = path.hasPrefix("/") ? path : Self.normalized("\(script.folder)/\(path)")
        sources?.note(path)
        return try ScriptRoots(of: script, plugin: Self.pluginFolder(of: script)).script(at: path)
    }

    /// The script at a path that is relative to the working directory. One that comes through a pipe is waited for, so long.
    func script(at path: String, within time: Duration?) async throws(PushError) -> FlowScript {
        sources?.note(path)
        return try await ScriptFile.read(path, within: time)
    }

    /// Below the folders that a script may name scripts in.
    func modules(of script: FlowScript) -> LuaSearchPath? {
        let folders = ScriptRoots(of: script, plugin: Self.pluginFolder(of: script)).folders
        let noted = LuaSearchPath.lookup { [sources] name in
            for folder in folders {
                for file in LuaSearchPath.files(of: name) { sources?.note(folder.isEmpty ? file : "\(folder)/\(file)") }
            }
            return nil
        }
        // A module is a script like any other.
        return (noted + .folders(folders)).inspected { path, source in
            do throws(PushError) {
                try ScriptFile.check(source, of: path)
            } catch {
                throw LuaError(error)
            }
        }
    }

    /// That of the folder of the spec, or of one around it.
    func plugin(of script: FlowScript) throws(PushError) -> PluginSource {
        if let folder = Self.pluginFolder(of: script) {
            for path in (try? ScriptFinder.files(under: [folder], suffix: ".lua")) ?? [] { sources?.note(path) }
            let (parent, name) = folder.splitAtLastSlash
            return try PluginFolder(path: parent).source(of: name)
        }
        throw PushError(
            "plugin.not_found", "\(script.name) is no spec of a plugin: no folder around it has an \(PluginSource.main)",
            hint: "a plugin's specs lie in its folder, beside \(PluginSource.main)")
    }

    private static func pluginFolder(of script: FlowScript) -> String? {
        var folder = script.folder
        while !folder.isEmpty {
            let (parent, name) = folder.splitAtLastSlash
            if PluginSource.isName(name), access("\(folder)/\(PluginSource.main)", F_OK) == 0 { return folder }
            folder = parent == "." ? "" : parent
        }
        return nil
    }

    /// `scripts/spec/../a.lua` as `scripts/a.lua`.
    static func normalized(_ path: String) -> String {
        var parts: [Substring] = []
        for part in path.split(separator: "/") where part != "." {
            if part == "..", let last = parts.last, last != ".." { parts.removeLast() } else { parts.append(part) }
        }
        return (path.hasPrefix("/") ? "/" : "") + parts.joined(separator: "/")
    }
}

extension String {
    /// `plugins/greet` as `plugins` and `greet`, `greet` as `.` and that.
    fileprivate var splitAtLastSlash: (String, String) {
        guard let slash = lastIndex(of: "/") else { return (".", self) }
        return (String(self[..<slash]), String(self[index(after: slash)...]))
    }
}
