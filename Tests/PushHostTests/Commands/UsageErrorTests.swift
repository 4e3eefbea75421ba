import ArgumentParser
import PushModel
import Testing

@testable import PushHost

@Suite struct UsageErrorTests {
    @Test func `a mistake in a command with a JSON result is reported as JSON if that is asked for`() {
        let withoutResult: Set = ["init", "repl", "explain", "serve", "simulate", "reference"]
        let commands = PushHostCommand.configuration.subcommands.compactMap { $0.configuration.commandName }
        #expect(commands.contains("apns") && withoutResult.isSubset(of: commands))
        for command in commands {
            let error = PushError("usage.option", "unknown option \"--x\"")
            #expect(
                UsageError(arguments: [command, "--x", "--json"], error: error).isJSON == !withoutResult.contains(command), "\(command)")
            #expect(!UsageError(arguments: [command, "--x"], error: error).isJSON, "\(command)")
            #expect(!UsageError(arguments: [command, "--", "--json"], error: error).isJSON, "\(command)")
        }
    }

    @Test(
        arguments: [
            (["run"], "usage.argument", "missing argument FILE"),
            (["run", "--sedd"], "usage.command", "unknown option \"--sedd\"; did you mean \"--seed\"?"),
            (["run", "a.lua", "--seed=abc"], "usage.value", "--seed: invalid value \"abc\"; expected a whole number from 0"),
            (["run", "a.lua", "--cpu-limit=fast"], "usage.value", "--cpu-limit: invalid duration \"fast\""),
            (["run", "a.lua", "--wire=networ"], "usage.value", "--wire: unknown value \"networ\"; did you mean \"network\"?"),
            (["plan", "hi", "--to"], "usage.argument", "--to: the value is missing"),
            (["plan", "hi", "--to", "--broadcast"], "usage.argument", "--to: the value is missing"),
            (["runs", "list", "--top", "-1"], "usage.argument", "--top: the value is missing; \"-1\" looks like an option"),
            (["runs", "list", "--top=-1"], "usage.value", "--top: invalid value \"-1\"; expected a whole number from 1"),
            (["runs", "list", "--top", "--"], "usage.argument", "--top: the value is missing"),
            (["hub", "creat", "x"], "usage.command", "unknown command \"hub creat\"; did you mean \"hub create\"?"),
            (["notification", "lsit"], "usage.command", "unknown command \"notification lsit\"; did you mean \"notification list\"?"),
            (["simulate", "pns"], "usage.command", "unknown command \"simulate pns\"; did you mean \"simulate apns\"?"),
            (["hub", "--all"], "usage.command", "unknown option \"--all\""),
            (["hub", "show", "a", "b"], "usage.argument", "unexpected argument \"b\""),
            (["reference", "pages"], "usage.value", "unknown page \"pages\""),
            (["key", "create", "ci"], "usage.argument", "missing option --rights"),
            (["key", "rotate", "ci"], "usage.argument", "missing option --primary or --secondary"),
            (["key", "rotate", "ci", "--primary", "--secondary"], "usage.value", "--primary and --secondary cannot be combined"),
            (["hub", "list", "--json=yes"], "usage.argument", "--json takes no value, got \"yes\""),
            (
                ["simulate", "apns", "--control-port", "x"], "usage.value",
                "--control-port: invalid value \"x\"; expected a port from 0 to 65535"
            ),
        ])
    func `a command line that the parser rejects has its mistake in the form of other errors`(
        arguments: [String], code: String, message: String
    ) {
        let error = CommandLineMistake(arguments).error
        #expect(error?.code == code)
        #expect(error?.message == message)
    }

    @Test func `a value that looks like an option gets the spelling that is read as a value`() {
        #expect(CommandLineMistake(["runs", "list", "--top", "-1"]).error?.hint == "write --top=-1")
        #expect(CommandLineMistake(["plan", "hi", "--to", "--brodcast"]).error?.hint == "write --to=--brodcast")
    }

    @Test(arguments: [["run", "a.lua", "--seed", "7", "--", "--anything", "x"], ["plan", "make", "hi", "--to", "news"], ["hub", "list"]])
    func `a valid command line has no mistake`(arguments: [String]) {
        #expect(CommandLineMistake(arguments).error == nil)
    }

    @Test(
        arguments: [
            (["help", "frob"], "unknown command \"frob\""),
            (["help", "hub", "creat"], "unknown command \"hub creat\"; did you mean \"hub create\"?"),
            (["sned", "x"], "unknown command \"sned\"; did you mean \"send\"?"),
        ])
    func `a word that is not a command is rejected, also after help`(arguments: [String], message: String) {
        #expect(throws: PushError.self) { try UsageError.checkCommand(arguments) }
        do throws(PushError) { try UsageError.checkCommand(arguments) } catch { #expect(error.message == message) }
    }

    @Test(arguments: [["help"], ["help", "hub", "create"], ["hub", "create"], ["--version"], []])
    func `commands and their help are accepted`(arguments: [String]) throws {
        try UsageError.checkCommand(arguments)
    }

    @Test func `no option's value has the name of the option, and every command is listed`() {
        func check(_ command: any ParsableCommand.Type, _ path: String) {
            #expect(command.configuration.shouldDisplay, "\(path)")
            for option in CommandDescription(command).options where option.parsing != .flag && !option.isHidden {
                #expect(!option.names.contains("--\(option.valueName)"), "\(path) \(option.name)")
            }
            for next in command.configuration.subcommands { check(next, "\(path) \(next.configuration.commandName ?? "")") }
        }
        check(PushHostCommand.self, "pushhost")
    }

    @Test func `help states a default and the valid values in brackets after the last sentence`() throws {
        func check(_ command: any ParsableCommand.Type) throws {
            let document = try JSON(parsing: command._dumpHelp())
            for argument in document["command"]?["arguments"]?.array ?? [] {
                let text = argument["abstract"]?.string ?? ""
                #expect(!text.contains("; default") && !text.contains("default is"), "\(text)")
                let sentences = text.replacing(/\s\((?:default|values): .*\)$/, with: "")
                #expect(sentences.isEmpty || sentences.hasSuffix("."), "\(text)")
                #expect(!sentences.contains("(default:") && !sentences.contains("(values:"), "\(text)")
            }
            for next in command.configuration.subcommands { try check(next) }
        }
        try check(PushHostCommand.self)
    }

    @Test func `options that commands share are listed where each command has them`() {
        let send = CommandDescription(SendCommand.self)
        #expect(send.arguments.map(\.name) == ["TEXT"])
        #expect(
            send.options.prefix(8).map(\.name)
                == ["--to", "--broadcast", "--channel", "--plan", "--tolerance", "--message", "--native", "--at"])
        let plan = CommandDescription(PlanMakeCommand.self)
        #expect(plan.arguments.map(\.name) == ["TEXT"])
        #expect(plan.options.prefix(5).map(\.name) == ["--to", "--broadcast", "--message", "--native", "--all"])
    }

    @Test func `what a command's validation reports keeps its code and hint`() {
        let record = ValidationRecord()
        ValidationRecord.$current.withValue(record) {
            _ = try? PushHostCommand.parseAsRoot(["pruned", "list", "--since", "yesterday"])
        }
        #expect(record.error?.code == "usage.value")
        #expect(record.error?.message == "--since: invalid time \"yesterday\"")
        #expect(record.error?.hint == "write 2026-01-31T12:00:00Z")
    }
}
