import ArgumentParser
import Glibc
import PushCore

/// Where a program that is made of PushHost begins.
package enum PushHostEntry {
    /// Runs what the arguments of the process name. Ends the process where that is not done with 0.
    package static func run() async { await PushHostCommand.main() }

    /// Ends the process: it was put together in a way that cannot be.
    package static func refuse(_ error: PushError) -> Never {
        UsageRefusal(arguments: ProgramArguments.current, error: error).tell()
    }
}

struct PushHostCommand: AsyncParsableCommand {
    static let release = "0.1.0"

    static let configuration = CommandConfiguration(
        commandName: "pushhost",
        abstract: "Runs push-notification flows written in Lua, rehearsed on simulated phones.",
        version: release,
        subcommands: [
            RunCommand.self, TestCommand.self, ReplCommand.self, CheckCommand.self, InitCommand.self, ExplainCommand.self,
            ServeCommand.self, FlowsCommand.self, RunsCommand.self, ScheduleCommand.self, PluginCommand.self, HubCommand.self,
            KeyCommand.self, UserCommand.self, PlanCommand.self, SendCommand.self,
            NotificationCommand.self, TraceCommand.self,
            DevicesCommand.self, PrunedCommand.self, TagsCommand.self, AuditCommand.self, ApprovalsCommand.self, APNsCommand.self,
            DoctorCommand.self,
            SimulateCommand.self,
            ReferenceCommand.self,
        ])

    /// Exit codes of the program: 2 for a command line that cannot be understood.
    static func main() async {
        Output.reserveStandardDescriptors()
        Signals.leaveQuitToTheSystem()
        let arguments = ProgramArguments.current
        do {
            try UsageRefusal.checkCommand(arguments)
            var command = try parseAsRoot(CommandLineSplit.rearranged(arguments))
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let error as PushError {
            UsageRefusal(arguments: arguments, error: error).tell()
        } catch {
            let code = exitCode(for: error)
            guard code == .validationFailure else { exit(withError: error) }
            let refusal = UsageRefusal(arguments: arguments, error: PushError("usage.command", message(for: error)))
            if refusal.isJSON { refusal.tell() }
            Output(descriptor: STDERR_FILENO).fail(fullMessage(for: error))
        }
    }
}

extension Output {
    /// Prints the message and ends the program with 2.
    func fail(_ message: String) -> Never {
        line(message)
        _ = finish()
        Glibc.exit(ExitStatus.usage)
    }
}

/// What the program's end means.
enum ExitStatus {
    static let pass: Int32 = 0
    static let failed: Int32 = 1
    static let usage: Int32 = 2
    static let script: Int32 = 3
    static let target: Int32 = 4
    static let policy: Int32 = 5
    static let noTarget: Int32 = 6
    /// A send reached some of its devices, and failed for others.
    static let partial: Int32 = 7
    static let interrupted: Int32 = 130
    /// The reader of the output has gone before the work was done: as if SIGPIPE had ended it.
    static let lostReader: Int32 = 141
}
