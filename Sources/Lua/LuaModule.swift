/// A named part of the host that scripts can `require`.
public struct LuaModule: Sendable {
    /// The name to `require`.
    public var name: String
    /// The functions. Without a prelude they are the module's fields, under the part of their name after the last dot.
    public var functions: [LuaFunction]
    /// The types of the objects that the functions give out.
    public var types: [LuaObjectType]
    /// Functions installed as globals under their full names, such as `print` or `os.time`.
    public var globals: [LuaFunction]
    /// Trusted Lua that builds the module. It is called with one table, `host`; what it returns is the module.
    /// It cannot wait, and no CPU budget stops it: ``LuaState/define(_:)`` takes as long as it does.
    ///
    /// `host.functions["push.send"]` are the functions by full name and `host.types.device` the method tables by type
    /// name. `host.traced(f, ...)` is a `pcall` that may wait and that remembers where an error was raised.
    /// `host.spawn(f, ...)`, `host.spawn_daemon(f, ...)` and `host.all{...}` start tasks, `host.raise{...}` raises a
    /// structured error and `host.is_error(value)` tells one. `host.list(table)` marks a table as a list (see ``LuaTable/isList``)
    /// and returns it, nil where it has a metatable; `host.is_list(value)` tells one.
    public var prelude: LuaScript?
    /// What goes on from the prelude, in order: called with the same table and what the one before has returned. What the last
    /// one returns is the module.
    package var laterPreludes: [LuaScript] = []

    /// A module.
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
    /// The name shown in errors, for example `scripts/a.lua`. A name beginning with `=[` marks a chunk of the host,
    /// which errors and tracebacks pass over.
    public var name: String
    /// The source. A byte order mark and a first line beginning with `#!` are skipped.
    public var source: [UInt8]

    /// A script of these bytes.
    public init(name: String, source: [UInt8]) {
        self.name = name
        self.source = source
    }

    /// A script of this text.
    public init(name: String, source: String) {
        self.init(name: name, source: Array(source.utf8))
    }

    /// The name in Lua's notation.
    var chunkName: String {
        name.hasPrefix("=") || name.hasPrefix("@") ? name : "@" + name
    }

    /// The name without Lua's notation.
    var path: String { name.hasPrefix("=") || name.hasPrefix("@") ? String(name.dropFirst()) : name }

    /// The source without what Lua does not accept; line numbers stay.
    var compilable: ArraySlice<UInt8> {
        var text = source[...]
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
        if text.first == UInt8(ascii: "#") { text = text.drop { $0 != UInt8(ascii: "\n") } }
        return text
    }
}

/// The budgets of a state and of its runs. One below zero is the same as zero; none of them stands for "no limit".
public struct LuaLimits: Sendable {
    /// Bytes that the state may use, all runs together. Zero: making a state throws `budget.memory`.
    public var memory: Int = 64 << 20
    /// CPU time of one run. Zero: the run ends with the first tick of 5 ms that it uses.
    public var cpu: Duration = .seconds(10)
    /// Real time of one run, waiting included. `nil`: no limit. Zero: the run ends at once.
    public var wall: Duration?
    /// Spawned tasks of one run that live at the same time. Zero: none can be spawned.
    public var tasks: Int = 10_000

    /// Instructions of the interpreter that one run may execute, and about as much work in the library's functions. `nil`:
    /// no limit. They are counted in steps of a hundred; zero: the run ends with the first step.
    ///
    /// The same script stops at the same place in every process, which CPU time cannot promise. That is not for free: every
    /// instruction takes the interpreter's slow path, two to three times the time. What takes long without many instructions, such
    /// as joining long texts in memory, is charged roughly; so set `cpu` too. A script that goes over the budget ends with
    /// the error `budget.instructions`.
    public var instructions: Int?

    /// The usual budgets.
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

    /// The same, with zero for what is below it.
    var clamped: LuaLimits {
        LuaLimits(
            memory: max(memory, 0), cpu: max(cpu, .zero), wall: wall.map { max($0, .zero) }, tasks: max(tasks, 0),
            instructions: instructions.map { max($0, 0) })
    }

    /// The instruction budget as the machine has it: 0 stands for none.
    var fuel: Int64 { instructions.map { Int64(max($0, 1)) } ?? 0 }
}
