import CLua
import Synchronization

/// Counts the resources that one run uses, in Lua and in the host, and rejects further use once a budget is spent.
///
/// Everything that works for a run shares one account: its Lua state, the flows that it starts, the host's functions. The account refers to
/// none of them, and any thread may use it. Code that uses a resource charges it in one of two ways:
/// - ``charge(_:_:)`` before the work, if the amount is known. It charges the amount, or throws and charges nothing.
/// - ``note(_:_:)`` after the work, if the amount was not known before: CPU time, or the memory that a delivery still uses.
///
/// A budget is spent when a charge does not fit into it, or when the noted amounts exceed it. From then on:
/// - `charge` admits **0 units** of any resource.
/// - `note` adds only work that had already begun: at most **one note per operation in progress**, and for CPU time one 5 ms tick for each
///   thread that works for the run.
/// - The run stops at its next instruction, or when the operation that it waits for checks ``isSpent``.
///
/// Tasks are an exception: a run that has reached its task limit may continue with the tasks that it has.
// @unchecked: C accesses `pointer` atomically; the rest is guarded by the mutex.
package final class RunAccount: @unchecked Sendable {
    package enum Resource: String, Sendable, CaseIterable {
        /// Nanoseconds of CPU time.
        case cpu
        /// Real time. It passes by itself and is never charged.
        case time
        /// Bytes of Lua's heap, plus memory that the host uses for the run.
        case memory
        /// Bytes printed by the run's reports.
        case output
        /// Files opened.
        case files
        /// Tasks that have not ended.
        case tasks
    }

    package struct Limits: Sendable {
        package var cpu: Duration
        package var time: Duration?
        package var memory: Int
        package var output: Int
        package var files: Int
        package var tasks: Int

        package init(
            cpu: Duration = .seconds(10), time: Duration? = nil, memory: Int = 64 << 20, output: Int = 4 << 20, files: Int = 10_000,
            tasks: Int = 10_000
        ) {
            (self.cpu, self.time, self.memory) = (max(cpu, .zero), time, max(memory, 0))
            (self.output, self.files, self.tasks) = (max(output, 0), max(files, 0), max(tasks, 0))
        }

        /// The limits of a Lua state, with defaults for the other resources.
        package init(_ limits: LuaLimits) {
            self.init(cpu: limits.cpu, time: limits.wall, memory: limits.memory, tasks: limits.tasks)
        }
    }

    fileprivate struct State {
        /// Bytes that the host uses.
        var memory = 0
        /// Bytes of all Lua states together, as last reported.
        var luaMemory = 0
        var output = 0
        var files = 0
        var tasks = 0
        var spent: Resource?
        var deadline: Int64?
    }

    package let limits: Limits
    /// The part that C reads.
    let pointer: UnsafeMutablePointer<clua_account>
    private let now: @Sendable () -> Int64
    private let state = Mutex(State())

    /// - Parameter now: Nanoseconds of a monotonic clock.
    package init(_ limits: Limits = Limits(), now: @escaping @Sendable () -> Int64 = { clua_monotonic_ns() }) {
        self.limits = limits
        self.now = now
        pointer = .allocate(capacity: 1)
        pointer.initialize(to: clua_account())
        pointer.pointee.cpu_limit_ns = limits.cpu.nanoseconds
        state.withLock { $0.deadline = deadline() }
    }

    package convenience init(_ limits: LuaLimits) { self.init(Limits(limits)) }

    deinit { pointer.deallocate() }

    private func deadline() -> Int64? {
        guard let time = limits.time else { return nil }
        let (deadline, overflow) = now().addingReportingOverflow(time.nanoseconds)
        return overflow ? nil : deadline
    }

    // MARK: - Charging

    /// Charges an amount before it is used.
    ///
    /// - Throws: `budget.cpu`, `budget.wall`, `budget.memory`, `budget.output`, `budget.files` or `budget.tasks`: for the budget spent
    ///   earlier, or for this resource if the amount does not fit.
    package func charge(_ resource: Resource, _ amount: Int) throws(LuaError) {
        if admit(resource, amount) { return }
        throw spentError ?? error(of: resource)
    }

    /// Charges an amount before it is used. Returns false and charges nothing if the amount does not fit or a budget is spent.
    package func admit(_ resource: Resource, _ amount: Int) -> Bool {
        if isSpent { return false }
        let amount = max(amount, 0)
        if resource == .cpu {
            let (sum, overflow) = clua_account_cpu(pointer).addingReportingOverflow(Int64(amount))
            let fits = !overflow && sum <= pointer.pointee.cpu_limit_ns
            if fits { clua_account_add_cpu(pointer, Int64(amount)) } else { spendCPU() }
            return fits
        }
        return state.withLock { state in
            guard state.spent == nil else { return false }
            let (sum, overflow) = state.total(of: resource).addingReportingOverflow(amount)
            guard !overflow, sum <= limit(of: resource) else {
                if resource != .tasks { spend(resource, &state) }
                return false
            }
            state.add(amount, to: resource)
            return true
        }
    }

    /// Charges an amount that has already been used.
    package func note(_ resource: Resource, _ amount: Int) {
        guard amount > 0 else { return }
        if resource == .cpu {
            clua_account_add_cpu(pointer, Int64(min(amount, .max / 4)))
            if clua_account_cpu(pointer) > pointer.pointee.cpu_limit_ns { state.withLock { spend(.cpu, &$0) } }
            return
        }
        state.withLock { state in
            state.add(amount, to: resource)
            if resource != .tasks, state.total(of: resource) > limit(of: resource) { spend(resource, &state) }
        }
    }

    /// CPU time of the calling thread in nanoseconds. Pass the difference of two readings to ``note(_:_:)``.
    package static func threadTime() -> Int { Int(clua_thread_cpu_ns()) }

    /// Releases host memory or tasks that are no longer in use.
    package func release(_ resource: Resource, _ amount: Int) {
        guard resource == .memory || resource == .tasks, amount > 0 else { return }
        state.withLock { $0.add(-amount, to: resource) }
    }

    /// Restarts the budgets of CPU time, real time, output and files, for example for each line at a prompt. Memory and tasks in use stay
    /// charged.
    package func renew() {
        clua_account_set_cpu(pointer, 0)
        let deadline = deadline()
        state.withLock { state in
            (state.output, state.files, state.spent, state.deadline) = (0, 0, nil, deadline)
            clua_account_set_spent(pointer, false)
        }
    }

    /// Records what a Lua state has in use. Returns the limit for that state: what the host and the run's other states leave of the budget.
    ///
    /// - Parameter before: The state's previous report.
    func memoryLimit(forLua used: Int, before: Int) -> Int {
        state.withLock { state in
            state.luaMemory += used - before
            return max(0, limits.memory - state.memory - (state.luaMemory - used))
        }
    }

    // MARK: - Remaining budgets

    /// Whether a budget is spent, including CPU time. Does not read the clock: see ``checkTime()``.
    package var isSpent: Bool {
        clua_account_is_spent(pointer) || clua_account_cpu(pointer) > pointer.pointee.cpu_limit_ns
    }

    /// Throws the error of the budget that was spent first, if any.
    package func check() throws(LuaError) {
        if isSpent, let error = spentError { throw error }
    }

    /// Throws if a budget is spent or the time is up.
    package func checkTime() throws(LuaError) {
        if hasTimedOut() { state.withLock { spend(.time, &$0) } }
        try check()
    }

    /// Whether every budget has something left, including time.
    package var canContinue: Bool { !isSpent && !hasTimedOut() }

    private func hasTimedOut() -> Bool {
        guard let deadline = state.withLock({ $0.deadline }) else { return false }
        return now() > deadline
    }

    /// The amount charged so far; always 0 for real time.
    package func used(_ resource: Resource) -> Int {
        if resource == .cpu { return Int(clua_account_cpu(pointer)) }
        return state.withLock { $0.total(of: resource) }
    }

    /// The budget that was spent first; nil if none is spent.
    package var spent: Resource? {
        if let spent = state.withLock({ $0.spent }) { return spent }
        return clua_account_cpu(pointer) > pointer.pointee.cpu_limit_ns ? .cpu : nil
    }

    package var spentError: LuaError? { spent.map(error) }

    // MARK: - Implementation

    private func limit(of resource: Resource) -> Int {
        switch resource {
        case .cpu, .time: .max
        case .memory: limits.memory
        case .output: limits.output
        case .files: limits.files
        case .tasks: limits.tasks
        }
    }

    private func spend(_ resource: Resource, _ state: inout State) {
        if state.spent == nil { state.spent = resource }
        clua_account_set_spent(pointer, true)
    }

    /// Marks the budget as spent without adding the amount that does not fit.
    private func spendCPU() {
        let missing = pointer.pointee.cpu_limit_ns - clua_account_cpu(pointer)
        if missing >= 0 { clua_account_add_cpu(pointer, missing + 1) }
    }

    private func error(of resource: Resource) -> LuaError {
        switch resource {
        case .cpu: .cpuBudget(limits.cpu)
        case .time: .timeBudget(limits.time)
        case .memory: .memoryBudget(limits.memory)
        case .output: .outputBudget(limits.output)
        case .files: .fileBudget(limits.files)
        case .tasks: .taskBudget(limits.tasks)
        }
    }
}

extension RunAccount.State {
    fileprivate func total(of resource: RunAccount.Resource) -> Int {
        switch resource {
        case .cpu, .time: 0
        case .memory: memory + luaMemory
        case .output: output
        case .files: files
        case .tasks: tasks
        }
    }

    fileprivate mutating func add(_ amount: Int, to resource: RunAccount.Resource) {
        switch resource {
        case .cpu, .time: break
        case .memory: memory = memory.adding(amount)
        case .output: output = output.adding(amount)
        case .files: files = files.adding(amount)
        case .tasks: tasks = tasks.adding(amount)
        }
    }
}

extension Int {
    /// Clamps the sum to 0 ... `Int.max / 4`, so that two sums can be added without overflow.
    fileprivate func adding(_ amount: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(amount)
        return Swift.min(Swift.max(overflow ? .max : sum, 0), .max / 4)
    }
}
