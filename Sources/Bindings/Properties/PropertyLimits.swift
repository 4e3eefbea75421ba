/// Limits of the cases that a property tries.
package struct PropertyLimits: Sendable, Equatable {
    /// Number of generated cases.
    package var cases: Int
    /// Maximum runs that look for a smaller failing case.
    package var shrinks: Int
    /// Number of cases that the script lists itself.
    package var examples: Int

    package init(cases: Int, shrinks: Int, examples: Int = 0) {
        self.cases = cases
        self.shrinks = shrinks
        self.examples = examples
    }
}
