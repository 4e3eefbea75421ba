/// Parses statements by recursive descent in the same order as lparser.c of Lua 5.4, so that both accept the same scripts.
struct StatementParser {
    let tokens: TokenStream
    let nesting: Nesting

    private var expressions: ExpressionParser { ExpressionParser(tokens: tokens, nesting: nesting) }
    private var closing: ClosingDiagnosis { ClosingDiagnosis(tokens: tokens, nesting: nesting) }
    private var misplaced: MisplacedTokenDiagnosis { MisplacedTokenDiagnosis(tokens: tokens, nesting: nesting) }

    /// Reads the whole script.
    func chunk() throws(SyntaxError) -> Block {
        let block = try block()
        guard tokens.current.kind == .end else { throw closing.stray() }
        return block
    }

    private var isAtBlockEnd: Bool {
        switch tokens.current.kind {
        case .end, .keyword(.end), .keyword(.else), .keyword(.elseif), .keyword(.until): true
        default: false
        }
    }

    func block() throws(SyntaxError) -> Block {
        let start = tokens.current.range.lowerBound
        var statements: [Statement] = []
        // Lua parses labels and semicolons that follow a label one nesting level deeper.
        var labels = 0
        while !isAtBlockEnd {
            if nesting.open.isEmpty { nesting.forgetDoubts() }
            if !tokens.current.is(.label), !tokens.current.is(.semicolon) { labels = 0 }
            let isReturn = tokens.current.is(.return)
            try nesting.enter(labels, at: tokens.current)
            let statement = try statement()
            nesting.leave(labels)
            if case .label = statement.kind { labels += 1 }
            statements.append(statement)
            if isReturn {
                guard isAtBlockEnd else { throw closing.afterReturn() }
                break
            }
        }
        return Block(statements: statements, range: start..<max(start, tokens.current.range.lowerBound))
    }

    private func statement() throws(SyntaxError) -> Statement {
        try nesting.enter(at: tokens.current)
        defer { nesting.leave() }
        let start = tokens.current.range.lowerBound
        let kind = try statementKind()
        return Statement(kind: kind, range: tokens.range(from: start))
    }

    private func statementKind() throws(SyntaxError) -> Statement.Kind {
        switch tokens.current.kind {
        case .symbol(.semicolon):
            try tokens.advance()
            return .empty
        case .symbol(.label):
            try tokens.advance()
            let name = try expressions.name("a label's name")
            guard try tokens.skip(.label) else {
                throw SyntaxError("the label is not closed", hint: "write ::\(name.text)::", at: name.range)
            }
            return .label(name)
        case .keyword(let word):
            if let kind = try keywordStatement(word) { return kind }
        default: break
        }
        return try expressionStatement()
    }

    private func keywordStatement(_ word: Keyword) throws(SyntaxError) -> Statement.Kind? {
        switch word {
        case .if: return try ifStatement()
        case .while:
            nesting.push(.while, at: tokens.current)
            try tokens.advance()
            let condition = try expressions.expression()
            try expect(.do, after: "while")
            let block = try block()
            try closeBlock()
            return .while(condition, block)
        case .do:
            nesting.push(.do, at: tokens.current)
            try tokens.advance()
            let block = try block()
            try closeBlock()
            return .do(block)
        case .for: return try forStatement()
        case .repeat:
            nesting.push(.repeat, at: tokens.current)
            try tokens.advance()
            let block = try block()
            guard tokens.current.is(.until) else { throw closing.missingEnd() }
            nesting.pop()
            try tokens.advance()
            let condition = try expressions.expression()
            if tokens.current.is(.assign) { throw closing.singleEquals() }
            return .repeat(block, until: condition)
        case .function: return try functionStatement()
        case .local:
            try tokens.advance()
            return tokens.current.is(.function) ? try localFunction() : try localStatement()
        case .return:
            try tokens.advance()
            var values: [Expression] = []
            if !isAtBlockEnd, !tokens.current.is(.semicolon) { values = try expressions.expressions() }
            _ = try tokens.skip(.semicolon)
            return .return(values)
        case .break:
            try tokens.advance()
            return .break
        case .goto:
            try tokens.advance()
            return .goto(try expressions.name("the label's name after \"goto\""))
        default: return nil
        }
    }

    // MARK: - Blocks

    private func ifStatement() throws(SyntaxError) -> Statement.Kind {
        nesting.push(.if, at: tokens.current)
        let index = nesting.open.count - 1
        var branches: [Branch] = []
        var word = Keyword.if
        repeat {
            try tokens.advance()
            let condition = try expressions.expression()
            try expect(.then, after: word.rawValue)
            branches.append(Branch(condition: condition, block: try block()))
            word = .elseif
        } while tokens.current.is(.elseif)
        var otherwise: Block?
        if tokens.current.is(.else) {
            let range = tokens.current.range
            try tokens.advance()
            if tokens.current.is(.if), tokens.text.line(at: range.lowerBound) == tokens.text.line(at: tokens.current.range.lowerBound) {
                nesting.open[index].elseIf = range.lowerBound..<tokens.current.range.upperBound
            }
            otherwise = try block()
        }
        try closeBlock()
        return .if(branches, else: otherwise)
    }

    private func forStatement() throws(SyntaxError) -> Statement.Kind {
        nesting.push(.for, at: tokens.current)
        try tokens.advance()
        if tokens.current.is(.leftParenthesis) {
            throw SyntaxError("the head of \"for\" has no parentheses", hint: Self.forms, at: tokens.current.range)
        }
        let first = try expressions.name("a variable's name after \"for\"")
        switch tokens.current.kind {
        case .symbol(.assign):
            try tokens.advance()
            var values = [try expressions.expression()]
            guard try tokens.skip(.comma) else {
                throw SyntaxError(
                    "this \"for\" has no limit", hint: "write for \(first.text) = 1, 10 do", at: tokens.previous.range.upperBound)
            }
            values.append(try expressions.expression())
            if try tokens.skip(.comma) { values.append(try expressions.expression()) }
            try expect(.do, after: "for")
            let block = try block()
            try closeBlock()
            return .numericFor(first, values, block)
        case .symbol(.comma), .keyword(.in):
            var names = [first]
            while try tokens.skip(.comma) { names.append(try expressions.name("a variable's name")) }
            guard try tokens.skip(.in) else {
                throw SyntaxError("\"in\" is missing", hint: "write for key, value in pairs(t) do", at: tokens.previous.range.upperBound)
            }
            let values = try expressions.expressions()
            try expect(.do, after: "for")
            let block = try block()
            try closeBlock()
            return .genericFor(names, values, block)
        default:
            throw SyntaxError("= or \"in\" is missing after \"for \(first.text)\"", hint: Self.forms, at: tokens.previous.range.upperBound)
        }
    }

    private static let forms = "write for i = 1, 10 do, or for key, value in pairs(t) do"

    // MARK: - Functions and locals

    private func functionStatement() throws(SyntaxError) -> Statement.Kind {
        nesting.push(.function, at: tokens.current)
        try tokens.advance()
        if tokens.current.is(.leftParenthesis) {
            throw SyntaxError(
                "this function has no name", hint: "write function name(…), or local name = function(…)", at: tokens.current.range)
        }
        let first = try expressions.name("a name after \"function\"")
        var fields: [Name] = []
        while try tokens.skip(.dot) { fields.append(try expressions.name("a name after the dot")) }
        let isMethod = try tokens.skip(.colon)
        if isMethod { fields.append(try expressions.name("a method's name after the colon")) }
        let body = try functionBody(isMethod: isMethod)
        return .function(FunctionName(first: first, fields: fields, isMethod: isMethod), body)
    }

    private func localFunction() throws(SyntaxError) -> Statement.Kind {
        nesting.push(.function, at: tokens.current)
        try tokens.advance()
        let name = try expressions.name("a name after \"local function\"")
        if tokens.current.is(.dot) || tokens.current.is(.colon) {
            throw SyntaxError(
                "a local function has a plain name", hint: "for a field leave \"local\" out: function \(name.text).…",
                at: tokens.current.range)
        }
        return .localFunction(name, try functionBody(isMethod: false))
    }

    /// Reads parameters and body. The caller has already read `function` with its name and pushed the opener.
    func functionBody(isMethod: Bool) throws(SyntaxError) -> FunctionBody {
        let start = tokens.current.range.lowerBound
        guard tokens.current.is(.leftParenthesis) else { throw misplaced.missingParameters() }
        nesting.push(.parenthesis, at: tokens.current)
        try tokens.advance()
        var parameters: [Name] = []
        var isVariadic = false
        var isNext = !tokens.current.is(.rightParenthesis)
        while isNext {
            isVariadic = try tokens.skip(.ellipsis)
            if !isVariadic { parameters.append(try expressions.name("a parameter's name")) }
            isNext = try isVariadic ? false : tokens.skip(.comma)
        }
        if tokens.current.is(.assign) {
            let name = tokens.previous.spelling(in: tokens.text)
            throw SyntaxError(
                "parameters have no default values",
                hint: "in the function write \(name) = \(name) or …",
                at: tokens.current.range)
        }
        try expressions.close(.rightParenthesis)
        let block = try block()
        try closeBlock()
        return FunctionBody(
            parameters: parameters, isVariadic: isVariadic, isMethod: isMethod, block: block, range: tokens.range(from: start))
    }

    private func localStatement() throws(SyntaxError) -> Statement.Kind {
        var names: [LocalName] = []
        var closes = false
        repeat {
            let name = try expressions.name("a name after \"local\"")
            var attribute: LocalName.Attribute?
            if try tokens.skip(.less) {
                let word = try expressions.name("const or close")
                attribute = LocalName.Attribute(rawValue: word.text)
                guard attribute != nil else {
                    throw SyntaxError("there is no attribute <\(word.text)>", hint: "a local is <const> or <close>", at: word.range)
                }
                guard try tokens.skip(.greater) else {
                    throw SyntaxError("> is missing after <\(word.text)", at: tokens.previous.range.upperBound)
                }
            }
            if attribute == .close {
                guard !closes else {
                    throw SyntaxError("only one local of a list can be <close>", hint: "declare them one by one", at: name.range)
                }
                closes = true
            }
            names.append(LocalName(name: name, attribute: attribute))
        } while try tokens.skip(.comma)
        if try tokens.skip(.assign) { return .local(names, try expressions.expressions()) }
        if let error = misplaced.missingAssign() { throw error }
        return .local(names, [])
    }

    // MARK: - Assignments and calls

    private func expressionStatement() throws(SyntaxError) -> Statement.Kind {
        guard expressions.isPrimary else { throw misplaced.invalidStatement() }
        let first = try expressions.suffixed()
        guard tokens.current.is(.assign) || tokens.current.is(.comma) else {
            guard first.isCall else { throw misplaced.valueAlone(first) }
            return .call(first)
        }
        var targets = [first]
        try requireAssignable(first)
        while try tokens.skip(.comma) {
            guard expressions.isPrimary else { throw misplaced.valueExpected() }
            let target = try expressions.suffixed()
            try requireAssignable(target)
            targets.append(target)
            try nesting.enter(at: tokens.current)
        }
        defer { nesting.leave(targets.count - 1) }
        guard try tokens.skip(.assign) else { throw misplaced.valueAlone(first) }
        return .assignment(targets, try expressions.expressions())
    }

    // MARK: - Words

    /// Reads the `end` of the innermost block.
    private func closeBlock() throws(SyntaxError) {
        guard tokens.current.is(.end) else { throw closing.missingEnd() }
        nesting.popBlock(at: tokens.current)
        try tokens.advance()
    }

    /// Reads the `then` or `do` that must follow the head of a statement.
    private func expect(_ word: Keyword, after owner: String) throws(SyntaxError) {
        guard tokens.current.is(word) else { throw closing.missing(word, after: owner) }
        try tokens.advance()
    }

    private func requireAssignable(_ target: Expression) throws(SyntaxError) {
        guard !target.isAssignable else { return }
        throw SyntaxError(
            "nothing can be assigned to \(target.isCall ? "a call" : "this value")", hint: "only names and fields can be to the left of =",
            at: target.range)
    }
}
