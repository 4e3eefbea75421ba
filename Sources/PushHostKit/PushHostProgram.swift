import Bindings
import PushCore
import PushHost

/// The program `pushhost`, with functions and plugins of your own:
///
/// ```swift
/// import PushHostKit
///
/// @main struct Program {
///     static func main() async { await PushHostProgram.main(bindings: [Distance()], plugins: [SuppressionList.self]) }
/// }
/// ```
public enum PushHostProgram {
    /// Runs the command that the arguments of the process name, and ends the process with its exit code.
    ///
    /// Ends with 2 and says why where two functions have one name, or a name is none.
    public static func main(bindings: [any NativeBinding] = [], plugins: [any NativePlugin.Type] = []) async {
        do throws(PushError) {
            try NativeParts.add(bindings: bindings.map { $0.binding }, plugins: plugins.map { $0.nativeType })
        } catch {
            PushHostEntry.refuse(error)
        }
        await PushHostEntry.run()
    }
}
