import PushModel
import Synchronization

/// An item that a script waited for and did not receive, and what the device has instead. Shown with the expectation that fails because
/// of it.
struct MissedItem: Sendable {
    let text: String

    init(_ arguments: Arguments, on device: String, _ items: [InboxItem]) {
        let wanted = ["alert", "title", "contains"].compactMap { key in arguments.string(key).map { "\(key) \(Self.quoted($0))" } }
        let kind = arguments.boolean("background").map { $0 ? "background" : "shown" }
        let what = (wanted + (kind.map { [$0] } ?? [])).joined(separator: ", ")
        let time = (try? arguments.duration("within")) ?? .seconds(30)
        var lines = ["\(device) got no item\(what.isEmpty ? "" : " with \(what)") within \(time.short)"]
        if items.isEmpty {
            lines[0] += "; its inbox is empty"
        } else {
            lines[0] += "; its inbox has:"
            lines += items.suffix(Self.most).map { "  \(Self.line($0))" }
            if items.count > Self.most { lines.append("  … and \(items.count - Self.most) earlier ones") }
        }
        text = lines.joined(separator: "\n")
    }

    /// Maximum number of items in a message.
    private static let most = 8

    private static func line(_ item: InboxItem) -> String {
        guard item.isShown else {
            let reason = item.display.reasonNotShown.map { ": \($0)" } ?? ""
            return item.isBackground ? "a background push" : "a push that was not shown\(reason)"
        }
        let (alert, text) = (item.alert, item.display.text)
        let title = alert.title.isEmpty || text == alert.title ? "" : "title \(quoted(alert.title)), "
        return "\(title)alert \(quoted(alert.body.isEmpty ? text : alert.body))"
    }

    private static func quoted(_ text: String) -> String {
        let shown = text.count > 80 ? "\(text.prefix(80))…" : text
        return "\"\(shown.replacing("\n", with: "\\n"))\""
    }
}
