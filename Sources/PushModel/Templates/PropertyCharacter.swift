extension UInt8 {
    package var isPropertyCharacter: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x5f: true
        default: false
        }
    }
}
