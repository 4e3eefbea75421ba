package import PushModel

/// A documented reason that a push service gives for a rejected push. The raw value is the service's own word for it.
package protocol ServiceReason: RawRepresentable<String>, CaseIterable, Sendable {
    /// The outcome of a device whose push was rejected for the reason.
    var outcome: OutcomeName { get }

    /// The meaning, and the action to take; nil if there is none.
    var texts: (meaning: String, advice: String?) { get }
}

extension ServiceReason {
    /// The meaning and the advice in one text.
    package var explanation: String { [texts.meaning, texts.advice].compactMap(\.self).joined(separator: "; ") }
}
