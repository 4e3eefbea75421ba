import PushCore

/// The generator of the system, fit for keys and tokens.
struct SystemRandom: RandomSource {
    func next() -> UInt64 {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }
}
