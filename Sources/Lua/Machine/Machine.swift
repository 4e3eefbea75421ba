import CLua
import Synchronization

/// The implementation of a ``LuaState``: the C state and the runs in it.
// @unchecked: confined to the state's LuaThread; `LuaState` and the operations that it starts use it only from there.
final class Machine: @unchecked Sendable {
    /// A host function, referred to by its number in a Lua closure.
    enum Function: Sendable {
        case sync(name: String, @Sendable (LuaCall) throws -> [LuaValue])
        case async(name: String, @Sendable (LuaCall) async throws -> [LuaValue])
        case check(@Sendable (String, LuaCall) throws -> Void)
        /// Works directly on the Lua stack. Returns the number of results or one of the codes of `clua.h`.
        case builtin(@Sendable (Machine, OpaquePointer) throws -> Int32)
    }

    let thread: LuaThread
    let limits: LuaLimits
    let context: UnsafeMutablePointer<clua_context>
    let lua: OpaquePointer
    let bin = DiscardedReferences()
    let table: RunTable
    let searchPath: LuaSearchPath?
    let library: LuaLibrary
    /// The account of a state for one run: it limits Lua's memory together with the memory that the host uses for the run.
    private let account: RunAccount?
    /// The memory last reported to the account.
    private var reportedMemory = 0

    var functions = Machine.loader
    /// Object types by name: registry references of the metatable and the method table.
    var objectTypes: [String: (metatable: Int32, methods: Int32)] = [:]
    var taskMetatable = clua_noref()

    var runs: [LuaRunID: Run] = [:]
    var turns = Queue<Run>()
    var current: ScriptTask?
    var isPumping = false
    var isPumpScheduled = false
    var isClosed = false

    var lastOperation = 0
    /// The cost of the value last read from a stack; see `readingLimit`.
    var lastReadingCost = 0
    /// Number of values pushed so far.
    var pushedValues = 0
    /// Tasks that wait for an operation, by its serial number.
    var waiting: [Int: ScriptTask] = [:]
    /// The operation being started, and its result if it ended immediately.
    var starting = 0
    var immediateResult: Result<Answer, any Error>?

    /// The typed functions of the state, with the objects that their signatures point to.
    var typed: [(signature: UnsafeMutablePointer<clua_signature>, function: TypedFunction, box: AnyObject)] = []
    /// Results without a schema of the call in progress.
    var resultValues: [LuaValue] = []

    /// The chunk name of the latest call, cached to avoid creating an equal string again.
    var lastChunk = ""

    init(
        thread: LuaThread, limits: LuaLimits, seed: UInt64, absent: [String: String], searchPath: LuaSearchPath?,
        library: LuaLibrary, table: RunTable, account: RunAccount?
    ) throws {
        self.account = account
        self.thread = thread
        self.limits = limits
        self.table = table
        self.searchPath = searchPath
        self.library = library
        context = clua_context_new(limits.memory, Int64(bitPattern: seed))
        context.pointee.is_standard = library == .standard
        guard let lua = clua_state_new(context) else {
            clua_context_free(context)
            throw LuaError.memoryBudget(limits.memory)
        }
        self.lua = lua
        context.pointee.host = Unmanaged.passUnretained(self).toOpaque()
        context.pointee.dispatch = dispatchFromLua
        context.pointee.release = releaseFromLua
        context.pointee.push_value = pushValueFromLua
        installHints(absent)
    }

    /// Ends the state. Operations that are still in progress find it closed.
    func close() {
        endState()
        clua_context_free(context)
        freeSignatures()
    }

    func endState() {
        guard !isClosed else { return }
        isClosed = true
        clua_state_close(lua)
        if let account { _ = account.memoryLimit(forLua: 0, before: reportedMemory) }
        reportedMemory = 0
    }

    /// Sets Lua's memory limit to what the host leaves of the budget. Call it before Lua continues after host work.
    func shareMemory() {
        guard let account else { return }
        let used = context.pointee.used
        context.pointee.limit = account.memoryLimit(forLua: used, before: reportedMemory)
        reportedMemory = used
    }

    /// Frees the registry references that the host has discarded.
    func freeDiscardedReferences() {
        guard !isClosed else { return }
        for reference in bin.empty() {
            luaL_unref(lua, clua_registryindex(), reference)
        }
    }
}

/// The cancel flags of a state's runs; any thread may use them.
final class RunTable: Sendable {
    fileprivate let controls = Mutex<[LuaRunID: RunControl]>([:])

    func add(_ id: LuaRunID, _ control: RunControl) -> Bool {
        controls.withLock { table in
            if table[id] != nil { return false }
            table[id] = control
            return true
        }
    }

    func remove(_ id: LuaRunID) {
        controls.withLock { $0[id] = nil }
    }

    /// Sets the cancel flag of a run. Returns false if there is no such run.
    func cancel(_ id: LuaRunID) -> Bool {
        guard let control = controls.withLock({ $0[id] }) else { return false }
        control.cancel()
        return true
    }
}

// MARK: For tests of the machine

extension RunTable {
    func contains(_ id: LuaRunID) -> Bool { controls.withLock { $0[id] != nil } }
}

extension Machine {
    /// Number of Swift frames called from Lua that were entered and left. The two differ if Lua ever jumped over a frame.
    var framesEntered: Int { Int(context.pointee.frames_entered) }
    var framesLeft: Int { Int(context.pointee.frames_left) }

    /// Makes an allocation of Lua code fail together with its retry, after `count` successful ones; with `onward`, all later ones too. 0
    /// disarms the fault.
    func armFault(after count: Int, onward: Bool = false) {
        context.pointee.fail_onward = onward ? 1 : 0
        context.pointee.fail_after = Int64(count)
    }

    func collect() {
        freeDiscardedReferences()
        clua_collect(lua)
        clua_collect(lua)
    }

    /// Number of registry entries in use.
    var registryCount: Int {
        var count = 0
        lua_pushnil(lua)
        while lua_next(lua, clua_registryindex()) != 0 {
            // Free slots of the reference list contain integers.
            if lua_type(lua, -1) != LUA_TNUMBER { count += 1 }
            clua_pop(lua, 1)
        }
        return count
    }
}
