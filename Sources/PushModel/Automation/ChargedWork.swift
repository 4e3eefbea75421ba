/// Work on other threads that is charged to a run.
package enum ChargedWork {
    /// The account of the run for which the current task works; nil if its work is not charged.
    @TaskLocal package static var account: (any WorkAccount)?
}
