package import Bindings
import Glibc
package import Lua
package import PushModel
package import PushRuntime

/// Loads the scripts of a project from disk, for `push.run` and `require`.
package struct ProjectScripts: ScriptLibrary {
    /// Records every file before it is read, for `--watch`.
    var sources: SourceFiles?

    package init(sources: SourceFiles? = nil) {
        self.sources = sources
    }

    /// Loads a script that another script runs. Pipes are refused: waiting in real time would look like a standstill to a flow on the
    /// virtual clock.
    package func script(at path: String, from script: FlowScript) throws(PushError) -> FlowScript {
        let path = path.hasPrefix("/") ? path : FilePath.normalized("\(script.folder)/\(path)")
        sources?.note(path)
        return try ScriptRoots(of: script, plugin: Self.pluginFolder(of: script)).script(at: path)
    }

    /// Loads the script of a command line, relative to the working directory. Waits for a pipe, up to `time`.
    package func script(at path: String, within time: Duration?) async throws(PushError) -> FlowScript {
        sources?.note(path)
        return try await ScriptFile.read(path, within: time)
    }

    /// The search path of `require`: the folders that the script may load from.
    package func modules(of script: FlowScript) -> LuaSearchPath? {
        let folders = ScriptRoots(of: script, plugin: Self.pluginFolder(of: script)).folders
        let noted = LuaSearchPath.lookup { [sources] name in
            for folder in folders {
                for file in LuaSearchPath.files(of: name) { sources?.note(folder.isEmpty ? file : "\(folder)/\(file)") }
            }
            return nil
        }
        // Modules must pass the same checks as scripts.
        return (noted + .folders(folders)).inspected { path, source in
            do throws(PushError) {
                try ScriptFile.check(source, of: path)
            } catch {
                throw LuaError(error)
            }
        }
    }

    /// The plugin that the spec belongs to: the nearest plugin folder around it.
    package func plugin(of script: FlowScript) throws(PushError) -> PluginSource {
        if let folder = Self.pluginFolder(of: script) {
            for path in (try? ScriptFinder.files(under: [folder], suffix: ".lua")) ?? [] { sources?.note(path) }
            let (parent, name) = folder.splitAtLastSlash
            return try PluginFolder(path: parent).source(of: name)
        }
        throw PushError(
            "plugin.not_found", "\(script.name) is not a spec of a plugin: no folder above it contains \(PluginSource.main)",
            hint: "put a plugin's specs into its folder, beside \(PluginSource.main)")
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
}

extension String {
    /// Splits a path into parent and name: `plugins/greet` into `plugins` and `greet`, `greet` into `.` and `greet`.
    fileprivate var splitAtLastSlash: (String, String) {
        guard let slash = lastIndex(of: "/") else { return (".", self) }
        return (String(self[..<slash]), String(self[index(after: slash)...]))
    }
}
