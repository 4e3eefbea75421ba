import Glibc
import PushCore
import Storage

/// The clock of the machine, read as a server reads it.
struct MachineClock: HubClock {
    var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    func sleep(until deadline: Timestamp) async throws { try await Task.sleep(for: deadline - now) }
}

/// The generator of the system, as a server has it.
struct MachineRandom: RandomSource {
    func next() -> UInt64 {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }
}

extension SecretSeal {
    /// Databases of benchmarks have no secrets.
    static let bench = SecretSeal(payloadKey: [UInt8](repeating: 7, count: 32), random: MachineRandom())
}

/// What the process has used of the processors so far, in seconds: other work on the machine counts for less in it than in time
/// that has passed.
struct ProcessorTime {
    var user: Double
    var system: Double

    static var now: ProcessorTime {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return ProcessorTime(user: seconds(usage.ru_utime), system: seconds(usage.ru_stime))
    }

    static func - (later: ProcessorTime, earlier: ProcessorTime) -> ProcessorTime {
        ProcessorTime(user: later.user - earlier.user, system: later.system - earlier.system)
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000 }
}

/// Where the databases of one run lie, one after the other.
struct Folder {
    let path: String

    func newFile() -> String {
        clear()
        mkdir(path, 0o700)
        return "\(path)/bench.sqlite"
    }

    func clear() { for suffix in ["", "-wal", "-shm"] { unlink("\(path)/bench.sqlite\(suffix)") } }
}
