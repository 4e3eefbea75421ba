/// A named part of the host that scripts load with `require`.
public struct LuaModule: Sendable {
    /// The name passed to `require`.
    public var name: String
    /// The functions. Without a prelude they are the module's fields, each named by the part after its last dot.
    public var functions: [LuaFunction]
    /// The types of the objects that the functions return.
    public var types: [LuaObjectType]
    /// Functions installed as globals under their full names, such as `print` or `os.time`.
    public var globals: [LuaFunction]
    /// Trusted Lua code that builds the module. It is called with one table, `host`; its return value is the module. It cannot wait, and no
    /// CPU budget stops it: ``LuaState/define(_:)`` lasts as long as the prelude does.
    ///
    /// - `host.functions["push.send"]`: the functions, by full name.
    /// - `host.types.device`: the method tables, by type name.
    /// - `host.traced(f, ...)`: a `pcall` that may wait and that records where an error was raised.
    /// - `host.spawn(f, ...)`, `host.spawn_daemon(f, ...)`, `host.all{...}`: start tasks.
    /// - `host.raise{...}`: raises a structured error; `host.is_error(value)` tests for one.
    /// - `host.list(table)`: marks a table as a list (see ``LuaTable/isList``) and returns it, or nil if it has a metatable;
    ///   `host.is_list(value)` tests for the mark.
    public var prelude: LuaScript?
    /// Further preludes, run in order after the first. Each is called with `host` and the previous one's result. The last result is the
    /// module.
    package var laterPreludes: [LuaScript] = []

    /// Makes a module.
    public init(
        name: String,
        functions: [LuaFunction] = [],
        types: [LuaObjectType] = [],
        globals: [LuaFunction] = [],
        prelude: LuaScript? = nil
    ) {
        self.name = name
        self.functions = functions
        self.types = types
        self.globals = globals
        self.prelude = prelude
    }
}

/// The text of a script.
public struct LuaScript: Sendable {
    /// The name shown in errors, for example `scripts/a.lua`. A name that begins with `=[` marks a chunk of the host, which errors and
    /// tracebacks skip.
    public var name: String
    /// The source. A byte order mark and a first line beginning with `#!` are skipped.
    public var source: [UInt8]

    /// Makes a script from bytes.
    public init(name: String, source: [UInt8]) {
        self.name = name
        self.source = source
    }

    /// Makes a script from text.
    public init(name: String, source: String) {
        self.init(name: name, source: Array(source.utf8))
    }

    /// The name in Lua's notation.
    var chunkName: String {
        name.hasPrefix("=") || name.hasPrefix("@") ? name : "@" + name
    }

    /// The name without Lua's notation.
    var path: String { name.hasPrefix("=") || name.hasPrefix("@") ? String(name.dropFirst()) : name }

    /// The source without the byte order mark and the `#!` line, which Lua rejects. Line numbers do not change.
    var compilable: ArraySlice<UInt8> {
        var text = source[...]
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
        if text.first == UInt8(ascii: "#") { text = text.drop { $0 != UInt8(ascii: "\n") } }
        return text
    }
}

/// The budgets of a state and of its runs. A negative budget counts as zero; zero never means "no limit".
public struct LuaLimits: Sendable {
    /// Bytes that all runs of the state may use together. Zero: creating a state throws `budget.memory`.
    public var memory: Int = 64 << 20
    /// CPU time of one run. Zero: the run ends at its first 5 ms tick.
    public var cpu: Duration = .seconds(10)
    /// Real time of one run, including waits. `nil`: no limit. Zero: the run ends at once.
    public var wall: Duration?
    /// Spawned tasks that one run may have alive at the same time. Zero: spawning fails.
    public var tasks: Int = 10_000

    /// Interpreter instructions that one run may execute, plus comparable work in library functions. `nil`: no limit. Counted in steps of
    /// 100; zero: the run ends at the first step.
    ///
    /// Unlike CPU time, this budget stops the same script at the same instruction in every process. The cost: the interpreter takes its
    /// slow path for every instruction, which makes it two to three times slower. Work that takes long in few instructions, such as joining
    /// long strings, is charged only roughly; so set `cpu` too. A script that exceeds the budget ends with the error `budget.instructions`.
    public var instructions: Int?

    /// Makes limits; the defaults are the usual budgets.
    public init(
        memory: Int = 64 << 20, cpu: Duration = .seconds(10), wall: Duration? = nil, tasks: Int = 10_000,
        instructions: Int? = nil
    ) {
        self.memory = memory
        self.cpu = cpu
        self.wall = wall
        self.tasks = tasks
        self.instructions = instructions
    }

    /// The limits with negative values replaced by zero.
    var clamped: LuaLimits {
        LuaLimits(
            memory: max(memory, 0), cpu: max(cpu, .zero), wall: wall.map { max($0, .zero) }, tasks: max(tasks, 0),
            instructions: instructions.map { max($0, 0) })
    }

    /// The instruction budget in the form that C expects: 0 means no budget.
    var fuel: Int64 { instructions.map { Int64(max($0, 1)) } ?? 0 }
}
