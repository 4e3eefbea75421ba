import LuaSyntax
import Testing

@Suite struct ChunkTests {
    private func chunk(_ source: String) throws -> Chunk { try Chunk(parsing: Array(source.utf8)) }

    /// The parsed expression, with every operation in parentheses.
    private func shape(_ expression: Expression) -> String {
        switch expression.kind {
        case .name(let name): name.text
        case .integer(let value): "\(value)"
        case .parenthesized(let inner): shape(inner)
        case .unary(let sign, let inner): "(\(sign.rawValue) \(shape(inner)))"
        case .operations(let first, let rest): rest.reduce(shape(first)) { "(\($0) \($1.operator.rawValue) \(shape($1.operand)))" }
        default: "?"
        }
    }

    @Test(
        arguments: [
            ("a + b * c", "(a + (b * c))"), ("a - b - c", "((a - b) - c)"), ("a .. b .. c", "(a .. (b .. c))"),
            ("a ^ b ^ c", "(a ^ (b ^ c))"),
            ("-a ^ b", "(- (a ^ b))"), ("a ^ -b", "(a ^ (- b))"), ("not a == b", "((not a) == b)"), ("a or b and c", "(a or (b and c))"),
            ("a < b == c", "((a < b) == c)"), ("a | b ~ c & d << e .. f + g", "(a | (b ~ (c & (d << (e .. (f + g))))))"),
            ("a * (b + c)", "(a * (b + c))"),
        ])
    func `operators have the precedence of Lua`(source: String, wanted: String) throws {
        guard case .return(let values)? = try chunk("return \(source)").block.statements.first?.kind else { return #expect(Bool(false)) }
        #expect(values.map(shape) == [wanted])
    }

    @Test func `every node has the positions of its start and end`() throws {
        let source = "local s = push.login { user = 'é' }\ns:register(1):x()"
        let chunk = try chunk(source)
        let ranges = chunk.block.statements.map { chunk.text[$0.range] }
        #expect(ranges == source.split(separator: "\n").map(String.init))
        guard case .local(let names, let values)? = chunk.block.statements.first?.kind,
            case .suffixed(let first, let suffixes)? = values.first?.kind
        else { return #expect(Bool(false)) }
        #expect(chunk.text[names[0].name.range] == "s")
        #expect(chunk.text[first.range] == "push")
        #expect(suffixes.map { chunk.text[$0.range] } == [".login", " { user = 'é' }"])
        guard case .call(let call) = chunk.block.statements[1].kind, case .suffixed(_, let calls) = call.kind else {
            return #expect(Bool(false))
        }
        #expect(calls.map { chunk.text[$0.range] } == [":register(1)", ":x()"])
        #expect(chunk.text.position(at: calls[1].range.lowerBound) == SourcePosition(line: 2, column: 14))
    }

    @Test func `a name refers to the visible local or to a global`() throws {
        let source = "x = 1 local x = x do local x = x end print(x) local function f(x) return x, y end function f() end f = 2"
        let chunk = try chunk(source)
        var seen: [String] = []
        for offset in source.utf8.indices.map({ source.utf8.distance(from: source.utf8.startIndex, to: $0) }) {
            switch chunk.scopes.reference(at: offset) {
            case .variable(let index)?: seen.append("\(chunk.scopes.variables[index].name)\(index)")
            case .global?: seen.append("global")
            case .environment?: seen.append("environment")
            case nil: break
            }
        }
        #expect(seen == ["global", "x0", "global", "x1", "x0", "global", "x0", "f2", "x3", "x3", "global", "f2", "f2"])
        #expect(chunk.scopes.variables.map(\.assignments) == [0, 0, 2, 0])
        #expect(chunk.scopes.assignedGlobals.map(\.text) == ["x"])
    }

    @Test func `a local named _ENV hides the globals`() throws {
        let chunk = try chunk("local _ENV = {} x = 1")
        #expect(chunk.scopes.reference(at: 16) == .environment)
        #expect(chunk.scopes.assignedGlobals.isEmpty)
    }

    @Test func `comments are recorded with their positions`() throws {
        let chunk = try chunk("-- a\nx = 1 --[[ b\n]] y = 2 --")
        #expect(chunk.comments.map { chunk.text[$0] } == ["-- a", "--[[ b\n]]", "--"])
    }
}
