/// The result of adding a run to a store.
package struct AddedRun: Sendable, Equatable {
    package var run: RunRecord
    /// Whether the run existed before, under the same key.
    package var isRepeated: Bool

    package init(run: RunRecord, isRepeated: Bool) {
        self.run = run
        self.isRepeated = isRepeated
    }
}
