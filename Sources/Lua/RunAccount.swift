import CLua
import Synchronization

/// Accounts for what one run uses, in Lua and in the host together, and admits no more once a budget is spent.
///
/// Everything that works for a run shares one account: its Lua state, the flows that it starts, the functions of the host. The account
/// refers to none of them, and any thread may use it. What uses a resource charges it where the work is done, in one of two ways:
/// - ``charge(_:_:)`` before the work, where the amount is known. It charges the amount, or throws and charges nothing.
/// - ``note(_:_:)`` after the work, where the amount was not known before: CPU time, and what a delivery left in memory.
///
/// A budget is spent when a charge does not fit into it, or when what was noted goes over it. From then on:
/// - `charge` admits **0 units** of any resource.
/// - `note` adds what had begun before: at most **one note for each operation under way**, and for CPU time one tick of 5 ms for each
///   thread that works for the run.
/// - The run is stopped at its next instruction, or when the operation that it waits for is asked: see ``isSpent``.
///
/// Tasks are the exception: a run that has too many may go on with those that it has.
// @unchecked: C accesses `pointer` atomically; the rest is guarded by the mutex.
package final class RunAccount: @unchecked Sendable {
    package enum Resource: String, Sendable, CaseIterable {
        /// Nanoseconds of CPU time.
        case cpu
        /// Real time. It passes by itself: there is nothing to charge.
        case time
        /// Bytes of Lua's heap and of what the host stores for the run.
        case memory
        /// Bytes that reports of the run print.
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

        /// Those of a Lua state, and the usual ones for the rest.
        package init(_ limits: LuaLimits) {
            self.init(cpu: limits.cpu, time: limits.wall, memory: limits.memory, tasks: limits.tasks)
        }
    }

    fileprivate struct State {
        /// Of the host alone.
        var memory = 0
        /// Of all Lua states together, as they last reported it.
        var luaMemory = 0
        var output = 0
        var files = 0
        var tasks = 0
        var spent: Resource?
        var deadline: Int64?
    }

    package let limits: Limits
    /// What C looks at.
    let pointer: UnsafeMutablePointer<clua_account>
    private let now: @Sendable () -> Int64
    private let state = Mutex(State())

    /// The account of the run that the current Swift task works for. Work that leaves the run's thread is charged to it.
    @TaskLocal package static var current: RunAccount?

    /// - Parameter now: nanoseconds on a clock that nobody sets.
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

    /// Charges an amount that is about to be used.
    ///
    /// - Throws: `budget.cpu`, `budget.wall`, `budget.memory`, `budget.output`, `budget.files` or `budget.tasks`: of what was spent
    ///   before, or of this resource when the amount does not fit.
    package func charge(_ resource: Resource, _ amount: Int) throws(LuaError) {
        if admit(resource, amount) { return }
        throw spentError ?? error(of: resource)
    }

    /// Charges an amount that is about to be used; false, and nothing is charged, where it does not fit or a budget is spent.
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

    /// Charges an amount that has been used already.
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

    /// CPU time of the calling thread in nanoseconds. The difference of two readings is what to ``note(_:_:)``.
    package static func threadTime() -> Int { Int(clua_thread_cpu_ns()) }

    /// Gives back what is no longer in use: memory of the host, or tasks.
    package func release(_ resource: Resource, _ amount: Int) {
        guard resource == .memory || resource == .tasks, amount > 0 else { return }
        state.withLock { $0.add(-amount, to: resource) }
    }

    /// Begins anew with the budgets of CPU time, real time, output and files, as each line at a prompt does. What is in use stays charged.
    package func renew() {
        clua_account_set_cpu(pointer, 0)
        let deadline = deadline()
        state.withLock { state in
            (state.output, state.files, state.spent, state.deadline) = (0, 0, nil, deadline)
            clua_account_set_spent(pointer, false)
        }
    }

    /// Takes in what a Lua state has in use, and answers how much it may have: what the host and other states of the run leave.
    ///
    /// - Parameter before: what the state reported last.
    func room(forLua used: Int, before: Int) -> Int {
        state.withLock { state in
            state.luaMemory += used - before
            return max(0, limits.memory - state.memory - (state.luaMemory - used))
        }
    }

    // MARK: - What is left

    /// Whether a budget is spent, of CPU time among them. Reads no clock: see ``checkTime()``.
    package var isSpent: Bool {
        clua_account_is_spent(pointer) || clua_account_cpu(pointer) > pointer.pointee.cpu_limit_ns
    }

    /// Throws the error of the budget that was spent first, if one is.
    package func check() throws(LuaError) {
        if isSpent, let error = spentError { throw error }
    }

    /// The same, and looks at the time as well.
    package func checkTime() throws(LuaError) {
        if hasTimedOut() { state.withLock { spend(.time, &$0) } }
        try check()
    }

    /// Whether there is something left of each budget, and time.
    package var mayGoOn: Bool { !isSpent && !hasTimedOut() }

    private func hasTimedOut() -> Bool {
        guard let deadline = state.withLock({ $0.deadline }) else { return false }
        return now() > deadline
    }

    /// What is charged so far. Of real time: 0.
    package func used(_ resource: Resource) -> Int {
        if resource == .cpu { return Int(clua_account_cpu(pointer)) }
        return state.withLock { $0.total(of: resource) }
    }

    /// The budget that was spent first; nil while none is.
    package var spent: Resource? {
        if let spent = state.withLock({ $0.spent }) { return spent }
        return clua_account_cpu(pointer) > pointer.pointee.cpu_limit_ns ? .cpu : nil
    }

    package var spentError: LuaError? { spent.map(error) }

    // MARK: - Inside

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

    /// What does not fit is not added, but nothing of the budget is left.
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
    /// Neither below zero nor beyond what can be counted, with room for a sum of two.
    fileprivate func adding(_ amount: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(amount)
        return Swift.min(Swift.max(overflow ? .max : sum, 0), .max / 4)
    }
}
