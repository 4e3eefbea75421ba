extension Parser {
    mutating func expressions() throws(SyntaxError) -> [Expression] {
        var list = [try expression()]
        while try skip(.comma) { list.append(try expression()) }
        return list
    }

    mutating func expression() throws(SyntaxError) -> Expression { try operation(above: 0) }

    /// Reads operators that bind more strongly than `limit`.
    private mutating func operation(above limit: Int) throws(SyntaxError) -> Expression {
        try enter()
        defer { leave() }
        let start = token.range.lowerBound
        let first = try operand()
        var operations: [Operation] = []
        while let found = BinaryOperator(token), found.strength.left > limit {
            if found == .floorDivide { floorDivision = token.range }
            try advance()
            operations.append(Operation(operator: found, operand: try operation(above: found.strength.right)))
        }
        return operations.isEmpty ? first : Expression(kind: .operations(first, operations), range: range(from: start))
    }

    private mutating func operand() throws(SyntaxError) -> Expression {
        let start = token.range.lowerBound
        let unary: UnaryOperator? =
            switch token.kind {
            case .keyword(.not): .not
            case .symbol(.minus): .minus
            case .symbol(.tilde): .complement
            case .symbol(.hash): .length
            default: nil
            }
        guard let unary else { return try simple() }
        try advance()
        let value = try operation(above: BinaryOperator.unaryStrength)
        return Expression(kind: .unary(unary, value), range: range(from: start))
    }

    private mutating func simple() throws(SyntaxError) -> Expression {
        let start = token.range.lowerBound
        let kind: Expression.Kind
        switch token.kind {
        case .integer(let value): kind = .integer(value)
        case .number(let value): kind = .number(value)
        case .string(let bytes): kind = .string(bytes)
        case .keyword(.nil): kind = .nil
        case .keyword(.true): kind = .true
        case .keyword(.false): kind = .false
        case .symbol(.ellipsis): kind = .varargs
        case .symbol(.leftBrace): return try table()
        case .keyword(.function):
            push(.function)
            try advance()
            let body = try functionBody(isMethod: false)
            return Expression(kind: .function(body), range: range(from: start))
        default:
            guard isPrimary else { throw valueExpected() }
            return try suffixed()
        }
        try advance()
        return Expression(kind: kind, range: range(from: start))
    }

    // MARK: - Names and suffixes

    /// Whether the present token is a name or an opening parenthesis.
    var isPrimary: Bool {
        if case .name = token.kind { true } else { token.is(.leftParenthesis) }
    }

    mutating func suffixed() throws(SyntaxError) -> Expression {
        let start = token.range.lowerBound
        let first = try primary()
        var suffixes: [Suffix] = []
        while let kind = try suffix(of: first) {
            let begin = suffixes.last?.range.upperBound ?? first.range.upperBound
            suffixes.append(Suffix(kind: kind, range: range(from: begin)))
        }
        return suffixes.isEmpty ? first : Expression(kind: .suffixed(first, suffixes), range: range(from: start))
    }

    private mutating func primary() throws(SyntaxError) -> Expression {
        let start = token.range.lowerBound
        if case .name(let text) = token.kind {
            try advance()
            return Expression(kind: .name(Name(text: text, range: last.range)), range: last.range)
        }
        push(.parenthesis)
        try advance()
        let inner = try expression()
        try close(.rightParenthesis)
        return Expression(kind: .parenthesized(inner), range: range(from: start))
    }

    private mutating func suffix(of first: Expression) throws(SyntaxError) -> Suffix.Kind? {
        switch token.kind {
        case .symbol(.dot):
            try advance()
            return .field(try field())
        case .symbol(.leftBracket):
            push(.bracket)
            try advance()
            let key = try expression()
            try close(.rightBracket)
            return .index(key)
        case .symbol(.colon):
            let colon = token.range
            try advance()
            guard case .name(let method) = token.kind else { throw noMethod(first, colon: colon) }
            let name = Name(text: method, range: token.range)
            try advance()
            guard let arguments = try arguments() else { throw noArguments(first, method: name) }
            return .method(name, arguments)
        default: return try arguments().map(Suffix.Kind.call)
        }
    }

    private mutating func field() throws(SyntaxError) -> Name {
        if case .keyword(let word) = token.kind {
            throw SyntaxError(
                "\"\(word.rawValue)\" is a keyword and cannot follow a dot",
                hint: "write [\"\(word.rawValue)\"] instead of .\(word.rawValue)",
                at: token.range)
        }
        return try name("a field's name after the dot")
    }

    /// Reads the arguments of a call. Returns nil if the present token begins none.
    private mutating func arguments() throws(SyntaxError) -> CallArguments? {
        let start = token.range.lowerBound
        switch token.kind {
        case .string(let bytes):
            try advance()
            let value = Expression(kind: .string(bytes), range: range(from: start))
            return CallArguments(values: [value], range: value.range)
        case .symbol(.leftBrace):
            let value = try table()
            return CallArguments(values: [value], range: value.range)
        case .symbol(.leftParenthesis):
            push(.arguments)
            try advance()
            let values = token.is(.rightParenthesis) ? [] : try expressions()
            try close(.rightParenthesis)
            return CallArguments(values: values, range: range(from: start))
        default: return nil
        }
    }

    // MARK: - Tables

    private mutating func table() throws(SyntaxError) -> Expression {
        let start = token.range.lowerBound
        push(.brace)
        try advance()
        var fields: [TableField] = []
        while !token.is(.rightBrace) {
            fields.append(try tableField())
            guard token.is(.comma) || token.is(.semicolon) else { break }
            try advance()
        }
        try close(.rightBrace)
        return Expression(kind: .table(fields), range: range(from: start))
    }

    private mutating func tableField() throws(SyntaxError) -> TableField {
        let start = token.range.lowerBound
        var key = TableField.Key.position
        if case .name(let text) = token.kind, try peek().is(.assign) {
            key = .name(Name(text: text, range: token.range))
            try advance()
            try advance()
        } else if token.is(.leftBracket) {
            push(.bracket)
            try advance()
            key = .computed(try expression())
            try close(.rightBracket)
            guard try skip(.assign) else {
                throw SyntaxError("= is missing after the key in brackets", hint: "write [key] = value", at: last.range.upperBound)
            }
        } else if let error = try wrongKey() {
            throw error
        }
        let value = try expression()
        return TableField(key: key, value: value, range: range(from: start))
    }

    // MARK: - Names

    mutating func name(_ what: String) throws(SyntaxError) -> Name {
        guard case .name(let text) = token.kind else { throw nameExpected(what) }
        let name = Name(text: text, range: token.range)
        try advance()
        return name
    }
}
