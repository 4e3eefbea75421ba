import PushCore

/// One setting: its name in the file, what it takes, and where it goes. Its name in the environment follows from it:
/// `PUSHHOST_LISTEN_PORT` for `listen.port`.
struct Setting: Sendable {
    enum Kind: Sendable, Equatable {
        case text
        case url
        /// 0 to 65535, or `none`.
        case port
        /// A number from 1, or `none`.
        case count
        case duration
        /// 0% to 100%; the sign may be left out.
        case percentage
        case flag
        case list
        case choice([String])
    }

    /// What was given, checked.
    struct Value: Sendable, Equatable {
        var text = ""
        var port: Int?
        var count: Int?
        var duration: Duration = .zero
        /// Of a percentage: 0 to 1.
        var share = 0.0
        var flag = false
        var list: [String] = []
    }

    let name: String
    let kind: Kind
    /// Whether a change of it is applied while the server runs.
    let isLive: Bool
    let explanation: String
    let standard: String?
    let apply: @Sendable (inout ServerSettings, Value) -> Void

    init(
        _ name: String, _ kind: Kind, _ explanation: String, default standard: String? = nil, isLive: Bool = false,
        _ apply: @escaping @Sendable (inout ServerSettings, Value) -> Void
    ) {
        self.name = name
        self.kind = kind
        self.isLive = isLive
        self.explanation = explanation
        self.standard = standard
        self.apply = apply
    }

    var environmentName: String { "PUSHHOST_" + name.uppercased().replacing(".", with: "_") }

    /// On the command line, for those that are options there: `--tls-port` for `listen.tls_port`.
    var optionName: String { "--" + (name.split(separator: ".").last ?? "").replacing("_", with: "-") }

    /// What may be written for it.
    var form: String {
        switch kind {
        case .text: "text"
        case .url: "http:// or https:// address"
        case .port: "0 to 65535, or none"
        case .count: "number from 1, or none"
        case .duration: "duration such as 90d, 12h"
        case .percentage: "percentage from 0% to 100%"
        case .flag: "on or off"
        case .list: "list of texts"
        case .choice(let words): words.joined(separator: ", ")
        }
    }

    /// The value of a text, as it stands in the environment or on the command line; the parts of a list are separated by commas.
    /// Nil for one that does not fit.
    func value(_ text: String) -> Value? {
        switch kind {
        case .list: value(text.split(separator: ",").map { String($0.drop { $0 == " " }) })
        default: value([text])
        }
    }

    /// The value of what stands in a file: one text, or several for a list.
    func value(_ texts: [String]) -> Value? {
        var value = Value()
        if kind == .list {
            guard texts.allSatisfy({ !$0.isEmpty }) else { return nil }
            value.list = texts
            return value
        }
        guard texts.count == 1, let text = texts.first else { return nil }
        value.text = text
        switch kind {
        case .text: return text.isEmpty ? nil : value
        case .url:
            let isURL = ["http://", "https://"].contains { text.hasPrefix($0) && text.count > $0.count }
            while value.text.hasSuffix("/") { value.text.removeLast() }
            return isURL ? value : nil
        case .port:
            if text == "none" { return value }
            guard let port = Int(text), (0...65_535).contains(port) else { return nil }
            value.port = port
            return value
        case .count:
            if text == "none" { return value }
            guard let count = Int(text), count > 0 else { return nil }
            value.count = count
            return value
        case .duration:
            guard let duration = try? Budgets.duration(text), duration > .zero else { return nil }
            value.duration = duration
            return value
        case .percentage:
            let digits = text.hasSuffix("%") ? text.dropLast() : text[...]
            guard let percent = Double(digits.last == " " ? digits.dropLast() : digits), (0...100).contains(percent) else { return nil }
            value.share = percent / 100
            return value
        case .flag:
            guard let flag = Self.flags[text.lowercased()] else { return nil }
            value.flag = flag
            return value
        case .choice(let words): return words.contains(text) ? value : nil
        case .list: return nil
        }
    }

    private static let flags = [
        "on": true, "true": true, "yes": true, "1": true, "off": false, "false": false, "no": false, "0": false,
    ]
}
