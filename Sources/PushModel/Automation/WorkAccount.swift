/// The account of a run, for the parts of a server that work for the run on other threads than the run's own. It refers to none of them.
package protocol WorkAccount: AnyObject, Sendable {
    /// CPU time of the calling thread in nanoseconds.
    func threadTime() -> Int
    /// Charges CPU time in nanoseconds that was used for the run.
    func charge(cpuTime: Int)
    /// Charges memory in bytes that is in use for the run.
    func note(memory: Int)
    /// Releases memory that is no longer in use.
    func release(memory: Int)
    /// Whether every budget of the run has something left, including its time.
    var canContinue: Bool { get }
}

extension WorkAccount {
    /// Performs work on this thread and charges its CPU time.
    package func measure<Result, Failure: Error>(_ work: () throws(Failure) -> Result) throws(Failure) -> Result {
        let began = threadTime()
        defer { charge(cpuTime: threadTime() - began) }
        return try work()
    }
}

extension Optional where Wrapped == any WorkAccount {
    /// Performs work on this thread and charges its CPU time to the account, if there is one.
    package func measure<Result, Failure: Error>(_ work: () throws(Failure) -> Result) throws(Failure) -> Result {
        if let self { try self.measure(work) } else { try work() }
    }
}
