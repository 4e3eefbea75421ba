import Simulators
import Testing

@Suite("The lab of phones", .timeLimit(.minutes(10)))
struct PhoneLabTests {
    private func lab() -> PhoneLab {
        let time = ManualTime()
        return PhoneLab(clock: time.clock, random: time.random)
    }

    @Test("The same seed gives the same handles, each in the shape of its service")
    func handles() throws {
        let handles = [lab(), lab()].map { lab in
            PhonePlatform.allCases.map { platform in
                lab.pushHandle(of: lab.addPhone(PhoneDescription(name: "x", platform: platform, app: PhoneApp("a")))) ?? ""
            }
        }
        #expect(handles[0] == handles[1])
        let apns = handles[0][0]
        #expect(apns.count == 64)
        #expect(apns.allSatisfy { $0.isHexDigit && !$0.isUppercase })
        #expect(handles[0][1].contains(":APA91b"))
        #expect(handles[0][2].hasPrefix("https://wns2-db5p.notify.windows.com/?token="))
        #expect(handles[0][3].hasPrefix(#"{"endpoint":"https://updates.push.services.mozilla.com/wpush/"#))
    }

    @Test("A rotated handle is a new handle of the same phone")
    func rotation() {
        let lab = lab()
        let phone = lab.addPhone(PhoneDescription(name: "x", platform: .apns, app: PhoneApp("a")))
        let old = lab.pushHandle(of: phone) ?? ""
        let new = lab.rotateToken(of: phone) ?? ""
        #expect(old != new)
        #expect(lab.phone(withHandle: old) == phone)
        #expect(lab.phone(withHandle: new) == phone)
    }

    @Test("An unknown phone has no data, and changing it has no effect")
    func unknownPhone() {
        let lab = lab()
        let nobody = PhoneID(number: 9)
        lab.setOnline(nobody)
        lab.store("x", forKey: "k", on: nobody)
        #expect(lab.showLocal(title: "", body: "x", on: nobody) == nil)
        #expect(lab.reinstall(nobody) == nil)
        #expect(lab.inbox(of: nobody).isEmpty && lab.storage(of: nobody).isEmpty && lab.phones.isEmpty)
    }

    @Test("Waiting for a delivery ends with nil when the task is cancelled")
    func cancelledDelivery() async {
        let lab = lab()
        let phone = lab.addPhone(PhoneDescription(name: "x", platform: .apns, app: PhoneApp("a")))
        let task = Task { await lab.nextDelivery(for: phone) }
        task.cancel()
        #expect(await task.value == nil)
    }

    @Test("Waiting for a change ends with the change, however the two are ordered")
    func change() async {
        let lab = lab()
        let phone = lab.addPhone(PhoneDescription(name: "x", platform: .apns, app: PhoneApp("a")))
        let start = lab.revision(of: phone)
        let task = Task { await lab.nextChange(of: phone, after: start) }
        lab.showLocal(title: "", body: "x", on: phone)
        #expect(await task.value == start + 1)
    }

    @Test("Waiting for a change ends with nil when the task is cancelled")
    func cancelledChange() async {
        let lab = lab()
        let phone = lab.addPhone(PhoneDescription(name: "x", platform: .apns, app: PhoneApp("a")))
        let task = Task { await lab.nextChange(of: phone, after: lab.revision(of: phone)) }
        task.cancel()
        #expect(await task.value == nil)
    }

    @Test(arguments: PhonePlatform.allCases)
    func `reinstalling an installed app removes it first: a new handle, an empty storage, nothing on the screen`(
        platform: PhonePlatform
    ) throws {
        let lab = lab()
        let phone = lab.addPhone(PhoneDescription(name: "x", platform: platform, app: PhoneApp("a")))
        let old = try #require(lab.pushHandle(of: phone))
        lab.store("Sports", forKey: "categories", on: phone)
        lab.showLocal(title: "", body: "shown", on: phone)
        lab.setOffline(phone)
        let new = lab.reinstall(phone)
        #expect(new != nil && new != old)
        #expect(lab.storage(of: phone).isEmpty)
        #expect(lab.inbox(of: phone).allSatisfy { !$0.isShown })
        #expect(!lab.isOnline(phone))
    }
}
