/// Where scripts find the modules that they `require`, beside those of the host.
///
/// A module is a script. It runs in the globals of the run that requires it, once per run, with its name and its path as
/// `...`, and may wait. What it returns is the module; `true` stands for nothing. A module that fails is not kept: the next
/// `require` loads it again. Those who require a module while another task loads it wait for that.
///
/// Names are parts with dots between them. Before anything is looked for, names are refused that have an empty part, a
/// slash, a backslash or a control character, that are longer than 200 bytes or no UTF-8 (`script.module_name`).
public struct LuaSearchPath: Sendable {
    /// The most bytes of a module.
    static let sizeLimit = 4 << 20

    enum Place: Sendable {
        case folder(ModuleFolder)
        case lookup(@Sendable (String) throws -> LuaScript?)
    }
    let places: [Place]
    /// Refuses modules by their path and what is in them.
    private var inspections: [@Sendable (String, [UInt8]) throws -> Void] = []

    private init(places: [Place]) { self.places = places }

    /// Looks nowhere.
    package static let none = LuaSearchPath(places: [])

    /// Looks below folders, in order: `require "a.b"` reads `a/b.lua` or, where there is none, `a/b/init.lua`.
    ///
    /// Symbolic links may point to other files of the same folder, not out of it (`script.module_unreadable`). Files of up
    /// to 4 MiB are read, on the Lua thread; keep them on a local disk.
    public static func folders(_ paths: [String]) -> LuaSearchPath {
        LuaSearchPath(places: paths.map { .folder(ModuleFolder(path: $0)) })
    }

    /// The files that a module may be in, relative to a folder and in order.
    package static func files(of name: String) -> [String] {
        let path = name.split(separator: ".").joined(separator: "/")
        return ["\(path).lua", "\(path)/init.lua"]
    }

    /// Asks a function, which gets the name and answers `nil` when it has no such module.
    ///
    /// It is called on the Lua thread. What it throws is raised by `require`.
    public static func lookup(_ find: @escaping @Sendable (String) throws -> LuaScript?) -> LuaSearchPath {
        LuaSearchPath(places: [.lookup(find)])
    }

    /// Looks in one search path, then in another.
    public static func + (first: LuaSearchPath, second: LuaSearchPath) -> LuaSearchPath {
        var path = LuaSearchPath(places: first.places + second.places)
        path.inspections = first.inspections + second.inspections
        return path
    }

    /// The same, but `require` raises what the inspection of a module throws, and does not run it.
    package func inspected(by inspection: @escaping @Sendable (_ path: String, _ source: [UInt8]) throws -> Void) -> LuaSearchPath {
        var path = self
        path.inspections.append(inspection)
        return path
    }

    /// The module of this name, from the first place that has one.
    func script(for name: String) throws -> LuaScript? {
        for place in places {
            let found =
                switch place {
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

    /// What `require` raises for a name, beside modules of the host of these names; nil: it finds a module. Nothing is run.
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
        for case .folder(let folder) in places {
            names.formUnion(folder.names())
            looked.append(folder.paths(of: name)[0])
        }
        let known = names.sorted()
        let shown = known.prefix(20).joined(separator: ", ") + (known.count > 20 ? ", …" : "")
        return .misuse(
            "script.unknown_module",
            "there is no module '\(name)'; modules: \(known.isEmpty ? "none" : shown)"
                + (looked.isEmpty ? "" : "; looked for \(looked.joined(separator: ", ")), and for init.lua in a folder of that name"),
            hint: LuaError.nearest(to: name, among: known.filter { $0 != name }).map { "did you mean '\($0)'?" })
    }

    /// The first byte of what `string.dump` and luac write.
    private static let bytecodeMark: UInt8 = 0x1B

    static let tooLarge = "has more than \(sizeLimit >> 20) MiB, the most of a module"

    static func check(_ name: String?) throws -> String {
        func refused(_ shown: String, _ why: String) -> LuaError {
            .misuse(
                "script.module_name", "'\(shown)' is no name of a module: \(why)",
                hint: "a name is made of parts with dots between them: require \"lib.text\"")
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
