import LuaSyntax

/// An operation that Lua rejects for a type of value: Lua's message (ldebug.c), and a hint on what to write instead.
enum InvalidOperation: Equatable {
    case arithmetic, bitwise, concatenation, length, call, index
    /// The iterator of `for … in`, which is called in each round.
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

    /// Whether all values of a type are rejected. Strings are accepted for arithmetic because they may be numbers.
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

    /// The hint. `spelling` is the source of the value; nil if it is not known.
    func fix(_ type: String, spelling: String?) -> String {
        let it = spelling ?? "…"
        switch (self, type) {
        case (.comparison(let other), _) where type != "function" && type != "nil" && (other == "function" || other == "nil"):
            return Self.comparison(with: type).fix(other, spelling: nil)
        case (_, "nil"):
            guard let spelling, spelling != "nil" else {
                return "a value is nil here: a function may have returned nothing, or a name may be misspelt"
            }
            return "\(spelling) is nil here: assign a value first, or check it with if \(spelling) then … end"
        case (.iteration, "table"): return "write ipairs(\(it)) for a list, or pairs(\(it)) for a table with names"
        case (.iteration, _): return "for … in needs ipairs(list), pairs(table), or an iterator function"
        case (.call, _):
            return "a \(type) cannot be called: is an operator or a comma missing before (, or a semicolon where ( begins a line?"
        case (_, "function") where spelling?.hasPrefix("function") == true:
            return "a function is neither a number nor a string; call it with ()"
        case (_, "function"):
            return spelling.map { "\($0) is a function: call it, \($0)()" } ?? "the function is not called: write () after its name"
        case (.concatenation, "table"):
            return "join a list with table.concat(\(it), \", \"); push.json.encode(\(it)) converts any table to a string"
        case (.concatenation, _): return "write tostring(\(it))"
        case (.arithmetic, "string"), (.bitwise, "string"):
            return "write numbers without quotes; tonumber(\(it)) converts a string to a number, .. joins strings"
        case (.arithmetic, _), (.bitwise, _): return "arithmetic needs numbers, but \(spelling ?? "this") is a \(type)"
        case (.comparison(let other), _) where Set([type, other]) == ["number", "string"]:
            return "compare numbers with numbers; tonumber(…) converts a string to a number"
        case (.comparison, _): return "< and > compare two numbers or two strings; == compares any values"
        case (.length, _): return "# counts the elements of a list or the bytes of a string, and \(spelling ?? "this") is a \(type)"
        case (.index, _): return "a \(type) has no fields"
        }
    }
}
