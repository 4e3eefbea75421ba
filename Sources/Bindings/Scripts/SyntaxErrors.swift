import Lua
import LuaSyntax

extension LuaError {
    /// Converts a syntax error to the form that a run raises. `details.column` is the column in the line.
    init(_ error: SyntaxError, in text: SourceText, script: String) {
        let position = text.position(at: error.range.lowerBound)
        self.init(kind: .syntax, code: "script.syntax", message: error.message, hint: error.hint)
        location = SourceLocation(chunk: script, line: position.line)
        details = .table(LuaTable(fields: ["column": .integer(Int64(position.column))]))
    }

    /// A more helpful error for a script that Lua fails to compile; nil if it compiles.
    static func syntax(of script: FlowScript) -> LuaError? {
        do throws(SyntaxError) {
            _ = try Chunk(parsing: script.source)
            return nil
        } catch {
            return LuaError(error, in: SourceText(script.source), script: script.name)
        }
    }
}
