import Bindings
import Glibc
import PushCore

/// The folders that a script may name scripts in. `push.run` and `require` open nothing outside of them, whichever way a path or a
/// link takes.
struct ScriptRoots {
    /// In the order in which modules are looked for; the working directory is "".
    let folders: [String]

    /// The folder of the script, that of the plugin that it is a part of, for a spec the folder above, where its flows are, and the
    /// working directory. A script that another one has run may also read where that one may.
    init(of script: FlowScript, plugin: String?) {
        var folders = [script.folder]
        if let plugin { folders.append(plugin) }
        let above = ProjectScripts.normalized("\(script.folder)/..")
        // Never above the working directory: that is not the project's any more.
        let isOutside =
            above == ".." || above.hasPrefix("../") || above.hasPrefix("/") && Self.realPath(".").map { $0.hasPrefix(above) } ?? true
        if script.name.hasSuffix("_spec.lua"), !isOutside { folders.append(above) }
        // Without a name the working directory is not part of what errors show.
        let named = (folders + script.roots).filter { $0 != "." && !$0.isEmpty }
        self.folders = named.uniqued() + [""]
    }

    /// Reads the script at a path. Throws `script.outside` for a file that is not below one of the folders, or no Lua file, without a
    /// word about whether it exists, and the other errors of ``ScriptFile``.
    func script(at path: String) throws(PushError) -> FlowScript {
        guard path.hasSuffix(Self.suffix) else { throw Self.outside(path, "its name does not end in \(Self.suffix)") }
        // Without side effects, whatever it is; the same file is read that has been looked at.
        let probe = open(path, Self.pathOnly | O_CLOEXEC)
        let failure = errno
        guard probe >= 0 else {
            guard contains(absolute(path), where: { absolute($0) }) else { throw outside(path) }
            if failure == ENOENT || failure == ENOTDIR { throw missing(path) }
            throw PushError("script.unreadable", "\(path) cannot be read: \(String(cString: strerror(failure)))")
        }
        defer { close(probe) }
        guard let real = Self.target(of: "/proc/self/fd/\(probe)"), contains(real, where: Self.realPath) else { throw outside(path) }
        guard real.hasSuffix(Self.suffix) else { throw Self.outside(path, "it is a link to a file that is no Lua file") }
        var script = try ScriptFile.read(path, opening: "/proc/self/fd/\(probe)")
        script.roots = folders
        return script
    }

    private static let suffix = ".lua"
    /// `O_PATH`, which the overlay lacks.
    private static let pathOnly: Int32 = 0o10000000

    private func contains(_ path: String, where real: (String) -> String?) -> Bool {
        folders.contains { folder in
            guard let root = real(folder.isEmpty ? "." : folder) else { return false }
            return path.hasPrefix(root == "/" ? root : "\(root)/")
        }
    }

    private func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = Self.realPath(".") else { return ProjectScripts.normalized(path) }
        return ProjectScripts.normalized("\(folder)/\(path)")
    }

    private func missing(_ path: String) -> PushError {
        let near = TextFile.suggestion(for: path).flatMap { near in
            near.hasSuffix(Self.suffix) && contains(absolute(near), where: { absolute($0) }) ? near : nil
        }
        return PushError("script.not_found", "\(path) does not exist", hint: near.map { "did you mean \($0)?" })
    }

    private func outside(_ path: String) -> PushError {
        let places = folders.map { $0.isEmpty ? "the working directory" : $0 }
        return Self.outside(path, "push.run reads Lua files below \(places.joined(separator: ", ")) only")
    }

    private static func outside(_ path: String, _ why: String) -> PushError {
        PushError(
            "script.outside", "\(path.isEmpty ? "." : path) is not a script of the project: \(why); not opened",
            hint: "put the flow into the folder of the script that runs it, or below the working directory")
    }

    private static func target(of link: String) -> String? {
        var buffer = [CChar](repeating: 0, count: 4_097)
        let count = readlink(link, &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        return String(validating: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static func realPath(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(validatingCString: resolved)
    }
}
