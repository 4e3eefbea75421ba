import Glibc
import PushModel
import Storage

/// The elapsed seconds, and the CPU seconds of the process.
struct ProcessUsage {
    var passed: Double
    var processor: Double

    static var now: ProcessUsage {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return ProcessUsage(
            passed: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9, processor: seconds(usage.ru_utime) + seconds(usage.ru_stime))
    }

    static func - (later: ProcessUsage, earlier: ProcessUsage) -> ProcessUsage {
        ProcessUsage(passed: later.passed - earlier.passed, processor: later.processor - earlier.processor)
    }

    /// The largest resident memory of the process, in MiB.
    static var residentPeak: Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss >> 10
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
}

struct MachineClock: HubClock {
    var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    func sleep(until deadline: Timestamp) async throws { try await Task.sleep(for: deadline - now) }
}

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
