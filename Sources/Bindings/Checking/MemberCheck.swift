import Lua
import LuaSyntax

/// Determines what is known of fields of a value, and reports fields that do not exist or cannot be assigned.
struct MemberCheck {
    let script: ScriptKnowledge

    private var vocabulary: Vocabulary { script.vocabulary }
    private var globals: GlobalNames { script.globals }

    /// Evaluates a field. `isUsed`: it is called, or one of its own fields is read.
    func value(of name: Name, of owner: Knowledge, isUsed: Bool = false) -> Knowledge {
        switch owner {
        case .namespace(let path): return member(name, inNamespace: path)
        case .binding(let binding):
            if vocabulary.isNamespace(binding.name) { return member(name, inNamespace: binding.name) }
            // A function that is also a table: `push.log`.
            guard let type = vocabulary.type(labelled: binding.name) else { return .unknown }
            return field(name, of: type.name)
        case .instance(let type):
            if type == "push.Target" { script.readsTarget = true }
            guard let handle = vocabulary.handle(of: type) else { return field(name, of: type) }
            if let method = vocabulary.binding(named: "\(handle):\(name.text)") { return .binding(method) }
            requireMember(name, of: handle)
            return .unknown
        case .dictionary(let element): return element
        case .library(let library): return member(name, inLibrary: library, isUsed: isUsed)
        case .options(let names):
            guard !names.contains(name.text), !globals.assignedFields.contains(name.text) else { return .unknown }
            var error = LuaError.unknownName(name.text, in: "the table of push.args", known: names)
            error.code = "check.unknown_option"
            error.hint = names.isEmpty ? "push.args declares no option" : "push.args declares \(names.sorted().joined(separator: ", "))"
            script.report(SourceFinding(error, severity: .warning, at: name.range))
            return .unknown
        case .unknown, .value, .list, .function, .require, .iteration, .iterated: return .unknown
        }
    }

    private func member(_ name: Name, inNamespace path: String) -> Knowledge {
        let full = "\(path).\(name.text)"
        if let binding = vocabulary.binding(named: full) {
            return binding.style == .value ? vocabulary.knowledge(of: binding.returns?.type ?? "") : .binding(binding)
        }
        if vocabulary.isNamespace(full) { return .namespace(full) }
        if let method = vocabulary.binding(named: "\(path):\(name.text)") { return .binding(method) }
        reportUnknown(name, inNamespace: path)
        return .unknown
    }

    func reportUnknown(_ name: Name, inNamespace path: String) {
        script.report(SourceFinding(.unknownName(name.text, in: path, known: vocabulary.names(in: path)), at: name.range))
    }

    /// Evaluates a field of a table that a binding returns.
    private func field(_ name: Name, of type: String) -> Knowledge {
        guard let description = vocabulary.type(named: type), !description.fields.isEmpty else { return .unknown }
        if let matcher = description.label.flatMap({ Matchers.named("\($0).\(name.text)") }) { return .binding(matcher) }
        if let field = description.fields.first(where: { $0.name == name.text }) { return vocabulary.knowledge(of: field.type) }
        let known = description.fields.map(\.name)
        if let label = description.label {
            script.report(SourceFinding(.unknownName(name.text, in: label, known: known), at: name.range))
        } else if !globals.assignedFields.contains(name.text) {
            var error = LuaError.unknownName(name.text, in: "a \(type)", known: known)
            error.code = "check.unknown_field"
            script.report(SourceFinding(error, severity: .warning, at: name.range))
        }
        return .unknown
    }

    func requireMember(_ name: Name, of handle: String) {
        let members = vocabulary.members(of: handle)
        guard !members.contains(name.text) else { return }
        script.report(SourceFinding(.unknownMember(name.text, of: handle, names: Array(members)), at: name.range))
    }

    private func member(_ name: Name, inLibrary library: String, isUsed: Bool) -> Knowledge {
        let names = LuaLibrary.libraries[library] ?? []
        guard !names.contains(name.text), !globals.assignedFields.contains(name.text) else { return .unknown }
        if library == "math", LuaLibrary.olderMath.contains(name.text) { return .unknown }
        let full = "\(library).\(name.text)"
        if let hint = HostFunctions.absent[full] ?? HostFunctions.absent[library] {
            script.checkAbsentName(full, hint: hint, isUsed: isUsed, at: name.range)
        } else if LuaLibrary.strict.contains(library) {
            let hint = "\(library) has \(names.sorted().joined(separator: ", "))"
            script.checkAbsentName(full, hint: hint, isUsed: isUsed, at: name.range)
        } else {
            script.report(SourceFinding(.unknownName(name.text, in: library, known: Array(names)), at: name.range))
        }
        return .unknown
    }

    /// Reports a value that has no fields.
    func requireFields(of owner: Knowledge, at range: Range<Int>) {
        switch owner {
        case .value(let value):
            switch value.content {
            case .nil, .boolean, .integer, .number, .function: script.refuse(.index, value.content.typeName, at: range)
            case .unknown, .string, .bytes, .table, .object: break
            }
        case .binding(let binding) where !vocabulary.isNamespace(binding.name) && vocabulary.type(labelled: binding.name) == nil:
            script.refuse(.index, "function", at: range)
        case .function, .require, .iteration: script.refuse(.index, "function", at: range)
        default: break
        }
    }

    /// Checks an assignment to a field.
    func assign(_ name: Name, of owner: Knowledge) {
        switch owner {
        case .namespace(let path): script.report(SourceFinding(.readOnly(name.text, in: path), at: name.range))
        case .instance(let type):
            guard let handle = vocabulary.handle(of: type) else { return }
            script.report(SourceFinding(.readOnlyHandle(handle), at: name.range))
        default: break
        }
    }
}

extension LuaError {
    /// The runtime's own message for an assignment to a handle (functions.c).
    fileprivate static func readOnlyHandle(_ type: String) -> LuaError {
        .misuse("script.read_only", "a \(type) cannot be changed by assigning to its fields", hint: "keep it in a local variable")
    }
}
