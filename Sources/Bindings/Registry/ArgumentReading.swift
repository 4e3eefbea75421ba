import Lua
import PushCore

// What texts and numbers mean to a parameter. A run reads them when it needs them, `pushhost check` before any run.

extension ParameterType {
    /// Raises what is wrong with a value that has the right type: `args.*`, `tag.*`, `tag_expression.*`,
    /// `template.*`. Parts that are not known are passed over by the caller.
    func examine(_ value: LuaValue, named name: String, of function: String) throws(LuaError) {
        switch (self, value) {
        case (.duration, _): _ = try Duration(argument: value, named: name, of: function)
        case (.time, _): _ = try Timestamp(argument: value, named: name, of: function)
        case (.platform, .string(let text)): _ = try Platform.named(text, key: name)
        case (.audience, .string(let text)): _ = try TagExpression(audience: text)
        case (.tagExpression, .string(let text)): _ = try TagExpression(argument: text)
        case (.tag, .string(let text)): _ = try Tag(argument: text)
        case (.template, .string(let body)):
            do throws(TemplateError) {
                _ = try Template(compiling: body)
            } catch {
                throw LuaError(PushError(error, in: body))
            }
        default: break
        }
    }
}

extension Duration {
    /// A hundred years in seconds: longer is a mistake.
    private static let longest: Double = 100 * 366 * 86_400

    /// Raises `args.duration`.
    init(argument value: LuaValue, named name: String, of function: String) throws(LuaError) {
        switch value {
        case .integer(let seconds) where seconds >= 0 && Double(seconds) <= Self.longest: self = .seconds(seconds)
        case .number(let seconds) where seconds >= 0 && seconds <= Self.longest: self = .seconds(seconds)
        case .string(let text) where Duration(parsing: text) != nil: self = Duration(parsing: text) ?? .zero
        default:
            throw .misuse(
                "args.duration", "\(function): \"\(name)\" must be a duration, got \(value.phrase)",
                hint: "write \"500ms\", \"90s\", \"5m\", \"1h30m\", \"3d\" or a number of seconds; the longest is \"36600d\"",
                details: ["key": .string(name)])
        }
    }

    /// `500ms`, `90s`, `5m`, `1h30m`, `3d`, `1.5s`; nil for anything else.
    package init?(parsing text: String) {
        var total: Double = 0
        var rest = text[...]
        var parts = 0
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            guard let value = Double(digits) else { return nil }
            rest.removeFirst(digits.count)
            let unit = rest.prefix { $0.isASCII && $0.isLetter }
            rest.removeFirst(unit.count)
            switch unit {
            case "ms": total += value / 1000
            case "s": total += value
            case "m", "min": total += value * 60
            case "h": total += value * 3600
            case "d": total += value * 86_400
            case "w": total += value * 604_800
            default: return nil
            }
            parts += 1
        }
        guard parts > 0, total <= Duration.longest else { return nil }
        self = .milliseconds(Int64((total * 1000).rounded()))
    }
}

extension Timestamp {
    /// Raises `args.time`.
    init(argument value: LuaValue, named name: String, of function: String) throws(LuaError) {
        switch value {
        case .integer(let seconds) where (-(1 << 40)...(1 << 40)).contains(seconds): self = Timestamp(seconds: seconds)
        case .number(let seconds) where abs(seconds) < 1e12: self = Timestamp(milliseconds: Int64(seconds * 1000))
        case .string(let text):
            guard let time = Timestamp(iso8601: text) else { fallthrough }
            self = time
        default:
            throw .misuse(
                "args.time", "\(function): \"\(name)\" is no time: \(value.phrase)",
                hint: "write ISO 8601, such as \"2026-01-05T09:00:00Z\", or a number of seconds",
                details: ["key": .string(name)])
        }
    }
}

extension Platform {
    /// Raises `args.platform`; `key` is what the error points at.
    static func named(_ name: String, key: String = "platform") throws(LuaError) -> Platform {
        if let platform = Platform(name: name) { return platform }
        let near = nearestName(to: name)
        let isRetired = name.lowercased() == "mpns"
        throw .misuse(
            "args.platform", "there is no platform \"\(name)\"\(near.map { "; did you mean \"\($0)\"?" } ?? "")",
            hint:
                "\(isRetired ? "MPNS, the service of Windows Phone, is retired; " : "")platforms are \(spellings.joined(separator: ", "))",
            details: ["key": .string(key)])
    }
}

extension Tag {
    /// Raises `tag.invalid`.
    init(argument text: String) throws(LuaError) {
        do throws(TagError) {
            try self.init(text)
        } catch {
            throw LuaError(PushError(error))
        }
    }
}

extension TagExpression {
    /// Raises `tag_expression.invalid`.
    init(argument text: String) throws(LuaError) {
        do throws(TagExpressionError) {
            try self.init(parsing: text)
        } catch {
            throw LuaError(PushError(error))
        }
    }

    /// What `to` says, which is not empty. Raises `tag_expression.invalid`.
    init(audience text: String) throws(LuaError) {
        do throws(LuaError) {
            try self.init(argument: text)
        } catch {
            var error = error
            if text.filter({ !$0.isWhitespace }) == "*" { error.hint = "write push.everyone if everybody is meant" }
            throw error
        }
    }
}
