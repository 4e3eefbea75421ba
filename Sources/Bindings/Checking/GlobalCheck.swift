import Lua
import LuaSyntax
import PushModel

/// Checks the use of globals, and determines what is known of their values.
struct GlobalCheck {
    let script: ScriptKnowledge

    private var chunk: Chunk { script.chunk }
    private var globals: GlobalNames { script.globals }

    /// Evaluates a global. `isTested`: the script handles nil here. `isUsed`: it is called, or one of its fields is read.
    func value(of name: Name, isTested: Bool, isUsed: Bool) -> Knowledge {
        if globals.assigned.contains(name.text) { return .unknown }
        if name.text == "require" { return .require }
        if name.text == "ipairs" || name.text == "pairs" { return .iteration }
        if LuaLibrary.libraries[name.text] != nil { return .library(name.text) }
        if name.text == "print" { return .function(results: .value(SourceValue(.nil, at: name.range))) }
        guard !LuaLibrary.functions.contains(name.text), name.text != "_G", name.text != "_ENV" else { return .unknown }
        if let hint = HostFunctions.absent[name.text] {
            script.checkAbsentName(name.text, hint: hint, isUsed: isUsed, at: name.range)
            return .unknown
        }
        guard !globals.areOpen, script.isFirstFinding(of: name.text) else { return .unknown }
        // Testing a foreign name is accepted, except for another language's name of nil.
        if isTested, LuaLibrary.foreign[name.text] != nil, !LuaLibrary.foreignNil.contains(name.text) { return .unknown }
        script.report(unknown(name, severity: isTested ? .warning : .error))
        return .unknown
    }

    /// Checks an assignment to a plain name, or a function statement with one.
    func assign(to name: Name) {
        guard case .global? = chunk.scopes.reference(at: name.range.lowerBound), script.isFirstFinding(of: "\(name.text) =") else {
            return
        }
        script.report(assignment(to: name))
    }

    /// The finding for a name that is never set.
    private func unknown(_ name: Name, severity: Finding.Severity) -> SourceFinding {
        func remark(_ message: String, _ hint: String?) -> SourceFinding {
            SourceFinding("script.unknown_global", message, hint: hint, severity: severity, at: name.range)
        }
        if name.text == PushModule.name {
            return remark("there is no \"push\" yet", "begin the script with local push = require \"push\"")
        }
        let message = "there is no \"\(name.text)\""
        if let hint = LuaLibrary.foreign[name.text] { return remark("\(message) in Lua", hint) }
        if globals.locals.contains(name.text),
            let other = chunk.scopes.variables.first(where: { $0.name == name.text && $0.role != .receiver })
        {
            let line = chunk.text.line(at: other.declaration.lowerBound)
            return other.declaration.lowerBound > name.range.lowerBound
                ? remark("\(message) yet", "the local of line \(line) is declared later; move it up")
                : remark("\(message) here", "the local of line \(line) ends with its block; declare it before the block")
        }
        if let near = nearest(name.text, in: globals.candidates) {
            return remark("\(message); did you mean \"\(near)\"?", "a name that was never set is nil")
        }
        if script.vocabulary.binding(named: "\(PushModule.name).\(name.text)") != nil {
            return remark("\(message); did you mean \"push.\(name.text)\"?", "all functions of PushHost are in the module push")
        }
        return remark(message, "set it before with local \(name.text) = …; a name that was never set is nil")
    }

    /// The finding for an assignment to a name that is not declared.
    private func assignment(to name: Name) -> SourceFinding {
        if LuaLibrary.functions.contains(name.text) || LuaLibrary.libraries[name.text] != nil {
            return SourceFinding(
                "check.global", "\"\(name.text)\" is part of Lua; this assignment replaces it for the whole script",
                hint: "write local \(name.text), or choose another name", severity: .warning, at: name.range)
        }
        let near = nearest(name.text, in: globals.locals)
        return SourceFinding(
            "check.global", "\"\(name.text)\" is not declared: this makes a global\(near.map { "; did you mean \"\($0)\"?" } ?? "")",
            hint: "write local before it, or declare it before the block with local \(name.text)", severity: .warning, at: name.range)
    }
}
