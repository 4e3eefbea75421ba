import Bindings
import PushHost
import PushModel

/// The program `pushhost`, extended with your own functions and plugins:
///
/// ```swift
/// import PushHostKit
///
/// @main struct Program {
///     static func main() async { await PushHostProgram.main(bindings: [Distance()], plugins: [SuppressionList.self]) }
/// }
/// ```
public enum PushHostProgram {
    /// Runs the command given by the process's arguments, then exits with its exit code.
    ///
    /// Exits with code 2 and an error message if two functions have the same name or a name is invalid.
    public static func main(bindings: [any NativeBinding] = [], plugins: [any NativePlugin.Type] = []) async {
        let extensions: NativeExtensions
        do throws(PushError) {
            extensions = try NativeExtensions(bindings: bindings.map { $0.binding }, plugins: plugins.map { $0.nativeType })
        } catch {
            PushHostEntry.refuse(error)
        }
        await PushHostEntry.run(extensions)
    }
}
