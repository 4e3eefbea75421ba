import Bindings
import PushCore

/// The scripts of a project, as `push.run` reads them from disk.
struct ProjectScripts: ScriptLibrary {
    func script(at path: String, from script: FlowScript) throws(PushError) -> FlowScript {
        try ScriptFile.read(path.hasPrefix("/") ? path : Self.normalized("\(script.folder)/\(path)"))
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
