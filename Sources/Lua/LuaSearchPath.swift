/// The places in which `require` looks for modules that are not modules of the host.
///
/// A module is a script. It runs with the globals of the run that requires it, once per run, receives its name and path as `...`, and may
/// wait. Its return value is the module, or `true` if it returns nothing. A module that fails is not cached: the next `require` loads it
/// again. A task that requires a module while another task is loading it waits for that load.
///
/// A name consists of parts separated by dots. Before any lookup, `require` rejects a name with an empty part, a slash, a backslash or a
/// control character, a name longer than 200 bytes, and a name that is not UTF-8 (`script.module_name`).
public struct LuaSearchPath: Sendable {
    /// Maximum size of a module in bytes.
    static let sizeLimit = 4 << 20

    enum Entry: Sendable {
        case folder(ModuleFolder)
        case lookup(@Sendable (String) throws -> LuaScript?)
    }
    let entries: [Entry]
    /// Checks that can reject a module by its path and content.
    private var inspections: [@Sendable (String, [UInt8]) throws -> Void] = []

    private init(entries: [Entry]) { self.entries = entries }

    /// A search path that finds nothing.
    package static let none = LuaSearchPath(entries: [])

    /// Searches folders in order: `require "a.b"` reads `a/b.lua` or, if that does not exist, `a/b/init.lua`.
    ///
    /// A symbolic link may point to another Lua file in the same folder, but not out of it (`script.module_unreadable`). Files of up to
    /// 4 MiB are read on the Lua thread, so store them on a local disk.
    public static func folders(_ paths: [String]) -> LuaSearchPath {
        LuaSearchPath(entries: paths.map { .folder(ModuleFolder(path: $0)) })
    }

    /// The files that may contain a module, relative to a folder, in search order.
    package static func files(of name: String) -> [String] {
        let path = name.split(separator: ".").joined(separator: "/")
        return ["\(path).lua", "\(path)/init.lua"]
    }

    /// Asks a function, which receives the name and returns `nil` if it has no such module.
    ///
    /// The function is called on the Lua thread. `require` raises what it throws.
    public static func lookup(_ find: @escaping @Sendable (String) throws -> LuaScript?) -> LuaSearchPath {
        LuaSearchPath(entries: [.lookup(find)])
    }

    /// Searches the first path, then the second.
    public static func + (first: LuaSearchPath, second: LuaSearchPath) -> LuaSearchPath {
        var path = LuaSearchPath(entries: first.entries + second.entries)
        path.inspections = first.inspections + second.inspections
        return path
    }

    /// Adds an inspection: if it throws for a module, `require` raises that error and does not run the module.
    package func inspected(by inspection: @escaping @Sendable (_ path: String, _ source: [UInt8]) throws -> Void) -> LuaSearchPath {
        var path = self
        path.inspections.append(inspection)
        return path
    }

    /// The first module found under this name.
    func script(for name: String) throws -> LuaScript? {
        for entry in entries {
            let found =
                switch entry {
                case .folder(let folder): try folder.script(for: name)
                case .lookup(let find): try find(name)
                }
            guard let found else { continue }
            let path = found.path
            guard found.source.count <= Self.sizeLimit else { throw LuaError.unreadable(path, Self.tooLarge) }
            guard found.compilable.first != Self.bytecodeMark else {
                throw LuaError(
                    kind: .syntax, code: "script.syntax",
                    message: "\(path) is bytecode, which is not loaded: the module '\(name)' must be the text of a script")
            }
            for inspection in inspections { try inspection(path, found.source) }
            return found
        }
        return nil
    }

    /// The error that `require` would raise for a name, given the host's module names; nil if it finds a module. Runs nothing.
    package func refusal(of name: String, beside known: Set<String>) -> LuaError? {
        if known.contains(name) { return nil }
        do {
            return try script(for: Self.check(name)) == nil ? unknown(name, beside: known) : nil
        } catch {
            return LuaError(raisedByHost: error)
        }
    }

    func unknown(_ name: String, beside hosts: Set<String>) -> LuaError {
        var names = hosts
        var looked: [String] = []
        for case .folder(let folder) in entries {
            names.formUnion(folder.names())
            looked.append(folder.paths(of: name)[0])
        }
        let known = names.sorted()
        let shown = known.prefix(20).joined(separator: ", ") + (known.count > 20 ? ", …" : "")
        return .misuse(
            "script.unknown_module",
            "unknown module '\(name)'; modules: \(known.isEmpty ? "none" : shown)"
                + (looked.isEmpty ? "" : "; looked for \(looked.joined(separator: ", ")), and for init.lua in a folder of that name"),
            hint: LuaError.nearest(to: name, among: known.filter { $0 != name }).map { "did you mean '\($0)'?" })
    }

    /// The first byte of bytecode, as written by `string.dump` and luac.
    private static let bytecodeMark: UInt8 = 0x1B

    static let tooLarge = "has more than \(sizeLimit >> 20) MiB, the limit for a module"

    static func check(_ name: String?) throws -> String {
        func refused(_ shown: String, _ why: String) -> LuaError {
            .misuse(
                "script.module_name", "invalid module name '\(shown)': \(why)",
                hint: "separate the parts of a name with dots: require \"lib.text\"")
        }
        guard let name else { throw refused("?", "it is not UTF-8") }
        guard name.utf8.count <= 200 else { throw refused("\(name.prefix(40))…", "it has more than 200 bytes") }
        if name.split(separator: ".", omittingEmptySubsequences: false).contains(where: \.isEmpty) {
            throw refused(name, "it has an empty part")
        }
        for scalar in name.unicodeScalars {
            if scalar == "/" || scalar == "\\" { throw refused(name, "it has a '\(scalar)'; parts are separated by dots") }
            guard scalar.value >= 0x20, scalar.value != 0x7F else {
                let shown = String(String.UnicodeScalarView(name.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? "?" : $0 }))
                throw refused(shown, "it has a control character")
            }
        }
        return name
    }
}

extension LuaError {
    static func unreadable(_ path: String, _ why: String) -> LuaError {
        LuaError(kind: .failure, code: "script.module_unreadable", message: "\(path) \(why)")
    }
}
