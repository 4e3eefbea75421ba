import ArgumentParser
import Bindings
import Glibc
import PushModel
import PushRuntime

/// Entry point for programs built on PushHost.
package enum PushHostEntry {
    /// Runs the command that the process's arguments name. Ends the process if the exit code is not 0.
    package static func run(_ extensions: NativeExtensions) async { await PushHostCommand.main(extensions) }

    /// Reports an error in how the program was put together and ends the process.
    package static func refuse(_ error: PushError) -> Never {
        UsageError(arguments: ProgramArguments.current, error: error).tell()
    }
}

struct PushHostCommand: AsyncParsableCommand {

    static let configuration = CommandConfiguration(
        commandName: "pushhost",
        abstract: "Run and test push-notification flows written in Lua, and serve a hub compatible with Azure Notification Hubs.",
        discussion: """
            Examples:
              pushhost init my-flows             create a project
              pushhost run scripts/welcome.lua   run a flow on simulated phones
              pushhost serve --lab               serve a hub with simulated services
              pushhost send "Hello" --to sports  send to the devices with a tag
            """,
        version: Release.version,
        groupedSubcommands: [
            CommandGroup(
                name: "Flow",
                subcommands: [
                    InitCommand.self, RunCommand.self, TestCommand.self, CheckCommand.self, ReplCommand.self, ExplainCommand.self,
                ]),
            CommandGroup(
                name: "Sending",
                subcommands: [
                    SendCommand.self, PlanCommand.self, ApprovalsCommand.self, NotificationCommand.self, TraceCommand.self,
                ]),
            CommandGroup(name: "Device", subcommands: [DevicesCommand.self, TagsCommand.self, PrunedCommand.self, APNsCommand.self]),
            CommandGroup(
                name: "Automation", subcommands: [FlowsCommand.self, RunsCommand.self, ScheduleCommand.self, PluginCommand.self]),
            CommandGroup(
                name: "Server",
                subcommands: [
                    ServeCommand.self, DoctorCommand.self, SimulateCommand.self, HubCommand.self, KeyCommand.self, UserCommand.self,
                    AuditCommand.self, ReferenceCommand.self,
                ]),
        ])

    /// Parses the arguments and runs the command. Exits with 2 if the command line is invalid.
    static func main(_ extensions: NativeExtensions) async {
        await ExplainCommand.$extensions.withValue(extensions) { await runCommand(extensions) }
    }

    private static func runCommand(_ extensions: NativeExtensions) async {
        Output.reserveStandardDescriptors()
        Signals.restoreDefaultQuit()
        let arguments = ProgramArguments.current
        do {
            try UsageError.checkCommand(arguments)
            var command = try parseAsRoot(CommandLineSplit.rearranged(arguments))
            if let command = command as? any ProgramCommand {
                try await command.run(in: HostProgram(extensions))
            } else if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let error as PushError {
            UsageError(arguments: arguments, error: error).tell()
        } catch {
            guard exitCode(for: error) == .validationFailure else { exit(withError: error) }
            UsageError(arguments: arguments, error: usageError(error)).tell()
        }
    }

    /// The argument parser's error in the form of all other errors, with the command's help as the hint.
    private static func usageError(_ error: any Error) -> PushError {
        let text = Self.message(for: error)
        // The parser's own messages begin with a capital letter.
        let isSentence = text.dropFirst().first?.isLowercase == true
        let help = fullMessage(for: error).firstMatch(of: /See '(.+)' for more information/)?.1
        return PushError(
            "usage.command", isSentence ? text.prefix(1).lowercased() + text.dropFirst() : text,
            hint: "see \(help.map(String.init) ?? "pushhost --help")")
    }
}

extension Output {
    /// Prints the message and exits with 2.
    func fail(_ message: String) -> Never {
        line(message)
        _ = finish()
        Glibc.exit(ExitStatus.usage)
    }
}
