import LuaSyntax

/// What Lua does not do with a value, in its own words (ldebug.c), and what to write instead.
enum RefusedOperation: Equatable {
    case arithmetic, bitwise, concatenation, length, call, index
    /// What `for … in` is given is called for each round.
    case iteration
    case comparison(with: String)

    init?(_ sign: BinaryOperator) {
        switch sign {
        case .add, .subtract, .multiply, .divide, .floorDivide, .modulo, .power: self = .arithmetic
        case .bitOr, .bitXor, .bitAnd, .shiftLeft, .shiftRight: self = .bitwise
        case .concatenate: self = .concatenation
        case .or, .and, .less, .greater, .lessOrEqual, .greaterOrEqual, .notEqual, .equal: return nil
        }
    }

    /// Whether values of a type are refused, whatever they are; texts may be numbers.
    func refuses(_ type: String) -> Bool {
        switch self {
        case .arithmetic, .bitwise: type != "number" && type != "string"
        case .concatenation: type != "number" && type != "string"
        case .length, .index: type != "string" && type != "table"
        case .call, .iteration: type != "function"
        case .comparison(let other): type != other || (type != "number" && type != "string")
        }
    }

    func message(_ type: String) -> String {
        switch self {
        case .arithmetic: "attempt to perform arithmetic on a \(type) value"
        case .bitwise: "attempt to perform bitwise operation on a \(type) value"
        case .concatenation: "attempt to concatenate a \(type) value"
        case .length: "attempt to get length of a \(type) value"
        case .call, .iteration: "attempt to call a \(type) value"
        case .index: "attempt to index a \(type) value"
        case .comparison(let other) where other == type: "attempt to compare two \(type) values"
        case .comparison(let other): "attempt to compare \(type) with \(other)"
        }
    }

    /// What to do; `spelling` is how the script writes the value, nil where that is not known.
    func cure(_ type: String, spelling: String?) -> String {
        let it = spelling ?? "…"
        switch (self, type) {
        case (.comparison(let other), _) where type != "function" && type != "nil" && (other == "function" || other == "nil"):
            return Self.comparison(with: type).cure(other, spelling: nil)
        case (_, "nil"):
            guard let spelling, spelling != "nil" else {
                return "a value is nil here: a function may have returned nothing, or a name may be misspelt"
            }
            return "\(spelling) is nil here: give it a value before, or ask first with if \(spelling) then … end"
        case (.iteration, "table"): return "write ipairs(\(it)) to go through a list, pairs(\(it)) for a table with names"
        case (.iteration, _): return "for … in takes ipairs(list), pairs(table), or a function that gives one value after the other"
        case (.call, _):
            return "a \(type) cannot be called: is an operator or a comma missing before (, or a semicolon where ( begins a line?"
        case (_, "function") where spelling?.hasPrefix("function") == true:
            return "a function is no number and no text: give it a name, and call it with ()"
        case (_, "function"):
            return spelling.map { "\($0) is a function: call it, \($0)()" } ?? "a function is not called: write () behind its name"
        case (.concatenation, "table"):
            return "join a list with table.concat(\(it), \", \"); push.json.encode(\(it)) shows any table as text"
        case (.concatenation, _): return "write tostring(\(it))"
        case (.arithmetic, "string"), (.bitwise, "string"):
            return "write numbers without quotes; tonumber(\(it)) reads one from a text, .. joins texts"
        case (.arithmetic, _), (.bitwise, _): return "only numbers are calculated with, and \(spelling ?? "this") is a \(type)"
        case (.comparison(let other), _) where Set([type, other]) == ["number", "string"]:
            return "compare numbers with numbers: tonumber(…) reads one from a text"
        case (.comparison, _): return "< and > compare two numbers or two texts; == compares anything"
        case (.length, _): return "# counts the elements of a list or the bytes of a text, and \(spelling ?? "this") is a \(type)"
        case (.index, _): return "a \(type) has no fields"
        }
    }
}
