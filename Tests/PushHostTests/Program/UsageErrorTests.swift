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
}
