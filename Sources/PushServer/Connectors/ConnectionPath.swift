import PushModel

/// The way from a hub to push services, with the CPU time that a request takes on the threads of the connections. These threads serve all
/// hubs at once, so the time is not measured, but charged as a fixed cost.
enum ConnectionPath {
    case pushServices
    /// The simulators of another process.
    case simulators
    /// The simulated services and phones of this process.
    case lab

    /// CPU time per device in nanoseconds, in a release build.
    func cpuTime(of platform: Platform) -> Int {
        switch self {
        case .pushServices where platform == .wns: 30_000
        case .pushServices: 3_000
        case .simulators: 30_000
        case .lab: 100_000
        }
    }
}
