import Synchronization

/// A deterministic generator for rehearsals and tests: SplitMix64 (Steele, Lea, Flood 2014).
package final class SeededRandom: RandomSource {
    private let state: Mutex<UInt64>

    package init(seed: UInt64) {
        state = Mutex(seed)
    }

    package func next() -> UInt64 {
        state.withLock { state in
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }

    /// A separate sequence per purpose, so that drawing more numbers for one does not change those of another.
    package static func derived(from seed: UInt64, for purpose: String) -> SeededRandom {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ seed
        for byte in purpose.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return SeededRandom(seed: hash)
    }
}
