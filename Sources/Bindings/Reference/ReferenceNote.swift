import PushModel

/// A topic that the program adds to the reference of the module: a setting, a reason of a push service, a cause of a trace, or a guide.
package struct ReferenceNote: Sendable {
    package enum Kind: String, Sendable {
        /// A setting of the server.
        case setting
        /// What a push service answers to a notification.
        case reason
        /// Why a device did or did not show a notification.
        case cause
        /// An operation of the program that a page of the documentation describes.
        case guide
    }

    /// A titled part of the page.
    package struct Part: Sendable {
        package var title: String
        package var text: String

        package init(_ title: String, _ text: String) {
            self.title = title
            self.text = text
        }
    }

    package var kind: Kind
    /// `listen.port`, `APNs BadDeviceToken`, `circuit_open`, `send --dry-run`.
    package var name: String
    /// The name without that of its group: `BadDeviceToken`.
    package var shortName: String
    package var summary: String
    package var parts: [Part]

    package init(_ kind: Kind, _ name: String, short: String? = nil, _ summary: String, _ parts: [Part]) {
        self.kind = kind
        self.name = name
        shortName = short ?? name
        self.summary = summary
        self.parts = parts.filter { !$0.text.isEmpty }
    }
}
