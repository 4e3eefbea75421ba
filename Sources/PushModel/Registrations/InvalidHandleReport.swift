/// A push service's report that the handle of a registration is invalid.
package struct InvalidHandleReport: Sendable, Equatable {
    /// The push service's own code, such as `Unregistered`; empty if it gave none.
    package var reason: String
    /// Nil if an older version stored neither the platform nor a text that names it.
    package var platform: Platform?

    package init(_ platform: Platform?, reason: String) { (self.platform, self.reason) = (platform, reason) }

    /// The report as text for people, such as `APNs answered Unregistered`.
    package var text: String {
        "\(platform?.displayName ?? "the push service") answered \(reason.isEmpty ? "that its handle is invalid" : reason)"
    }
}
