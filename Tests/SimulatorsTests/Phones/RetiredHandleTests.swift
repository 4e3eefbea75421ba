import Synchronization
import Testing

@testable import Simulators

/// Services remember a bounded number of retired handles, and every one of them counts as stored.
@Suite struct RetiredHandleTests {
    private static let platforms: [PhonePlatform] = [.apns, .fcm, .wns, .browser]

    private final class Growth: Sendable {
        private let all = Mutex(0)

        var bytes: Int { all.withLock { $0 } }

        func add(_ bytes: Int) { all.withLock { $0 += bytes } }
    }

    private func bytes(_ lab: PhoneLab) -> Int {
        lab.state.withLock { $0.handles.filter { $1.retiredAt != nil }.reduce(0) { $0 + $1.value.storedBytes(at: $1.key) } }
    }

    /// The service's key for the phone's handle.
    private func address(_ lab: PhoneLab, _ phone: PhoneID) throws -> String {
        try #require(lab.state.withLock { $0.phones[phone]?.handle?.address })
    }

    @Test(arguments: PhonePlatform.allCases)
    func `a phone's last hundred retired handles are known, older ones are not`(platform: PhonePlatform) throws {
        let time = ManualTime()
        let lab = PhoneLab(clock: time.clock, random: time.random)
        let phone = lab.addPhone(PhoneDescription(name: "x", platform: platform, app: PhoneApp("a")))
        var handles: [String] = []
        for _ in 0..<250 {
            handles.append(try address(lab, phone))
            lab.rotateToken(of: phone)
        }
        #expect(handles.prefix(150).allSatisfy { lab.record(of: $0) == nil })
        #expect(handles.suffix(100).allSatisfy { lab.record(of: $0)?.retiredAt != nil })
        let current = try #require(lab.record(of: try address(lab, phone)))
        #expect(current.retiredAt == nil)
        if platform == .fcm {
            #expect(lab.token(ofInstallation: String(handles[0].prefix { $0 != ":" })) == nil)
            #expect(lab.token(ofInstallation: String(handles[249].prefix { $0 != ":" })) == handles[249])
        }
        #expect(lab.storedBytes == bytes(lab))
    }

    @Test(arguments: 1...8)
    func `any changes of phones leave bounded handles, and report what is stored`(seed: Int) throws {
        let (time, growth) = (ManualTime(), Growth())
        let lab = PhoneLab(
            clock: time.clock, random: time.random,
            observer: PhoneObserver(event: { _ in }, grew: growth.add))
        var phones: [PhoneID] = []
        var state = UInt64(seed)
        func next(_ count: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % count
        }
        for round in 0..<3_000 {
            guard phones.count >= 5 || !phones.isEmpty && next(40) > 0 else {
                phones.append(
                    lab.addPhone(PhoneDescription(name: "p\(round)", platform: Self.platforms[next(4)], app: PhoneApp("a"))))
                continue
            }
            let phone = phones[next(phones.count)]
            switch next(40) {
            case 0..<25: lab.rotateToken(of: phone)
            case 25..<32: lab.reinstall(phone)
            case 32..<36: lab.uninstall(phone)
            case 36..<39: lab.store(String(repeating: "x", count: next(100)), forKey: "k\(next(3))", on: phone)
            default:
                lab.remove([phone])
                phones.removeAll { $0 == phone }
            }
            #expect(growth.bytes == lab.storedBytes)
        }
        let retired = lab.state.withLock { state in
            Dictionary(grouping: state.handles.filter { $1.retiredAt != nil }, by: { $0.value.phone }).mapValues(\.count)
        }
        #expect(retired.allSatisfy { $0.value <= RetiredHandles.limitPerPhone })
        #expect(lab.storedBytes >= bytes(lab))
        lab.remove(phones)
        #expect(lab.storedBytes == bytes(lab) && growth.bytes == lab.storedBytes)
    }

    @Test func `the handles of removed phones are bounded too`() {
        var retired = RetiredHandles()
        var forgotten: [String] = []
        for phone in 0..<1_500 {
            let id = PhoneID(number: phone)
            for number in 0..<100 { forgotten += [retired.add("\(phone)/\(number)", of: id)].compactMap { $0 } }
            forgotten += retired.removed(id)
        }
        #expect(forgotten.count == 1_500 * 100 - RetiredHandles.limitOfRemovedPhones)
        #expect(forgotten.first == "0/0" && forgotten.last == "499/99")
    }

    @Test func `retired handles fill a lab's memory`() {
        let time = ManualTime()
        let lab = PhoneLab(clock: time.clock, random: time.random, storageLimit: 50_000)
        let phone = lab.addPhone(PhoneDescription(name: "x", platform: .browser, app: PhoneApp("a")))
        for _ in 0..<100 { lab.rotateToken(of: phone) }
        #expect(lab.isOutOfMemory && !lab.canAddPhone)
    }
}
