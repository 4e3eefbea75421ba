import CLua
import Synchronization

/// The inside of a ``LuaState``: a Lua state and the runs in it.
// @unchecked: confined to the state's LuaThread; `LuaState` and the operations it starts reach it only from there.
final class Machine: @unchecked Sendable {
    /// What a number in a Lua closure stands for.
    enum Function: Sendable {
        case sync(name: String, @Sendable (LuaCall) throws -> [LuaValue])
        case async(name: String, @Sendable (LuaCall) async throws -> [LuaValue])
        case check(@Sendable (String, LuaCall) throws -> Void)
        /// Works on the Lua stack itself: answers a count of results or one of the codes of `clua.h`.
        case builtin(@Sendable (Machine, OpaquePointer) throws -> Int32)
    }

    let thread: LuaThread
    let limits: LuaLimits
    let context: UnsafeMutablePointer<clua_context>
    let lua: OpaquePointer
    let bin = ReferenceBin()
    let table: RunTable
    let searchPath: LuaSearchPath?
    let library: LuaLibrary
    /// Where all runs of the state are one: its memory is charged to it together with what the host stores for it.
    private let account: RunAccount?
    /// What the account was told last.
    private var reportedMemory = 0

    var functions = Machine.loader
    /// Registry references of the metatables of object types, and their descriptions.
    var objectTypes: [String: (metatable: Int32, methods: Int32)] = [:]
    var taskMetatable = clua_noref()

    var runs: [LuaRunID: Run] = [:]
    var turns = Queue<Run>()
    var current: ScriptTask?
    var isPumping = false
    var isPumpScheduled = false
    var isClosed = false

    var lastOperation = 0
    /// What the latest value read from a stack cost, see `readingLimit`.
    var lastReadingCost = 0
    /// How many values were pushed so far.
    var pushedValues = 0
    /// Tasks that wait for an operation, by its serial number.
    var waiting: [Int: ScriptTask] = [:]
    /// The operation that is being started, and its result if it ended at once.
    var starting = 0
    var immediateResult: Result<Answer, any Error>?

    /// The typed functions of the state, and what they live on.
    var typed: [(signature: UnsafeMutablePointer<clua_signature>, function: TypedFunction, box: AnyObject)] = []
    /// The values without a schema among the results of the call under way.
    var resultValues: [LuaValue] = []

    /// The name of the chunk that called last, to save making the same string again.
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

    /// Ends the state. Operations that are still under way find it closed.
    func close() {
        endState()
        clua_context_free(context)
        freeSignatures()
    }

    func endState() {
        guard !isClosed else { return }
        isClosed = true
        clua_state_close(lua)
        if let account { _ = account.room(forLua: 0, before: reportedMemory) }
        reportedMemory = 0
    }

    /// Lets Lua have what the host leaves of the memory. To be called before Lua goes on after work of the host.
    func shareMemory() {
        guard let account else { return }
        let used = context.pointee.used
        context.pointee.limit = account.room(forLua: used, before: reportedMemory)
        reportedMemory = used
    }

    /// Frees what references of the host no longer hold.
    func emptyBin() {
        guard !isClosed else { return }
        for reference in bin.empty() {
            luaL_unref(lua, clua_registryindex(), reference)
        }
    }
}

/// The cancel flags of the runs of a state, for all threads.
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

    /// Sets the flag; false: there is no such run.
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
    /// Swift frames below Lua: how often one was entered, and left. They differ if Lua ever jumped over one.
    var framesEntered: Int { Int(context.pointee.frames_entered) }
    var framesLeft: Int { Int(context.pointee.frames_left) }

    /// Lets an allocation of Lua code fail, and its retry: the one after so many others. Or all from that one on.
    /// 0: none any more.
    func armFault(after count: Int, onward: Bool = false) {
        context.pointee.fail_onward = onward ? 1 : 0
        context.pointee.fail_after = Int64(count)
    }

    func collect() {
        emptyBin()
        clua_collect(lua)
        clua_collect(lua)
    }

    /// How many entries the registry has in use.
    var registryCount: Int {
        var count = 0
        lua_pushnil(lua)
        while lua_next(lua, clua_registryindex()) != 0 {
            // Free slots of the reference list hold integers.
            if lua_type(lua, -1) != LUA_TNUMBER { count += 1 }
            clua_pop(lua, 1)
        }
        return count
    }
}
