/// Parses expressions, names and brackets by recursive descent in the same order as lparser.c of Lua 5.4.
struct ExpressionParser {
    let tokens: TokenStream
    let nesting: Nesting

    private var misplaced: MisplacedTokenDiagnosis { MisplacedTokenDiagnosis(tokens: tokens, nesting: nesting) }

    func expressions() throws(SyntaxError) -> [Expression] {
        var list = [try expression()]
        while try tokens.skip(.comma) { list.append(try expression()) }
        return list
    }

    func expression() throws(SyntaxError) -> Expression { try operation(above: 0) }

    /// Reads operators that bind more strongly than `limit`.
    private func operation(above limit: Int) throws(SyntaxError) -> Expression {
        try nesting.enter(at: tokens.current)
        defer { nesting.leave() }
        let start = tokens.current.range.lowerBound
        let first = try operand()
        var operations: [Operation] = []
        while let found = BinaryOperator(tokens.current), found.strength.left > limit {
            if found == .floorDivide { tokens.floorDivision = tokens.current.range }
            try tokens.advance()
            operations.append(Operation(operator: found, operand: try operation(above: found.strength.right)))
        }
        return operations.isEmpty ? first : Expression(kind: .operations(first, operations), range: tokens.range(from: start))
    }

    private func operand() throws(SyntaxError) -> Expression {
        let start = tokens.current.range.lowerBound
        let unary: UnaryOperator? =
            switch tokens.current.kind {
            case .keyword(.not): .not
            case .symbol(.minus): .minus
            case .symbol(.tilde): .complement
            case .symbol(.hash): .length
            default: nil
            }
        guard let unary else { return try simple() }
        try tokens.advance()
        let value = try operation(above: BinaryOperator.unaryStrength)
        return Expression(kind: .unary(unary, value), range: tokens.range(from: start))
    }

    private func simple() throws(SyntaxError) -> Expression {
        let start = tokens.current.range.lowerBound
        let kind: Expression.Kind
        switch tokens.current.kind {
        case .integer(let value): kind = .integer(value)
        case .number(let value): kind = .number(value)
        case .string(let bytes): kind = .string(bytes)
        case .keyword(.nil): kind = .nil
        case .keyword(.true): kind = .true
        case .keyword(.false): kind = .false
        case .symbol(.ellipsis): kind = .varargs
        case .symbol(.leftBrace): return try table()
        case .keyword(.function):
            nesting.push(.function, at: tokens.current)
            try tokens.advance()
            let body = try StatementParser(tokens: tokens, nesting: nesting).functionBody(isMethod: false)
            return Expression(kind: .function(body), range: tokens.range(from: start))
        default:
            guard isPrimary else { throw misplaced.valueExpected() }
            return try suffixed()
        }
        try tokens.advance()
        return Expression(kind: kind, range: tokens.range(from: start))
    }

    // MARK: - Names and suffixes

    /// Whether the present token is a name or an opening parenthesis.
    var isPrimary: Bool {
        if case .name = tokens.current.kind { true } else { tokens.current.is(.leftParenthesis) }
    }

    func suffixed() throws(SyntaxError) -> Expression {
        let start = tokens.current.range.lowerBound
        let first = try primary()
        var suffixes: [Suffix] = []
        while let kind = try suffix(of: first) {
            let begin = suffixes.last?.range.upperBound ?? first.range.upperBound
            suffixes.append(Suffix(kind: kind, range: tokens.range(from: begin)))
        }
        return suffixes.isEmpty ? first : Expression(kind: .suffixed(first, suffixes), range: tokens.range(from: start))
    }

    private func primary() throws(SyntaxError) -> Expression {
        let start = tokens.current.range.lowerBound
        if case .name(let text) = tokens.current.kind {
            try tokens.advance()
            return Expression(kind: .name(Name(text: text, range: tokens.previous.range)), range: tokens.previous.range)
        }
        nesting.push(.parenthesis, at: tokens.current)
        try tokens.advance()
        let inner = try expression()
        try close(.rightParenthesis)
        return Expression(kind: .parenthesized(inner), range: tokens.range(from: start))
    }

    private func suffix(of first: Expression) throws(SyntaxError) -> Suffix.Kind? {
        switch tokens.current.kind {
        case .symbol(.dot):
            try tokens.advance()
            return .field(try field())
        case .symbol(.leftBracket):
            nesting.push(.bracket, at: tokens.current)
            try tokens.advance()
            let key = try expression()
            try close(.rightBracket)
            return .index(key)
        case .symbol(.colon):
            let colon = tokens.current.range
            try tokens.advance()
            guard case .name(let method) = tokens.current.kind else { throw misplaced.noMethod(first, colon: colon) }
            let name = Name(text: method, range: tokens.current.range)
            try tokens.advance()
            guard let arguments = try arguments() else { throw misplaced.noArguments(first, method: name) }
            return .method(name, arguments)
        default: return try arguments().map(Suffix.Kind.call)
        }
    }

    private func field() throws(SyntaxError) -> Name {
        if case .keyword(let word) = tokens.current.kind {
            throw SyntaxError(
                "\"\(word.rawValue)\" is a keyword and cannot follow a dot",
                hint: "write [\"\(word.rawValue)\"] instead of .\(word.rawValue)",
                at: tokens.current.range)
        }
        return try name("a field's name after the dot")
    }

    /// Reads the arguments of a call. Returns nil if the present token begins none.
    private func arguments() throws(SyntaxError) -> CallArguments? {
        let start = tokens.current.range.lowerBound
        switch tokens.current.kind {
        case .string(let bytes):
            try tokens.advance()
            let value = Expression(kind: .string(bytes), range: tokens.range(from: start))
            return CallArguments(values: [value], range: value.range)
        case .symbol(.leftBrace):
            let value = try table()
            return CallArguments(values: [value], range: value.range)
        case .symbol(.leftParenthesis):
            nesting.push(.arguments, at: tokens.current)
            try tokens.advance()
            let values = tokens.current.is(.rightParenthesis) ? [] : try expressions()
            try close(.rightParenthesis)
            return CallArguments(values: values, range: tokens.range(from: start))
        default: return nil
        }
    }

    // MARK: - Tables

    private func table() throws(SyntaxError) -> Expression {
        let start = tokens.current.range.lowerBound
        nesting.push(.brace, at: tokens.current)
        try tokens.advance()
        var fields: [TableField] = []
        while !tokens.current.is(.rightBrace) {
            fields.append(try tableField())
            guard tokens.current.is(.comma) || tokens.current.is(.semicolon) else { break }
            try tokens.advance()
        }
        try close(.rightBrace)
        return Expression(kind: .table(fields), range: tokens.range(from: start))
    }

    private func tableField() throws(SyntaxError) -> TableField {
        let start = tokens.current.range.lowerBound
        var key = TableField.Key.position
        if case .name(let text) = tokens.current.kind, try tokens.peek().is(.assign) {
            key = .name(Name(text: text, range: tokens.current.range))
            try tokens.advance()
            try tokens.advance()
        } else if tokens.current.is(.leftBracket) {
            nesting.push(.bracket, at: tokens.current)
            try tokens.advance()
            key = .computed(try expression())
            try close(.rightBracket)
            guard try tokens.skip(.assign) else {
                throw SyntaxError(
                    "= is missing after the key in brackets", hint: "write [key] = value", at: tokens.previous.range.upperBound)
            }
        } else if let error = try misplaced.wrongKey() {
            throw error
        }
        let value = try expression()
        return TableField(key: key, value: value, range: tokens.range(from: start))
    }

    // MARK: - Names

    func name(_ what: String) throws(SyntaxError) -> Name {
        guard case .name(let text) = tokens.current.kind else { throw misplaced.nameExpected(what) }
        let name = Name(text: text, range: tokens.current.range)
        try tokens.advance()
        return name
    }

    // MARK: - Brackets

    /// Reads the sign that closes the innermost opener.
    func close(_ symbol: Symbol) throws(SyntaxError) {
        guard tokens.current.is(symbol) else { throw ClosingDiagnosis(tokens: tokens, nesting: nesting).unclosed(symbol) }
        nesting.pop()
        try tokens.advance()
    }
}
