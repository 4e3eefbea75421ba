import Glibc
import Testing

@testable import Lua

@Suite struct ModuleTests {
    private func bench(_ files: [String: String]) async throws -> (bench: Bench, folder: Folder) {
        let folder = try Folder(files.mapValues { "local t = require 't'; " + $0 })
        return (try await Bench(searchPath: .folders(["\(folder.path)/lib", folder.path]), folder: folder), folder)
    }

    private func failure(of source: String, _ files: [String: String]) async throws -> LuaError {
        let (bench, folder) = try await bench(files)
        var error = try await bench.failure(of: source)
        error.message = error.message.replacing(folder.path, with: "F")
        error.location?.chunk.replace(folder.path, with: "F")
        error.traceback = error.traceback.map { SourceLocation(chunk: $0.chunk.replacing(folder.path, with: "F"), line: $0.line) }
        #expect(try await bench.run("return 1 + 1") == [.integer(2)])
        let left = await bench.state.inspect { $0.framesEntered == $0.framesLeft && $0.runs.isEmpty && $0.waiting.isEmpty }
        #expect(left)
        return error
    }

    // MARK: Refused modules

    @Test(arguments: [
        ("''", "it has an empty part"), ("'.'", "it has an empty part"), ("'..'", "it has an empty part"),
        ("'a..b'", "it has an empty part"), ("'a.'", "it has an empty part"), ("'../secret'", "it has an empty part"),
        ("'/etc/passwd'", "it has a '/'; parts are separated by dots"), ("'a/b'", "it has a '/'; parts are separated by dots"),
        ("'a\\\\b'", "it has a '\\'; parts are separated by dots"), ("'a\\0b'", "it has a control character"),
        ("'a\\nb'", "it has a control character"), ("('a'):rep(201)", "it has more than 200 bytes"), ("'\\xff'", "it is not UTF-8"),
    ])
    func `a module name cannot leave the folders`(name: String, why: String) async throws {
        let error = try await failure(of: "\nrequire(\(name))", ["a.lua": "return 1", "a/b.lua": "return 2"])
        #expect(error.code == "script.module_name")
        #expect(error.message.hasSuffix(why))
        #expect(error.location == SourceLocation(chunk: "a.lua", line: 2))
    }

    @Test func `links may point inside of their folder only, and only regular files are read`() async throws {
        let (bench, folder) = try await bench(["lib/a.lua": "return 'a'", "secret.lua": "return 'secret'", "d.lua/x.lua": ""])
        symlink("a.lua", "\(folder.path)/lib/inside.lua")
        symlink("../secret.lua", "\(folder.path)/lib/outside.lua")
        symlink("/etc", "\(folder.path)/etc")
        symlink("/etc/passwd", "\(folder.path)/lib/p.lua")
        symlink("loop.lua", "\(folder.path)/lib/loop.lua")
        mkfifo("\(folder.path)/lib/fifo.lua", 0o600)
        symlink("/dev/zero", "\(folder.path)/lib/zero.lua")
        #expect(try await bench.run("return (require 'inside')") == [.string("a")])
        #expect(try await bench.failure(of: "require 'fifo'").message.hasSuffix("lib/fifo.lua cannot be read: it is not a regular file"))
        for name in ["outside", "p", "zero"] {
            let error = try await bench.failure(of: "require '\(name)'")
            #expect(error.code == "script.module_unreadable")
            #expect(error.message == "\(folder.path)/lib/\(name).lua is a link that leads out of \(folder.path)/lib")
        }
        #expect(try await bench.failure(of: "require 'loop'").code == "script.module_unreadable")
        #expect(try await bench.failure(of: "require 'd'").code == "script.module_unreadable")
        #expect(try await bench.failure(of: "require 'etc.passwd'").code == "script.unknown_module")
    }

    @Test func `a link to a file that is not a Lua file is not read`() async throws {
        let (bench, folder) = try await bench(["lib/a.lua": "return 'a'"])
        try folder.write("lib/secret.txt", "password: abc")
        symlink("secret.txt", "\(folder.path)/lib/text.lua")
        symlink("text.lua", "\(folder.path)/lib/twice.lua")
        for name in ["text", "twice"] {
            let error = try await bench.failure(of: "require '\(name)'")
            #expect(error.code == "script.module_unreadable")
            #expect(error.message == "\(folder.path)/lib/\(name).lua is a link to a file that is not a Lua file")
        }
        symlink("a.lua", "\(folder.path)/lib/b.lua")
        symlink("b.lua", "\(folder.path)/lib/c.lua")
        #expect(try await bench.run("return (require 'c')") == [.string("a")])
    }

    @Test func `modules are text of at most 4 MiB`() async throws {
        let (bench, folder) = try await bench([:])
        try folder.write("binary.lua", "\u{1B}Lua")
        try folder.write("large.lua", String(repeating: " ", count: (4 << 20) + 1))
        try folder.write("fits.lua", String(repeating: " ", count: 4 << 20))
        let bytecode = try await bench.failure(of: "\nrequire 'binary'")
        #expect(bytecode.code == "script.syntax")
        #expect(
            bytecode.message
                == "\(folder.path)/binary.lua is bytecode, which is not loaded: the module 'binary' must be the text of a script")
        #expect(bytecode.location == SourceLocation(chunk: "a.lua", line: 2))
        let error = try await bench.failure(of: "require 'large'")
        #expect(error.code == "script.module_unreadable")
        #expect(error.message == "\(folder.path)/large.lua has more than 4 MiB, the limit for a module")
        #expect(try await bench.run("return (require 'fits')") == [.boolean(true)])
    }

    @Test func `an unknown module is reported with the modules that exist, the places searched, and the nearest name`() async throws {
        let error = try await failure(of: "require 'lib.txet'", ["lib/text.lua": "", "b/c.lua": "", "z.txt": ""])
        #expect(error.code == "script.unknown_module")
        #expect(
            error.message
                == "unknown module 'lib.txet'; modules: b.c, lib.text, t, text; looked for F/lib/lib/txet.lua, F/lib/txet.lua, "
                + "and for init.lua in a folder of that name")
        #expect(error.hint == "did you mean 'lib.text'?")
    }

    @Test(arguments: [
        ("require 'a'", "a → a", ["a.lua": "require 'a'"]),
        ("require 'a'", "a → b → c → a", ["a.lua": "require 'b'", "b.lua": "require 'c'", "c.lua": "require 'a'"]),
        ("require 'x'", "a → b → a", ["x.lua": "require 'a'", "a.lua": "t.later() require 'b'", "b.lua": "t.later() require 'a'"]),
        // Two tasks, each loading a module that the other one needs.
        (
            "t.all { function() require 'a' end, function() require 'b' end }", "a → b → a",
            ["a.lua": "t.later() require 'b'", "b.lua": "t.later() t.later() require 'a'"]
        ),
    ])
    func `a cycle is reported with its chain`(source: String, chain: String, files: [String: String]) async throws {
        let error = try await failure(of: source, files)
        #expect(error.code == "script.module_cycle")
        #expect(error.message.hasSuffix("is required while it is being loaded: \(chain)"))
    }

    @Test func `a module that waits for a task that requires it is a deadlock`() async throws {
        let error = try await failure(of: "require 'a'", ["a.lua": "t.spawn(function() require 'a' end):await()"])
        #expect(error.code == "script.deadlock")
    }

    @Test(arguments: [
        ("\nerror('broken')", "script.error", "broken", 2), ("\n\nt.fail()", "hub.refused", "the hub said no", 3),
        ("t.later()\nt.later_fail()", "hub.refused", "the hub said no", 2), ("\nreturn +", "script.syntax", nil, 2),
        ("local c <close> = setmetatable({}, {__close = function()\nerror('in close') end})", "script.error", "in close", 2),
    ])
    func `a failing module has its own position in the error, and is loaded again next time`(
        module: String, code: String, message: String?, line: Int
    ) async throws {
        let source = "\nlocal ok, e = pcall(require, 'a') t.log('again') require 'a'"
        let error = try await failure(of: source, ["a.lua": module])
        #expect(error.code == code)
        if let message { #expect(error.message == message) }
        #expect(error.location == SourceLocation(chunk: "F/a.lua", line: line))
        if code != "script.syntax" { #expect(error.traceback.last == SourceLocation(chunk: "a.lua", line: 2)) }
    }

    // MARK: Loading

    @Test func `a folder with init_lua is a module after a file of that name, and its parts find each other`() async throws {
        let (bench, folder) = try await bench([
            "lib/words/init.lua": "local name, path = ... return { name = name, path = path, plural = require(name .. '.plural') }",
            "lib/words/plural.lua": "return (...)", "lib/both.lua": "return 'file'", "lib/both/init.lua": "return 'folder'",
            "far/init.lua": "return 'far'",
        ])
        let path = LuaValue.string("\(folder.path)/lib/words/init.lua")
        #expect(
            try await bench.run("local w = require 'words' return w.name, w.path, w.plural, (require 'both'), (require 'far')")
                == [.string("words"), path, .string("words.plural"), .string("file"), .string("far")])
        // Each folder is searched for both before the next folder.
        #expect(try await bench.run("return (require 'both.init')") == [.string("folder")])
        symlink("/etc", "\(folder.path)/lib/outside")
        symlink("/etc/passwd", "\(folder.path)/lib/words/p.lua")
        #expect(try await bench.failure(of: "require 'words.p'").code == "script.module_unreadable")
        let error = try await bench.failure(of: "require 'wrods'")
        #expect(error.hint == "did you mean 'words'?")
    }

    @Test func `a module runs once per run, in the run's own globals, with its name and path`() async throws {
        let (bench, folder) = try await bench([
            "lib/a.lua": "count = (count or 0) + 1 local name, path = ... return {name = name, path = path, seen = seen}", "n.lua": "",
            "f.lua": "return false",
        ])
        let source =
            "seen = 'yes' local a, p = require 'a' return a == require 'a', count, a.name, a.path, p, a.seen, require 'n', require 'f', (require 'f')"
        let path = LuaValue.string("\(folder.path)/lib/a.lua")
        let expected: [LuaValue] = [
            .boolean(true), .integer(1), .string("a"), path, path, .string("yes"), .boolean(true), .boolean(false), .boolean(false),
        ]
        // The second result is the path.
        #expect(try await bench.run(source + ", count") == expected + [.integer(1)])
        #expect(try await bench.run("return count, seen, require('a').seen") == [.nil, .nil, .nil])
    }

    @Test func `modules of the host come first, then the folders in order`() async throws {
        let (bench, _) = try await bench(["t.lua": "return 1", "lib/a.lua": "return 'lib'", "a.lua": "return 'root'"])
        #expect(try await bench.run("return type(require 't'), require 'a'").prefix(2) == [.string("table"), .string("lib")])
        let files = LuaSearchPath.lookup { $0 == "m" ? LuaScript(name: "m.lua", source: "return 'm'") : nil }
        let more = LuaSearchPath.lookup { name in
            if name == "bad" { throw Bench.refusal }
            return LuaScript(name: "o.lua", source: name == "odd" ? "\nerror 'x'" : "return '\(name) of o'")
        }
        let asked = try await Bench(searchPath: files + more)
        #expect(try await asked.run("return (require 'm'), (require 'n')") == [.string("m"), .string("n of o")])
        #expect(try await asked.failure(of: "require 'bad'").code == "hub.refused")
        #expect(try await asked.failure(of: "require 'odd'").location == SourceLocation(chunk: "o.lua", line: 2))
        #expect(try await asked.failure(of: "require 'a/b'").code == "script.module_name")
    }

    @Test func `a module may wait while it loads, and others wait for it`() async throws {
        let (bench, _) = try await bench(["a.lua": "t.log('loads') t.gate('g') return {}", "b.lua": "return require 'a'"])
        let results = try await bench.run(
            """
            local tasks = {}
            for i = 1, 3 do tasks[i] = t.spawn(function() return require(i == 2 and 'b' or 'a') end) end
            t.spawn(function() t.later() t.open 'g' end)
            local first = tasks[1]:await()
            return first == tasks[2]:await(), first == tasks[3]:await(), first == coroutine.wrap(function() return require('a') end)()
            """)
        #expect(results == [.boolean(true), .boolean(true), .boolean(true)])
        #expect(bench.log == ["loads"])
    }

    @Test func `when the loading task is cancelled or fails, a waiting task loads the module again`() async throws {
        for ending in ["first:cancel()", "t.open 'fail'"] {
            let (bench, _) = try await bench(["a.lua": "n = (n or 0) + 1 if n == 1 then t.gate 'fail' error 'x' end return n"])
            let results = try await bench.run(
                """
                local first = t.spawn(function() return pcall(require, 'a') end)
                local second = t.spawn(function() return (require 'a') end)
                t.later() \(ending)
                return second:await()
                """)
            #expect(results == [.integer(2)])
        }
    }

    @Test func `a waiting task can be cancelled, and waiting is refused where it is impossible`() async throws {
        let (bench, _) = try await bench(["a.lua": "t.gate 'g' return 'a'"])
        let results = try await bench.run(
            """
            local loading = t.spawn(function() return (require 'a') end)
            local waiting = t.spawn(function() return select(2, pcall(require, 'a')).code end)
            t.later() waiting:cancel()
            local code
            table.sort({2, 1}, function() code = select(2, pcall(require, 'a')).code return false end)
            t.open 'g'
            return waiting:await(), code, loading:await()
            """)
        #expect(results == [.string("cancelled"), .string("lua.cannot_wait"), .string("a")])
    }

    @Test func `a session keeps its modules, and a call that is stopped while loading does not block others`() async throws {
        let (bench, _) = try await bench(["a.lua": "n = (n or 0) + 1 if n == 1 then while true do end end return n"])
        let session = try await bench.state.openSession(id: bench.nextID(), limits: LuaLimits(cpu: .milliseconds(40))) { _ in }
        guard case .function(let load)? = try await bench.run("return function() return (require 'a') end").first else {
            throw Folder.Failure()
        }
        await #expect(throws: LuaError.self) { try await session.call(load) }
        for _ in 1...2 { #expect(try await session.call(load) == [.integer(2)]) }
        try await session.close()
    }
}
