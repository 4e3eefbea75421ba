import Glibc

/// A folder whose files are modules. Neither names nor links can lead out of it.
struct ModuleFolder: Sendable {
    let path: String

    /// The paths where a module may be, in search order: `a/b.lua`, then `a/b/init.lua`.
    func paths(of name: String) -> [String] {
        LuaSearchPath.files(of: name).map { file in
            path.isEmpty ? file : path.hasSuffix("/") ? path + file : "\(path)/\(file)"
        }
    }

    /// The module of a validated name; `nil` if there is no such file.
    func script(for name: String) throws -> LuaScript? {
        for path in paths(of: name) {
            if let script = try script(at: path) { return script }
        }
        return nil
    }

    private func script(at path: String) throws -> LuaScript? {
        let confined: ConfinedFile
        do throws(ConfinedFile.OpenError) {
            confined = try ConfinedFile(path)
        } catch {
            if error.isMissing { return nil }
            throw LuaError.unreadable(path, "cannot be read: \(error.text)")
        }
        defer { confined.close() }
        guard let real = confined.realPath, let root = ConfinedFile.realPath(self.path.isEmpty ? "." : self.path)
        else { throw LuaError.unreadable(path, "cannot be read: its real path is unknown") }
        guard ConfinedFile.isPath(real, below: root) else {
            throw LuaError.unreadable(path, "is a link that leads out of \(self.path.isEmpty ? "." : self.path)")
        }
        // The syntax error of another file would show a part of its text.
        guard real.hasSuffix(".lua") else { throw LuaError.unreadable(path, "is a link to a file that is not a Lua file") }
        // O_NONBLOCK: opening a FIFO must not block the thread.
        let file = open(confined.descriptorPath, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw LuaError.unreadable(path, "cannot be read: \(String(cString: strerror(errno)))") }
        defer { close(file) }
        // A file that cannot seek is a pipe or a terminal.
        guard lseek(file, 0, SEEK_CUR) >= 0 else { throw LuaError.unreadable(path, "cannot be read: it is not a regular file") }
        return LuaScript(name: "@" + path, source: try Self.read(file, path))
    }

    private static func read(_ file: Int32, _ path: String) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw LuaError.unreadable(path, "cannot be read: \(String(cString: strerror(errno)))") }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
            guard bytes.count <= LuaSearchPath.sizeLimit else { throw LuaError.unreadable(path, LuaSearchPath.tooLarge) }
        }
    }

    /// Names of existing modules, for messages. The search is bounded, so a large tree may be listed incompletely.
    func names() -> [String] {
        var names: [String] = []
        var remaining = 256
        var folders: [(path: String, prefix: String)] = [(path.isEmpty ? "." : path, "")]
        while let folder = folders.popLast(), remaining > 0 {
            guard let stream = opendir(folder.path) else { continue }
            defer { closedir(stream) }
            while remaining > 0, let entry = readdir(stream) {
                remaining -= 1
                let name = withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                if name.hasPrefix(".") { continue }
                if name.hasSuffix(".lua") {
                    // A link may be dangling.
                    if access("\(folder.path)/\(name)", F_OK) != 0 { continue }
                    let isFolder = name == "init.lua" && !folder.prefix.isEmpty
                    names.append(isFolder ? String(folder.prefix.dropLast()) : folder.prefix + name.dropLast(4))
                } else if entry.pointee.d_type == UInt8(DT_DIR) {
                    folders.append(("\(folder.path)/\(name)", "\(folder.prefix)\(name)."))
                }
            }
        }
        return names
    }
}
