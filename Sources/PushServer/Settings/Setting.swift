import Bindings
import PushModel

/// A setting: its name in the file, its kind, and how it is applied. The environment variable's name is derived from it:
/// `PUSHHOST_LISTEN_PORT` for `listen.port`.
package struct Setting: Sendable {
    enum Kind: Sendable, Equatable {
        case text
        case url
        /// 0 to 65535, or `none`.
        case port
        /// A number from 1, or `none`.
        case count
        case duration
        /// 0% to 100%; the percent sign is optional.
        case percentage
        case flag
        case list
        case choice([String])
    }

    /// A validated value.
    struct Value: Sendable, Equatable {
        var text = ""
        var port: Int?
        var count: Int?
        var duration: Duration = .zero
        /// The value of a percentage, 0 to 1.
        var share = 0.0
        var flag = false
        var list: [String] = []
    }

    package let name: String
    let kind: Kind
    /// Whether a change is applied while the server runs.
    package let isReloadable: Bool
    package let explanation: String
    package let standard: String?
    let apply: @Sendable (inout ServerSettings, Value) -> Void

    init(
        _ name: String, _ kind: Kind, _ explanation: String, default standard: String? = nil, isReloadable: Bool = false,
        _ apply: @escaping @Sendable (inout ServerSettings, Value) -> Void
    ) {
        self.name = name
        self.kind = kind
        self.isReloadable = isReloadable
        self.explanation = explanation
        self.standard = standard
        self.apply = apply
    }

    package var environmentName: String { "PUSHHOST_" + name.uppercased().replacing(".", with: "_") }

    /// The command line option, for settings that have one: `--tls-port` for `listen.tls_port`.
    var optionName: String { "--" + (name.split(separator: ".").last ?? "").replacing("_", with: "-") }

    /// The expected form of a value, for messages.
    package var form: String {
        switch kind {
        case .text: "a string"
        case .url: "an http:// or https:// address"
        case .port: "0 to 65535, or none"
        case .count: "a number from 1, or none"
        case .duration: "a duration such as 90d or 12h"
        case .percentage: "a percentage from 0% to 100%"
        case .flag: "on or off"
        case .list: "a list of strings"
        case .choice(let words): "one of \(words.joined(separator: ", "))"
        }
    }

    /// Parses a value from the environment or the command line; list elements are separated by commas. Nil if it is invalid.
    func value(_ text: String) -> Value? {
        switch kind {
        case .list: value(text.split(separator: ",").map { String($0.drop { $0 == " " }) })
        default: value([text])
        }
    }

    /// Parses a value from the file: one text, or several for a list. Nil if it is invalid.
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
            guard let duration = Duration(positive: text) else { return nil }
            value.duration = duration
            return value
        case .percentage:
            guard let percent = Self.percent(text), (0...100).contains(percent) else { return nil }
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

    /// Reads decimal digits with an optional fraction and `%`. A number without `%` could also be a share of 1, except 0.
    private static func percent(_ text: String) -> Double? {
        if text == "0" { return 0 }
        return text.wholeMatch(of: /([0-9]+(?:\.[0-9]+)?) ?%/).flatMap { Double($0.1) }
    }

    private static let flags = [
        "on": true, "true": true, "yes": true, "1": true, "off": false, "false": false, "no": false, "0": false,
    ]
}
