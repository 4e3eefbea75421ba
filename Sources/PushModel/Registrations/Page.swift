/// The part of a list that a caller requests.
package struct Page: Sendable, Equatable {
    /// At most 100, as in Azure.
    package var top: Int
    package var continuation: String?

    package init(top: Int = 100, continuation: String? = nil) {
        self.top = top
        self.continuation = continuation
    }
}
