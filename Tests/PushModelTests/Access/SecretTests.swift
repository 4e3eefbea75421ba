import PushModel
import Testing

@Suite struct SecretTests {
    @Test("A secret is masked however it is printed") func hidden() {
        let secret = Secret("hunter2")
        var dumped = ""
        dump(secret, to: &dumped)
        let session = Session(username: "alice", token: secret, expiration: .distantFuture)
        for text in ["\(secret)", String(reflecting: secret), dumped, "\(session)", String(reflecting: [secret])] {
            #expect(!text.contains("hunter2"))
        }
        #expect(secret.reveal() == "hunter2")
    }
}
