import PushHostKit

/// `pushhost` as it comes: without further functions and plugins in Swift.
@main
struct Program {
    static func main() async { await PushHostProgram.main() }
}
