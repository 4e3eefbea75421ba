import Lua
import PushModel

/// An asynchronous call of the host by a script, while it is in progress.
///
/// The run is charged for the memory that the call holds. It works only while the run has budgets left: in the host's queues, other calls
/// may come first.
struct RunOperation: Sendable {
    enum Kind: Sendable {
        /// It ends by itself. Only a limited number of them work at a time.
        case bounded
        /// It waits for time, devices or other runs.
        case waiting
        /// A send that waits for its results. It needs more memory than others.
        case sending

        fileprivate var memory: Int { self == .sending ? HostCost.operation + HostCost.sendInProgress : HostCost.operation }
    }

    let run: FlowRun
    /// Bytes of the arguments and of what is made from them.
    var memory = 0
    var kind = Kind.bounded

    func perform<Answer: Sendable>(_ work: @Sendable () async throws -> Answer) async throws -> Answer {
        let account = run.account
        let memory = memory + kind.memory
        try Task.checkCancellation()
        try account.charge(.memory, memory)
        defer { account.release(.memory, memory) }
        if kind != .bounded { return try await attributed(work) }
        try await run.shared.operations.enter()
        defer { run.shared.operations.leave() }
        return try await attributed(work)
    }

    /// Performs the work as that of the run, with its origin and its accounts.
    private func attributed<Answer: Sendable>(_ work: @Sendable () async throws -> Answer) async throws -> Answer {
        let account = run.account
        try account.checkTime()
        let answer = try await ChargedWork.$run.withValue(account) {
            try await withOrigin {
                // On other threads than the run's, CPU time is charged where it is used.
                let charged = run.world.usesOwnThreads ? account : nil
                if charged === ChargedWork.account { return try await work() }
                return try await ChargedWork.$account.withValue(charged, operation: work)
            }
        }
        try account.checkTime()
        return answer
    }

    private func withOrigin<Answer: Sendable>(_ work: () async throws -> Answer) async throws -> Answer {
        if HookOrigin.plugins == run.origin { return try await work() }
        return try await HookOrigin.$plugins.withValue(run.origin, operation: work)
    }
}
