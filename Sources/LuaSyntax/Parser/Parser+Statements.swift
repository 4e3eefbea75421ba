extension Parser {
    private var isAtBlockEnd: Bool {
        switch token.kind {
        case .end, .keyword(.end), .keyword(.else), .keyword(.elseif), .keyword(.until): true
        default: false
        }
    }

    mutating func block() throws(SyntaxError) -> Block {
        let start = token.range.lowerBound
        var statements: [Statement] = []
        // Lua parses labels and semicolons that follow a label one nesting level deeper.
        var labels = 0
        while !isAtBlockEnd {
            if open.isEmpty { forgetDoubts() }
            if !token.is(.label), !token.is(.semicolon) { labels = 0 }
            let isReturn = token.is(.return)
            try enter(labels)
            let statement = try statement()
            leave(labels)
            if case .label = statement.kind { labels += 1 }
            statements.append(statement)
            if isReturn {
                guard isAtBlockEnd else { throw afterReturn() }
                break
            }
        }
        return Block(statements: statements, range: start..<max(start, token.range.lowerBound))
    }

    private mutating func statement() throws(SyntaxError) -> Statement {
        try enter()
        defer { leave() }
        let start = token.range.lowerBound
        let kind = try statementKind()
        return Statement(kind: kind, range: range(from: start))
    }

    private mutating func statementKind() throws(SyntaxError) -> Statement.Kind {
        switch token.kind {
        case .symbol(.semicolon):
            try advance()
            return .empty
        case .symbol(.label):
            try advance()
            let name = try name("a label's name")
            guard try skip(.label) else { throw SyntaxError("the label is not closed", hint: "write ::\(name.text)::", at: name.range) }
            return .label(name)
        case .keyword(let word):
            if let kind = try keywordStatement(word) { return kind }
        default: break
        }
        return try expressionStatement()
    }

    private mutating func keywordStatement(_ word: Keyword) throws(SyntaxError) -> Statement.Kind? {
        switch word {
        case .if: return try ifStatement()
        case .while:
            push(.while)
            try advance()
            let condition = try expression()
            try expect(.do, after: "while")
            let block = try block()
            try closeBlock()
            return .while(condition, block)
        case .do:
            push(.do)
            try advance()
            let block = try block()
            try closeBlock()
            return .do(block)
        case .for: return try forStatement()
        case .repeat:
            push(.repeat)
            try advance()
            let block = try block()
            guard token.is(.until) else { throw missingEnd() }
            open.removeLast()
            try advance()
            let condition = try expression()
            if token.is(.assign) { throw singleEquals() }
            return .repeat(block, until: condition)
        case .function: return try functionStatement()
        case .local:
            try advance()
            return token.is(.function) ? try localFunction() : try localStatement()
        case .return:
            try advance()
            var values: [Expression] = []
            if !isAtBlockEnd, !token.is(.semicolon) { values = try expressions() }
            _ = try skip(.semicolon)
            return .return(values)
        case .break:
            try advance()
            return .break
        case .goto:
            try advance()
            return .goto(try name("the label's name after \"goto\""))
        default: return nil
        }
    }

    // MARK: - Blocks

    private mutating func ifStatement() throws(SyntaxError) -> Statement.Kind {
        push(.if)
        let place = open.count - 1
        var branches: [Branch] = []
        var word = Keyword.if
        repeat {
            try advance()
            let condition = try expression()
            try expect(.then, after: word.rawValue)
            branches.append(Branch(condition: condition, block: try block()))
            word = .elseif
        } while token.is(.elseif)
        var otherwise: Block?
        if token.is(.else) {
            let range = token.range
            try advance()
            if token.is(.if), text.line(at: range.lowerBound) == text.line(at: token.range.lowerBound) {
                open[place].elseIf = range.lowerBound..<token.range.upperBound
            }
            otherwise = try block()
        }
        try closeBlock()
        return .if(branches, else: otherwise)
    }

    private mutating func forStatement() throws(SyntaxError) -> Statement.Kind {
        push(.for)
        try advance()
        if token.is(.leftParenthesis) {
            throw SyntaxError("the head of \"for\" has no parentheses", hint: Self.forms, at: token.range)
        }
        let first = try name("a variable's name after \"for\"")
        switch token.kind {
        case .symbol(.assign):
            try advance()
            var values = [try expression()]
            guard try skip(.comma) else {
                throw SyntaxError("this \"for\" has no limit", hint: "write for \(first.text) = 1, 10 do", at: last.range.upperBound)
            }
            values.append(try expression())
            if try skip(.comma) { values.append(try expression()) }
            try expect(.do, after: "for")
            let block = try block()
            try closeBlock()
            return .numericFor(first, values, block)
        case .symbol(.comma), .keyword(.in):
            var names = [first]
            while try skip(.comma) { names.append(try name("a variable's name")) }
            guard try skip(.in) else {
                throw SyntaxError("\"in\" is missing", hint: "write for key, value in pairs(t) do", at: last.range.upperBound)
            }
            let values = try expressions()
            try expect(.do, after: "for")
            let block = try block()
            try closeBlock()
            return .genericFor(names, values, block)
        default:
            throw SyntaxError("= or \"in\" is missing after \"for \(first.text)\"", hint: Self.forms, at: last.range.upperBound)
        }
    }

    private static let forms = "write for i = 1, 10 do, or for key, value in pairs(t) do"

    // MARK: - Functions and locals

    private mutating func functionStatement() throws(SyntaxError) -> Statement.Kind {
        push(.function)
        try advance()
        if token.is(.leftParenthesis) {
            throw SyntaxError(
                "this function has no name", hint: "write function name(…), or local name = function(…)", at: token.range)
        }
        let first = try name("a name after \"function\"")
        var fields: [Name] = []
        while try skip(.dot) { fields.append(try name("a name after the dot")) }
        let isMethod = try skip(.colon)
        if isMethod { fields.append(try name("a method's name after the colon")) }
        let body = try functionBody(isMethod: isMethod)
        return .function(FunctionName(first: first, fields: fields, isMethod: isMethod), body)
    }

    private mutating func localFunction() throws(SyntaxError) -> Statement.Kind {
        push(.function)
        try advance()
        let name = try name("a name after \"local function\"")
        if token.is(.dot) || token.is(.colon) {
            throw SyntaxError(
                "a local function has a plain name", hint: "for a field leave \"local\" out: function \(name.text).…", at: token.range)
        }
        return .localFunction(name, try functionBody(isMethod: false))
    }

    /// Reads parameters and body. The caller has already read `function` with its name and pushed the opener.
    mutating func functionBody(isMethod: Bool) throws(SyntaxError) -> FunctionBody {
        let start = token.range.lowerBound
        guard token.is(.leftParenthesis) else { throw missingParameters() }
        push(.parenthesis)
        try advance()
        var parameters: [Name] = []
        var isVariadic = false
        var isNext = !token.is(.rightParenthesis)
        while isNext {
            isVariadic = try skip(.ellipsis)
            if !isVariadic { parameters.append(try name("a parameter's name")) }
            isNext = try isVariadic ? false : skip(.comma)
        }
        if token.is(.assign) {
            throw SyntaxError(
                "parameters have no default values",
                hint: "in the function write \(last.spelling(in: text)) = \(last.spelling(in: text)) or …",
                at: token.range)
        }
        try close(.rightParenthesis)
        let block = try block()
        try closeBlock()
        return FunctionBody(
            parameters: parameters, isVariadic: isVariadic, isMethod: isMethod, block: block, range: range(from: start))
    }

    private mutating func localStatement() throws(SyntaxError) -> Statement.Kind {
        var names: [LocalName] = []
        var closes = false
        repeat {
            let name = try name("a name after \"local\"")
            var attribute: LocalName.Attribute?
            if try skip(.less) {
                let word = try self.name("const or close")
                attribute = LocalName.Attribute(rawValue: word.text)
                guard attribute != nil else {
                    throw SyntaxError("there is no attribute <\(word.text)>", hint: "a local is <const> or <close>", at: word.range)
                }
                guard try skip(.greater) else { throw SyntaxError("> is missing after <\(word.text)", at: last.range.upperBound) }
            }
            if attribute == .close {
                guard !closes else {
                    throw SyntaxError("only one local of a list can be <close>", hint: "declare them one by one", at: name.range)
                }
                closes = true
            }
            names.append(LocalName(name: name, attribute: attribute))
        } while try skip(.comma)
        if try skip(.assign) { return .local(names, try expressions()) }
        if let error = missingAssign() { throw error }
        return .local(names, [])
    }

    // MARK: - Assignments and calls

    private mutating func expressionStatement() throws(SyntaxError) -> Statement.Kind {
        guard isPrimary else { throw invalidStatement() }
        let first = try suffixed()
        guard token.is(.assign) || token.is(.comma) else {
            guard first.isCall else { throw valueAlone(first) }
            return .call(first)
        }
        var targets = [first]
        try requireAssignable(first)
        while try skip(.comma) {
            guard isPrimary else { throw valueExpected() }
            let target = try suffixed()
            try requireAssignable(target)
            targets.append(target)
            try enter()
        }
        defer { leave(targets.count - 1) }
        guard try skip(.assign) else { throw valueAlone(first) }
        return .assignment(targets, try expressions())
    }

    private func requireAssignable(_ target: Expression) throws(SyntaxError) {
        guard !target.isAssignable else { return }
        throw SyntaxError(
            "nothing can be assigned to \(target.isCall ? "a call" : "this value")", hint: "only names and fields can be to the left of =",
            at: target.range)
    }
}
