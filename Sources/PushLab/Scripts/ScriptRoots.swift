import Bindings
import Lua
import PushModel
import PushRuntime

/// The folders from which a script may load other scripts. `push.run` and `require` open nothing outside them, even through `..` or
/// symbolic links.
struct ScriptRoots {
    /// The folders in search order; the working directory is "".
    let folders: [String]

    /// The folders are: the script's folder, the folder of its plugin, for a spec also the folder above, where its flows are, and the
    /// working directory. A script that was run by another script may also load from the folders of that one.
    init(of script: FlowScript, plugin: String?) {
        var folders = [script.folder]
        if let plugin { folders.append(plugin) }
        let above = FilePath.normalized("\(script.folder)/..")
        // Never above the working directory, which is outside the project.
        let isOutside =
            above == ".." || above.hasPrefix("../")
            || above.hasPrefix("/") && ConfinedFile.realPath(".").map { $0.hasPrefix(above) } ?? true
        if script.name.hasSuffix("_spec.lua"), !isOutside { folders.append(above) }
        // The working directory has no name, so that errors show paths relative to it.
        let named = (folders + script.roots).filter { $0 != "." && !$0.isEmpty }
        self.folders = named.uniqued() + [""]
    }

    /// Reads a script. Throws `script.outside` if the file is not below one of the folders or is not a Lua file, without revealing whether
    /// it exists, and the other errors of ``ScriptFile``.
    package func script(at path: String) throws(PushError) -> FlowScript {
        guard path.hasSuffix(Self.suffix) else { throw Self.outside(path, "its name does not end in \(Self.suffix)") }
        let file: ConfinedFile
        do throws(ConfinedFile.OpenError) {
            file = try ConfinedFile(path)
        } catch {
            guard contains(absolute(path), where: { absolute($0) }) else { throw outside(path) }
            if error.isMissing { throw missing(path) }
            throw PushError("script.unreadable", "\(path) cannot be read: \(error.text)")
        }
        defer { file.close() }
        guard let real = file.realPath, contains(real, where: ConfinedFile.realPath) else { throw outside(path) }
        guard real.hasSuffix(Self.suffix) else { throw Self.outside(path, "it is a link to a file that is not a Lua file") }
        var script = try ScriptFile.read(path, opening: file.descriptorPath)
        script.roots = folders
        return script
    }

    private static let suffix = ".lua"

    private func contains(_ path: String, where real: (String) -> String?) -> Bool {
        folders.contains { folder in
            guard let root = real(folder.isEmpty ? "." : folder) else { return false }
            return ConfinedFile.isPath(path, below: root)
        }
    }

    private func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = ConfinedFile.realPath(".") else { return FilePath.normalized(path) }
        return FilePath.normalized("\(folder)/\(path)")
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
            hint: "move the flow into the folder of the script that runs it, or below the working directory")
    }
}
