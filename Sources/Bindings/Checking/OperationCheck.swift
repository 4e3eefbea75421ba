import LuaSyntax

/// Finds operations on values for which Lua would raise an error.
struct OperationCheck {
    let vocabulary: Vocabulary
    let text: SourceText

    /// The result of a binary operation, and the value that it does not accept.
    func result(
        of sign: BinaryOperator, _ left: Operand, _ right: Operand, at range: Range<Int>
    ) -> (knowledge: Knowledge, finding: SourceFinding?) {
        switch sign {
        case .and, .or, .equal, .notEqual: return (.unknown, nil)
        case .less, .greater, .lessOrEqual, .greaterOrEqual:
            guard var first = certainType(of: left), var second = certainType(of: right) else { return (.unknown, nil) }
            var culprit = [left, right].first { ["function", "nil"].contains(certainType(of: $0)) } ?? left
            // Lua swaps the operands of `>` and `>=`.
            if sign == .greater || sign == .greaterOrEqual { swap(&first, &second) }
            guard InvalidOperation.comparison(with: second).refuses(first) else { return (.unknown, nil) }
            if certainType(of: culprit) == "number" { culprit = right }
            let type = certainType(of: culprit) ?? first
            let other = type == first ? second : first
            let finding = SourceFinding(
                "script.error", InvalidOperation.comparison(with: second).message(first),
                hint: InvalidOperation.comparison(with: other).fix(type, spelling: spelling(culprit.range)), at: culprit.range)
            return (.unknown, finding)
        default:
            // A value of uncertain type may have a metamethod.
            guard let operation = InvalidOperation(sign), certainType(of: left) != nil, certainType(of: right) != nil else {
                return (.unknown, nil)
            }
            if let finding = finding(operation, left) ?? finding(operation, right) { return (.unknown, finding) }
            guard operation == .concatenation, let first = left.knowledge.text, let second = right.knowledge.text else {
                return (.unknown, nil)
            }
            return (.value(SourceValue(.string(first + second), at: range)), nil)
        }
    }

    /// The finding for a value that the operation does not accept; nil if it does.
    func finding(_ operation: InvalidOperation, _ operand: Operand) -> SourceFinding? {
        guard let type = certainType(of: operand) else { return nil }
        var isRefused = operation.refuses(type)
        if type == "string", operation == .arithmetic || operation == .bitwise, let text = operand.knowledge.text {
            isRefused = !isNumber(text)
        }
        return isRefused ? refusal(operation, type, at: operand.range) : nil
    }

    func refusal(_ operation: InvalidOperation, _ type: String, at range: Range<Int>) -> SourceFinding {
        SourceFinding("script.error", operation.message(type), hint: operation.fix(type, spelling: spelling(range)), at: range)
    }

    /// Whether `tonumber` accepts the text: a numeral between blanks, optionally with a sign.
    private func isNumber(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...].drop { $0 == 0x20 || (0x09...0x0d).contains($0) }
        if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
        var lexer = Lexer(SourceText(Array(rest)))
        guard let token = try? lexer.next(), let end = try? lexer.next(), end.kind == .end else { return false }
        switch token.kind {
        case .integer, .number: return true
        default: return false
        }
    }

    /// The source of a value if it is short, otherwise nil.
    private func spelling(_ range: Range<Int>) -> String? {
        let words = text[range]
        return words.count <= 40 && !words.contains { $0.isNewline } ? words : nil
    }

    // MARK: - Types

    /// The certain type of a value, named as in Lua; nil if it may have metamethods, as a table created by the script may.
    private func certainType(of operand: Operand) -> String? {
        switch operand.knowledge {
        case .value(let value):
            switch value.content {
            case .nil, .boolean, .integer, .number, .string, .bytes: return value.content.typeName
            case .function: return "function"
            case .table: return operand.isTableLiteral ? "table" : nil
            case .unknown, .object: return nil
            }
        case .function, .require, .iteration: return "function"
        case .binding(let binding):
            return vocabulary.isNamespace(binding.name) || vocabulary.type(labelled: binding.name) != nil ? nil : "function"
        case .namespace(let path): return path
        case .list, .dictionary, .library, .options: return "table"
        case .instance(let name):
            if let handle = vocabulary.handle(of: name) { return handle }
            guard let type = vocabulary.type(named: name), !type.isCallable, type.values.isEmpty, name != "push.Error" else { return nil }
            return type.label ?? "table"
        case .unknown, .iterated: return nil
        }
    }
}

/// A value in an operation, with its expression.
struct Operand {
    let knowledge: Knowledge
    let range: Range<Int>
    var isTableLiteral = false

    init(_ knowledge: Knowledge, at range: Range<Int>) {
        self.knowledge = knowledge
        self.range = range
    }

    init(_ knowledge: Knowledge, of expression: Expression) {
        self.init(knowledge, at: expression.range)
        isTableLiteral = expression.isTableLiteral
    }
}

extension Knowledge {
    /// The text of a value that is certainly a string.
    fileprivate var text: String? {
        if case .value(let value) = self, case .string(let text) = value.content { text } else { nil }
    }
}

extension Expression {
    fileprivate var isTableLiteral: Bool {
        switch kind {
        case .table: true
        case .parenthesized(let inner): inner.isTableLiteral
        default: false
        }
    }
}
