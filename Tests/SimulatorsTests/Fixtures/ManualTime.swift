import Simulators
import Synchronization

/// A clock that the test moves, and random numbers that count up.
final class ManualTime: Sendable {
    private let milliseconds = Mutex<Int64>(1_800_000_000_000)
    private let drawn = Mutex<UInt64>(1)

    var now: Int64 { milliseconds.withLock { $0 } }
    var seconds: Int64 { now / 1000 }

    func advance(seconds: Int64) {
        milliseconds.withLock { $0 += seconds * 1000 }
    }

    var clock: SimulatorClock {
        SimulatorClock { self.now }
    }

    /// Numbers of a linear congruential generator (Knuth's MMIX constants).
    var random: SimulatorRandom {
        SimulatorRandom { count in
            (0..<count).map { _ in
                self.drawn.withLock { state in
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    return UInt8(truncatingIfNeeded: state >> 33)
                }
            }
        }
    }
}
