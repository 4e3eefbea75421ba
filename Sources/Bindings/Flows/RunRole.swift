/// The purpose of a run, and the principal on whose behalf it acts.
struct RunRole: Sendable {
    var purpose = Purpose.flow
    /// What the script is currently run for.
    var phase = ScriptPhase.flow
    /// The plugin whose function runs; nil for a flow.
    var plugin: (any RunningPlugin)?
    /// The plugins on whose behalf the run acts; empty for a flow.
    var origin: [String] = []
    /// Number of steps of outer flows around a nested flow.
    var depth = 0
    /// Whether the flow was started by another one, which collects its events.
    var isNested = false
    /// Where the generators of a property take their numbers from.
    var draws: PropertyDraws?
    /// The snapshots of the test; nil if they are not compared.
    var snapshots: SnapshotBook?

    /// The purpose of a run.
    enum Purpose: Sendable, Equatable {
        case flow
        /// Collecting the names of the tests.
        case collectingTests
        /// Running one test: its number in file order, from 1, and its full name.
        case test(Int, name: String)
        /// Running line by line; see ``InteractiveFlow``.
        case interactive
    }
}
