import ArgumentParser
import Bindings

/// A command that needs the functions or plugins of the program.
protocol ProgramCommand: ParsableCommand {
    /// Runs the command. The program calls it instead of `run()`.
    func run(in program: HostProgram) async throws
}
