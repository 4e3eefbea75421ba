/// One thread of execution within a run, for the script's body or a spawned function: a coroutine and what it waits for.
final class ScriptTask {
    enum Wait {
        case nothing
        case operation(serial: Int, task: Task<Void, Never>)
        case task(ScriptTask)
        case all(AllWait)
        case module(ModuleLoad)
    }

    enum End {
        /// The results are the values on the coroutine's stack.
        case results
        /// The error is the topmost value of the coroutine's stack.
        case failure
    }

    /// The values that the coroutine receives when it is resumed.
    struct Resumption {
        /// Number of values on its stack to pass.
        var count: Int32
        /// One of `CLUA_RESUME_…`.
        var kind: Int32
        /// Writes the results of a typed function, if the coroutine receives such results.
        var write: TypedFunction.Write?
    }

    let number: Int
    let isDaemon: Bool
    let run: Run
    /// The number of the task from which this one descends: a session's call or the script's body.
    let call: Int
    let coroutine: OpaquePointer
    /// A registry reference that prevents collection of the coroutine while the task is live or has holders.
    var anchor: Int32
    /// Number of holders that need the results after the task's end.
    var holders = 0

    weak var parent: ScriptTask?
    var children: [Int: ScriptTask] = [:]

    var wait = Wait.nothing
    var resumption: Resumption?
    var waiters: [ScriptTask] = []
    var groups: [AllWait] = []
    /// The modules that it is loading, each required by the previous one.
    var moduleLoads: [ModuleLoad] = []
    var end: End?
    var hasStarted = false
    var isCancelled = false
    /// True once another task has requested the result, and therefore handles the error.
    var isObserved = false
    /// Why this task alone was stopped, in a run that continued.
    var stopError: LuaError?

    /// True if it can continue without reaching a wait, where it would see a cancellation.
    var mayCompute: Bool {
        if case .nothing = wait { return hasStarted }
        return false
    }

    /// True if cancellations by the host do not apply to it. In a session they apply to the latest call and the tasks that it spawned.
    var isBystander: Bool {
        guard let session = run.session else { return false }
        return call != session.latestCall
    }

    /// The error that it receives when it is cancelled.
    var cancellation: LuaError { run.control.isCancelled && !isBystander ? .cancelled : .taskCancelled }

    init(number: Int, isDaemon: Bool, run: Run, parent: ScriptTask?, coroutine: OpaquePointer, anchor: Int32) {
        self.number = number
        self.isDaemon = isDaemon
        self.run = run
        self.parent = parent
        call = parent?.call ?? number
        self.coroutine = coroutine
        self.anchor = anchor
    }
}

/// A wait of one task for several others.
final class AllWait {
    let caller: ScriptTask
    let members: [ScriptTask]
    var remaining = 0
    /// The first member that failed; its error becomes the error of the wait.
    var root: ScriptTask?
    var isCancelled = false
    var isReleased = false

    init(caller: ScriptTask, members: [ScriptTask]) {
        self.caller = caller
        self.members = members
    }
}
