/// Generates scripts from the grammar with a few names, so that scopes, labels, constants and attributes interact.
/// Some scripts break rules on purpose.
struct ScriptMaker {
    var random: Seeded
    private var depth = 0

    init(random: Seeded) {
        self.random = random
    }

    mutating func script() -> String {
        depth = 0
        return block(atMost: 6)
    }

    private mutating func roll(_ sides: Int) -> Int { Int.random(in: 0..<sides, using: &random) }

    private mutating func name() -> String { ["a", "b", "c", "x", "_ENV"][roll(20) == 0 ? 4 : roll(4)] }

    private mutating func label() -> String { ["l", "m"][roll(2)] }

    private mutating func block(atMost count: Int) -> String {
        depth += 1
        defer { depth -= 1 }
        var lines: [String] = []
        for _ in 0..<(depth > 4 ? roll(2) : roll(count + 1)) { lines.append(statement()) }
        if roll(8) == 0 { lines.append("return \(list())") }
        if roll(12) == 0 { lines.append("::\(label())::") }
        return lines.joined(separator: roll(3) == 0 ? " " : "\n")
    }

    private mutating func statement() -> String {
        switch roll(20) {
        case 0, 1: return "local \(attributed()) = \(list())"
        case 2: return "local \(attributed()), \(attributed())"
        case 3, 4: return "\(target()) = \(list())"
        case 5: return "\(target()), \(target()) = \(list())"
        case 6: return "do \(block(atMost: 3)) end"
        case 7: return "while \(value()) do \(block(atMost: 3)) end"
        case 8: return "repeat \(block(atMost: 3)) until \(value())"
        case 9: return "if \(value()) then \(block(atMost: 2)) elseif \(value()) then \(block(atMost: 2)) else \(block(atMost: 2)) end"
        case 10: return "for \(name()) = \(value()), \(value()) do \(block(atMost: 3)) end"
        case 11: return "for \(name()), \(name()) in \(list()) do \(block(atMost: 3)) end"
        case 12: return "function \(name())\(["", ".y", ":z"][roll(3)])\(body())"
        case 13: return "local function \(name())\(body())"
        case 14: return roll(3) == 0 ? "break" : "if \(value()) then break end"
        case 15: return "goto \(label())"
        case 16: return "::\(label())::"
        case 17: return ";"
        default: return "\(name())\(call())"
        }
    }

    private mutating func attributed() -> String { name() + ["", "", "", " <const>", " <close>"][roll(5)] }

    private mutating func target() -> String {
        switch roll(4) {
        case 0: "\(name()).y"
        case 1: "\(name())[\(value())]"
        case 2: roll(6) == 0 ? "(\(name()))" : "\(name())\(call()).y"
        default: name()
        }
    }

    private mutating func call() -> String {
        switch roll(6) {
        case 0: "{ \(value()), y = \(value()), [\(value())] = 1; }"
        case 1: " 'text'"
        case 2: ":m(\(value()))"
        case 3: "[[long]]"
        case 4: ".y.z()"
        default: "(\(list()))"
        }
    }

    private mutating func body() -> String {
        let parameters = ["", "...", "a", "a, b", "a, ...", "x, x"][roll(6)]
        return "(\(parameters)) \(block(atMost: 3)) end"
    }

    private mutating func list() -> String { roll(3) == 0 ? "\(value()), \(value())" : value() }

    private mutating func value() -> String {
        depth += 1
        defer { depth -= 1 }
        guard depth < 8 else { return name() }
        switch roll(14) {
        case 0: return ["nil", "true", "false", "1", "0x1F", "2.5e3", "'\\65\\x41\\u{41}\\z  x'", "\"\\n\"", "[==[ ]] ]==]"][roll(9)]
        case 1, 2:
            return
                "\(value()) \(["+", "-", "*", "/", "//", "%", "^", "..", "==", "~=", "<", ">=", "and", "or", "&", "|", "~", "<<", ">>"][roll(19)]) \(value())"
        case 3: return "\(["not ", "-", "~", "#"][roll(4)])\(value())"
        case 4: return "(\(value()))"
        case 5: return "{ \(list()) }"
        case 6: return "function\(body())"
        case 7: return "\(name())\(call())"
        case 8: return "..."
        case 9: return "\(name()).y[\(value())]"
        default: return name()
        }
    }
}
