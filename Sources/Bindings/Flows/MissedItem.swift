import PushCore
import Synchronization

/// What a script waited for on a phone in vain, and what the phone has instead: for the expectation that fails because of it.
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
            if items.count > Self.most { lines.append("  … and \(items.count - Self.most) before") }
        }
        text = lines.joined(separator: "\n")
    }

    /// Items that a message names.
    private static let most = 8

    private static func line(_ item: InboxItem) -> String {
        guard item.isShown else {
            return item.isBackground ? "a background push" : "a push that was not shown\(item.reasonNotShown.map { ": \($0)" } ?? "")"
        }
        let title = item.title.isEmpty || item.text == item.title ? "" : "title \(quoted(item.title)), "
        return "\(title)alert \(quoted(item.body.isEmpty ? item.text : item.body))"
    }

    private static func quoted(_ text: String) -> String {
        let shown = text.count > 80 ? "\(text.prefix(80))…" : text
        return "\"\(shown.replacing("\n", with: "\\n"))\""
    }
}

extension FlowRun {
    /// Nil: what was waited for has come.
    func noteMissed(_ item: MissedItem?, of task: Int) { state.withLock { $0.missed[task] = item } }

    /// What it was, once: a later expectation is about something else.
    func takeMissedItem(of task: Int) -> String? { state.withLock { $0.missed.removeValue(forKey: task)?.text } }
}
