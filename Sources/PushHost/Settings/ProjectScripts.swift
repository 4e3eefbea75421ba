import Bindings
import Lua
import PushCore

/// The scripts of a project, as `push.run` reads them from disk.
struct ProjectScripts: ScriptLibrary {
    /// Learns of every file before it is read.
    var sources: SourceFiles?

    /// Not from a pipe: to a flow on its virtual clock the waiting would look like a standstill.
    func script(at path: String, from script: FlowScript) throws(PushError) -> FlowScript {
        let path = path.hasPrefix("/") ? path : Self.normalized("\(script.folder)/\(path)")
        guard !path.isEmpty else { return try ScriptFile.read(".") }
        sources?.note(path)
        return try ScriptFile.read(path)
    }

    /// The script at a path that is relative to the working directory. One that comes through a pipe is waited for, so long.
    func script(at path: String, within time: Duration?) async throws(PushError) -> FlowScript {
        sources?.note(path)
        return try await ScriptFile.read(path, within: time)
    }

    /// The folder of the script, then the working directory.
    func modules(of script: FlowScript) -> LuaSearchPath? {
        // Without a name the working directory is not part of what errors show.
        let folders = script.folder == "." ? [""] : [script.folder, ""]
        let noted = LuaSearchPath.lookup { [sources] name in
            let file = name.replacing(".", with: "/") + ".lua"
            for folder in folders { sources?.note(folder.isEmpty ? file : "\(folder)/\(file)") }
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

    /// `scripts/spec/../a.lua` as `scripts/a.lua`.
    static func normalized(_ path: String) -> String {
        var parts: [Substring] = []
        for part in path.split(separator: "/") where part != "." {
            if part == "..", let last = parts.last, last != ".." { parts.removeLast() } else { parts.append(part) }
        }
        return (path.hasPrefix("/") ? "/" : "") + parts.joined(separator: "/")
    }
}
