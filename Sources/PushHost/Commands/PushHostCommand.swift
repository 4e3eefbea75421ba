import ArgumentParser
package import Bindings
import Glibc
package import PushModel
import PushRuntime

/// Entry point for programs built on PushHost.
package enum PushHostEntry {
    /// Runs the command that the process's arguments name. Ends the process if the exit code is not 0.
    package static func run(_ extensions: NativeExtensions) async { await PushHostCommand.main(extensions) }

    /// Reports an error in how the program was put together and ends the process.
    package static func refuse(_ error: PushError) -> Never {
        UsageError(arguments: ProgramArguments.current, error: error).printAndExit()
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

            Exit codes: 0 success · 1 failure · 2 usage · 4 server or target error; docs/reference/exit-codes.md lists all.
            """,
        version: Release.version,
        groupedSubcommands: [
            CommandGroup(
                name: "Flow",
                subcommands: [
                    InitCommand.self, RunCommand.self, TestCommand.self, CheckCommand.self, ReplCommand.self, ExplainCommand.self,
                    ReferenceCommand.self, VersionCommand.self,
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
                    ServeCommand.self, StatusCommand.self, DoctorCommand.self, SimulateCommand.self, HubCommand.self, KeyCommand.self,
                    UserCommand.self,
                    AuditCommand.self,
                ]),
        ])

    /// Parses the arguments and runs the command. Exits with 2 if the command line is invalid.
    static func main(_ extensions: NativeExtensions) async {
        await ExplainCommand.$extensions.withValue(extensions) {
            await ValidationRecord.$current.withValue(ValidationRecord()) { await runCommand(extensions) }
        }
    }

    private static func runCommand(_ extensions: NativeExtensions) async {
        Output.reserveStandardDescriptors()
        Signals.restoreDefaultQuit()
        let arguments = ProgramArguments.current
        var parsed = arguments
        do {
            try UsageError.checkCommand(arguments)
            parsed = try CommandLineSplit.rearranged(arguments)
            var command = try parseAsRoot(parsed)
            if let command = command as? any ProgramCommand {
                try await command.run(in: HostProgram(extensions))
            } else if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let error as PushError {
            UsageError(arguments: arguments, error: error).printAndExit()
        } catch {
            guard exitCode(for: error) == .validationFailure else { exit(withError: error) }
            UsageError(arguments: arguments, error: usageError(error, parsed)).printAndExit()
        }
    }

    /// The argument parser's error in the form of all other errors: what the command's validation reported, or the mistake in the
    /// command line. The parser's own text is used if neither explains it.
    private static func usageError(_ error: any Error, _ arguments: [String]) -> PushError {
        let mistake = CommandLineMistake(arguments)
        var found = ValidationRecord.current?.error ?? mistake.error ?? PushError("usage.command", Self.message(for: error))
        found.hint = found.hint ?? "see \(mistake.help)"
        return found
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
