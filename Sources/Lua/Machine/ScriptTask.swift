/// One line of execution of a run: the script's body, or a function it spawned. A coroutine and what it waits for.
final class ScriptTask {
    enum Wait {
        case nothing
        case operation(serial: Int, task: Task<Void, Never>)
        case task(ScriptTask)
        case all(AllWait)
    }

    enum End {
        /// The results are the values on the coroutine's stack.
        case results
        /// The error is the value on the top of the coroutine's stack.
        case failure
    }

    /// What the coroutine gets when it is resumed.
    struct Delivery {
        /// How many values were put on its stack.
        var count: Int32
        /// One of `CLUA_RESUME_…`.
        var kind: Int32
        /// Writes the results of a typed function, when these are what it gets.
        var write: TypedFunction.Write?
    }

    let number: Int
    let isDaemon: Bool
    let run: Run
    /// The number of the task it descends from: of a session's call, or of the script's body.
    let call: Int
    let coroutine: OpaquePointer
    /// Keeps the coroutine from being collected, while it is live or somebody holds the task.
    var anchor: Int32
    /// How many need the results beyond the task's end.
    var holders = 0

    weak var parent: ScriptTask?
    var children: [Int: ScriptTask] = [:]

    var wait = Wait.nothing
    var delivery: Delivery?
    var waiters: [ScriptTask] = []
    var groups: [AllWait] = []
    var end: End?
    var hasStarted = false
    var isCancelled = false
    /// True once somebody has asked for the result, and so for the error.
    var isObserved = false
    /// Why it alone was stopped, in a run that went on.
    var stopError: LuaError?

    /// True when it can go on without meeting a cancellation at a wait.
    var mayCompute: Bool {
        if case .nothing = wait { return hasStarted }
        return false
    }

    /// True when the host's cancellations are not meant for it. In a session they are for the latest call and what it spawned.
    var isBystander: Bool {
        guard let session = run.session else { return false }
        return call != session.latestCall
    }

    /// What it gets when it is cancelled.
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

/// A task that waits for several others at once.
final class AllWait {
    let caller: ScriptTask
    let members: [ScriptTask]
    var remaining = 0
    /// The first member that failed: its error is the error of the whole.
    var root: ScriptTask?
    var isCancelled = false
    var isReleased = false

    init(caller: ScriptTask, members: [ScriptTask]) {
        self.caller = caller
        self.members = members
    }
}
