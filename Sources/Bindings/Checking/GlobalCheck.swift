import Lua
import LuaSyntax
import PushModel

/// Describes mistakes in the use of globals.
struct GlobalCheck {
    let chunk: Chunk
    let globals: GlobalNames
    let vocabulary: Vocabulary

    /// The finding for a name that is never set.
    func unknown(_ name: Name, severity: Finding.Severity) -> SourceFinding {
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
        if vocabulary.binding(named: "\(PushModule.name).\(name.text)") != nil {
            return remark("\(message); did you mean \"push.\(name.text)\"?", "all functions of PushHost are in the module push")
        }
        return remark(message, "set it before with local \(name.text) = …; a name that was never set is nil")
    }

    /// The finding for an assignment to a name that is not declared.
    func assignment(to name: Name) -> SourceFinding {
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
