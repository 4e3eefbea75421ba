/// A hook's reason for a decision about devices, with the plugin that made it.
package struct HookReason: Sendable, Hashable {
    /// The plugin's name; nil for a hook of the hub itself.
    package let plugin: String?
    /// The plugin's own text, which is shown and never matched.
    package let reason: String

    /// - Parameter reason: cut so that `text` has at most 300 characters, because it is stored for each device.
    package init(plugin: String?, reason: String) {
        self.plugin = plugin
        self.reason = reason.cut(to: String.maximumHookReason - (plugin.map { $0.count + Self.separator.count } ?? 0))
    }

    private static let separator = ": "

    /// The reason as text for people, such as `quiet: at night`.
    package var text: String { plugin.map { $0 + Self.separator + reason } ?? reason }
}

extension HookReason: Comparable {
    /// The order of the texts, which are made only if the plugins differ.
    package static func < (left: HookReason, right: HookReason) -> Bool {
        left.plugin == right.plugin ? left.reason < right.reason : left.text < right.text
    }
}

extension String {
    /// The maximum number of characters that are stored or sent for a hook's reason.
    fileprivate static let maximumHookReason = 300

    /// The text cut to 300 characters, the maximum that is stored or sent for a hook's reason.
    package var hookReason: String { cut(to: Self.maximumHookReason) }

    fileprivate func cut(to length: Int) -> String {
        let length = Swift.max(length, 1)
        return prefix(length).utf8.count == utf8.count ? self : "\(prefix(length - 1))…"
    }
}
