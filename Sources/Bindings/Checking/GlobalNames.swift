import LuaSyntax

/// What a script does to the globals, as far as its text shows it.
struct GlobalNames: Sendable {
    /// Globals that the script itself sets.
    let assigned: Set<String>
    /// All names that mean something somewhere, to guess what was meant.
    let candidates: Set<String>
    /// Names of locals.
    let locals: Set<String>
    /// Fields that it sets somewhere, by whatever way: what it extends a library with.
    private(set) var assignedFields: Set<String> = []
    /// Names that it gives a value, as fields or otherwise.
    private(set) var keys: Set<String> = []
    /// It reaches for the table of globals, or compiles text: any global may exist.
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
                // `string.trim =`, `function string.trim(`
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
