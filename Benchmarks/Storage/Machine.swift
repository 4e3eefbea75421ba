import Glibc
import PushModel
import Storage

/// The machine's clock, read as in a server.
struct MachineClock: HubClock {
    var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    func sleep(until deadline: Timestamp) async throws { try await Task.sleep(for: deadline - now) }
}

/// The system's random generator, as in a server.
struct MachineRandom: RandomSource {
    func next() -> UInt64 {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }
}

extension SecretSeal {
    /// Benchmark databases contain no secrets, so nothing is sealed.
    static let bench = SecretSeal(payloadKey: [UInt8](repeating: 7, count: 32), random: MachineRandom())
}

/// The CPU seconds of the process so far. Other work on the machine affects them less than elapsed time.
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

/// The folder with the databases of one run, one after the other.
struct Folder {
    let path: String

    func newFile() -> String {
        clear()
        mkdir(path, 0o700)
        return "\(path)/bench.sqlite"
    }

    func clear() { for suffix in ["", "-wal", "-shm"] { unlink("\(path)/bench.sqlite\(suffix)") } }
}
