import LuaSyntax

/// The globals that a script sets and uses, as far as its text shows.
struct GlobalNames: Sendable {
    /// Globals that the script assigns.
    let assigned: Set<String>
    /// All names defined anywhere, for "did you mean" suggestions.
    let candidates: Set<String>
    /// Names of local variables.
    let locals: Set<String>
    /// Fields that the script assigns anywhere, for example to extend a library.
    private(set) var assignedFields: Set<String> = []
    /// Names that the script assigns a value to, as fields or otherwise.
    private(set) var keys: Set<String> = []
    /// Whether the script accesses the table of globals or compiles text, so that any global may exist.
    private(set) var areOpen = false

    init(_ chunk: Chunk) {
        assigned = Set(chunk.scopes.assignedGlobals.map(\.text))
        locals = Set(chunk.scopes.variables.map(\.name))
        candidates = locals.union(assigned).union(LuaLibrary.functions).union(LuaLibrary.libraries.keys).union(["nil", "true", "false"])
        var lexer = Lexer(chunk.text)
        var (before, last) = (Token.Kind.end, Token.Kind.end)
        var isDeclaration = false
        while let token = try? lexer.next(), token.kind != .end {
            switch token.kind {
            case .keyword(.function): isDeclaration = true
            case .symbol(.assign), .symbol(.leftParenthesis):
                // Matches `string.trim =` and `function string.trim(`.
                let isSet = token.kind == .symbol(.assign) || isDeclaration
                if isSet, case .name(let name) = last, before == .symbol(.dot) || before == .symbol(.colon) { assignedFields.insert(name) }
                if isSet, case .name(let name) = last { keys.insert(name) }
                isDeclaration = false
            case .name("_G"), .name("_ENV"), .name("load"): areOpen = true
            default: break
            }
            (before, last) = (last, token.kind)
        }
    }
}
