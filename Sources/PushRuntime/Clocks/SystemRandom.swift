import PushModel

/// The system's cryptographic random generator, suitable for keys and tokens.
package struct SystemRandom: RandomSource {
    package init() {}

    package func next() -> UInt64 {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }
}
