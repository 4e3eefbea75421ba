/// A right of a hub's key, as Azure names it.
package enum SASRight: String, Sendable, CaseIterable {
    case listen, send, manage
}
