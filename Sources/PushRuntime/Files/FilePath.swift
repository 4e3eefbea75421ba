/// Paths of files as text.
package enum FilePath {
    /// Resolves `.` and `..` in the text of a path: `scripts/spec/../a.lua` becomes `scripts/a.lua`.
    package static func normalized(_ path: String) -> String {
        var parts: [Substring] = []
        for part in path.split(separator: "/") where part != "." {
            if part == "..", let last = parts.last, last != ".." { parts.removeLast() } else { parts.append(part) }
        }
        return (path.hasPrefix("/") ? "/" : "") + parts.joined(separator: "/")
    }
}
