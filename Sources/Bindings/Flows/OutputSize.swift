import Lua
import PushModel

extension FlowEvent {
    /// Approximate number of bytes that a report prints for the event, without colours.
    func outputSize(in detail: ReportDetail) -> Int {
        switch self {
        case .core, .crossed: 0
        case .stepStarted(_, let depth, let name): detail.size(ofStep: name, depth: depth)
        case .stepEnded(let step): detail.size(ofEnd: step)
        case .sent(let send), .completed(let send): detail.size(of: send)
        case .shown(let items): detail.size(of: items)
        case .log(let level, let text, let location): detail.size(ofLog: text, level: level, location)
        case .warning(let warning): detail.size(of: warning)
        }
    }
}

extension ReportDetail {
    /// Size of a text as it is printed: escaped in JSON, and with control characters made visible in text.
    func size(of text: String) -> Int {
        if self == .full { return text.utf8.reduce(0) { $0 + ($1 < 0x20 ? 6 : $1 == 0x22 || $1 == 0x5c ? 2 : 1) } }
        return text.unicodeScalars.reduce(0) { size, scalar in
            switch scalar.value {
            case 0..<0x20, 0x7f...0x9f: size + 6
            case 0x202a...0x202e, 0x2066...0x2069: size + 8
            default: size + UTF8.width(scalar)
            }
        }
    }

    /// Size of an entry of the log. Text has one line with a margin for each line of the entry.
    fileprivate func size(ofLog text: String, level: String, _ location: SourceLocation?) -> Int {
        if self == .full { return 80 + size(of: text) + size(of: location) }
        let breaks = text.utf8.count { $0 == UInt8(ascii: "\n") }
        let margin = ["warn", "error"].contains(level) ? 13 : 7
        return (breaks + 1) * margin + size(of: text) - 6 * breaks
    }

    /// Size of the lines with the name of a step. Text has one at its end and, if it contains other steps, one at its beginning.
    fileprivate func size(ofStep name: String, depth: Int) -> Int {
        self == .full ? 240 + size(of: name) : 2 * (size(of: name) + 2 * depth + 7)
    }

    /// Size of what a report adds at the end of a step, except for what ``sizeInStep(of:)`` counts.
    fileprivate func size(ofEnd step: FlowStep) -> Int {
        let size = 80 + size(of: step.shown) + size(of: step.reason ?? "")
        guard self == .summary else { return size }
        let indent = 2 * step.depth
        let lines =
            Array(step.sends.lazy.flatMap(\.faults).prefix(Self.maximumLines))
            + step.sends.lazy.flatMap(\.notices).prefix(Self.maximumLines)
            + step.sends.lazy.flatMap(\.skips).prefix(Self.maximumLines).map { $0.reason ?? "" }
        return lines.reduce(size + indent * min(step.shown.count, Self.maximumLines)) { $0 + indent + 40 + self.size(of: $1) }
    }

    func size(of send: FlowSend) -> Int {
        switch self {
        case .ids: return send.id.utf8.count
        case .summary, .full:
            let lines = self == .full ? Int.max : Self.maximumLines
            let texts = [send.faults, send.notices, send.skips.map { $0.reason ?? "" }]
            return texts.reduce((self == .full ? 350 : 160) + size(of: send.audience)) {
                $1.prefix(lines).reduce($0) { $0 + 40 + size(of: $1) }
            }
        }
    }

    /// The size of a send within a step, which a summary counts but does not list.
    func sizeInStep(of send: FlowSend) -> Int { self == .full ? size(of: send) : 8 }

    fileprivate func size(of items: [ShownItem]) -> Int {
        switch self {
        case .ids: 0
        case .summary, .full:
            items.prefix(self == .full ? .max : Self.maximumLines).reduce(items.isEmpty ? 0 : 40) {
                $0 + (self == .full ? 150 : 60) + size(of: $1.device) + size(of: $1.text)
            }
        }
    }

    fileprivate func size(of warning: FlowWarning) -> Int {
        warning.near.reduce((self == .full ? 140 : 80) + size(of: warning.message) + size(of: warning.location)) {
            $0 + 14 + size(of: $1)
        }
    }

    private func size(of location: SourceLocation?) -> Int { location.map { size(of: $0.description) } ?? 0 }
}
