import PushHostKit

/// The standard `pushhost`, without further functions and plugins in Swift.
@main
struct EntryPoint {
    static func main() async { await PushHostProgram.main() }
}
