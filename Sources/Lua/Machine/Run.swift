import CLua
import Synchronization

/// The part of a run that any thread may use: its cancel flag and its result.
// @unchecked: everything else behind `pointer` belongs to the state's thread; the flag is accessed atomically, by C.
final class RunControl: @unchecked Sendable {
    private enum Ending {
        case pending
        case prepared(@Sendable () -> Void)
        case awaited(CheckedContinuation<[LuaValue], any Error>)
        case ended(Result<[LuaValue], any Error>)
    }

    let pointer: UnsafeMutablePointer<clua_run>
    /// The account that is charged for the run.
    let account: RunAccount
    private let ending = Mutex(Ending.pending)

    /// - Parameter account: nil: a new account with the run's limits.
    init(limits: LuaLimits, account: RunAccount? = nil) {
        let account = account ?? RunAccount(limits)
        self.account = account
        pointer = .allocate(capacity: 1)
        pointer.initialize(to: clua_run())
        pointer.pointee.account = account.pointer
        clua_run_refuel(pointer, limits.fuel)
        pointer.pointee.annotations = clua_noref()
        pointer.pointee.environment = clua_noref()
        pointer.pointee.origins = clua_noref()
        pointer.pointee.texts = clua_noref()
        pointer.pointee.loaded = clua_noref()
    }

    deinit {
        clua_place_clear(&pointer.pointee.stopped_at)
        pointer.deallocate()
    }

    func prepare(_ start: @escaping @Sendable () -> Void) { ending.withLock { $0 = .prepared(start) } }

    /// Calls the prepared start closure once and releases it.
    func begin() {
        let start = ending.withLock { ending -> (@Sendable () -> Void)? in
            guard case .prepared(let start) = ending else { return nil }
            ending = .pending
            return start
        }
        start?()
    }

    /// Waits for the end of the run. Call it only once.
    func result() async throws -> [LuaValue] {
        try await withCheckedThrowingContinuation { continuation in
            let result = ending.withLock { ending -> Result<[LuaValue], any Error>? in
                if case .ended(let result) = ending {
                    // Garbage of the run may hold this control until it is collected. The result's functions are released earlier.
                    ending = .pending
                    return result
                }
                ending = .awaited(continuation)
                return nil
            }
            if let result { continuation.resume(with: result) }
        }
    }

    func end(with result: Result<[LuaValue], any Error>) {
        let continuation = ending.withLock { ending -> CheckedContinuation<[LuaValue], any Error>? in
            if case .awaited(let continuation) = ending { return continuation }
            ending = .ended(result)
            return nil
        }
        continuation?.resume(with: result)
    }

    func cancel() {
        clua_run_cancel(pointer)
    }

    var isCancelled: Bool { clua_run_is_cancelled(pointer) }

    func forgetCancel() {
        clua_run_forget_cancel(pointer)
    }
}

/// The code that a run executes.
enum RunBody: Sendable {
    case script(LuaScript)
    /// A function of a program.
    case function(LuaFunctionReference)
}

/// One execution of a script or of one of its functions: its budgets and tasks.
final class Run {
    let id: LuaRunID
    let control: RunControl
    let limits: LuaLimits
    let annotations: [String: String]
    let attachment: (any AnyObject & Sendable)?
    /// The program's globals; nil if the run has its own.
    let globals: ProgramGlobals?
    var wallTimer: Task<Void, Never>?
    /// Ends the cleanup of a cancelled run when its time is over.
    var graceTimer: Task<Void, Never>?

    /// Tasks that can continue, in order.
    var ready = Queue<ScriptTask>()
    /// Ended operations, in order of their end. They are delivered one by one when no task can continue, so that preemption cannot change
    /// the order in which tasks receive results.
    var inbox = Queue<OperationResult>()
    /// Tasks that have not ended, by number.
    var live: [Int: ScriptTask] = [:]
    /// Number of live tasks that are neither the main task nor daemons.
    var liveChildren = 0
    var lastTask = 0
    var main: ScriptTask?
    /// Nil for a run that ends with its script.
    var session: Session?

    /// Modules that are currently being loaded, by name.
    var moduleLoads: [String: ModuleLoad] = [:]
    /// Number of host operations that have not ended.
    var operations = 0
    /// The number of the run's entry in the thread's list of charged accounts; nil before the run's first operation that has to wait.
    var chargedEntry: Int?
    /// The task whose error becomes the run's error.
    var rootFailure: ScriptTask?
    /// Failed tasks that were not awaited so far.
    var unawaitedFailures: [ScriptTask] = []
    /// An error that ends the run as a whole.
    var forcedError: LuaError?
    var isCancelDelivered = false
    var isEnding = false
    var isScheduled = false
    var isFinished = false

    init(
        id: LuaRunID, control: RunControl, limits: LuaLimits, annotations: [String: String],
        attachment: (any AnyObject & Sendable)? = nil, globals: ProgramGlobals? = nil
    ) {
        self.id = id
        self.control = control
        self.limits = limits
        self.annotations = annotations
        self.attachment = attachment
        self.globals = globals
    }

    func endTimers() {
        wallTimer?.cancel()
        graceTimer?.cancel()
    }

    /// Adds a task and charges it to the account.
    func add(_ task: ScriptTask) {
        live[task.number] = task
        control.account.note(.tasks, 1)
    }

    func remove(_ task: ScriptTask) {
        if live.removeValue(forKey: task.number) != nil { control.account.release(.tasks, 1) }
    }

    func removeAllTasks() {
        control.account.release(.tasks, live.count)
        live = [:]
    }

    /// The live tasks in creation order. A dictionary's order differs between processes.
    var liveInOrder: [ScriptTask] {
        live.values.sorted { $0.number < $1.number }
    }

    /// Gives the next call of a session full budgets of CPU time and instructions.
    func renewBudget() {
        control.account.renew()
        clua_run_refuel(control.pointer, limits.fuel)
        control.pointer.pointee.grace_limit_ns = 0
        control.pointer.pointee.stop = Int32(CLUA_STOP_NONE)
        clua_place_clear(&control.pointer.pointee.stopped_at)
    }

    /// Closes the coroutine of a task while a stop is due, so that no script code executes. Returns false if the Lua state was abandoned.
    func close(_ task: ScriptTask) -> Bool {
        guard task.hasStarted else {
            lua_settop(task.coroutine, 0)
            return true
        }
        return clua_task_close(task.coroutine, control.pointer) == LUA_OK
    }
}

struct OperationResult {
    var serial: Int
    var result: Result<Answer, any Error>
}

extension Duration {
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? 0 : .max }
        let (sum, carried) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return carried ? .max : sum
    }
}
