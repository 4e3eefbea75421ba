import PushModel
import Testing

@testable import HubWire

@Suite struct ConnectionStringTests {
    @Test(arguments: [
        ("localhost", true), ("ns.example.com:443", true), ("a_b-c:1", true), ("127.0.0.1:65535", true), ("[::1]", true),
        ("[::1]:8080", true), ("[fe80::1%25eth0]:80", true), ("", false), (":80", false), ("a:", false), ("a:0", false),
        ("a:65536", false), ("a:99999", false), ("a:80x", false), ("a:+80", false), ("a:80:80", false), ("[::1", false), ("[::1]80", false),
        ("[]", false), ("a b", false), ("user@a", false), ("zoé", false), ("a/b", false),
    ])
    func `An authority is a host with an optional port`(text: String, isValid: Bool) {
        #expect(Authority.isValid(text) == isValid)
    }

    @Test(arguments: ["localhost:99999", "[::1", "a b", "a:0"])
    func `An invalid endpoint is refused without showing the key`(host: String) throws {
        let error = try #require(throws: PushError.self) {
            try ConnectionString(parsing: "Endpoint=sb://\(host)/;SharedAccessKeyName=n;SharedAccessKey=a2V5")
        }
        #expect(error.code == "connection.invalid" && error.message.contains("port from 1 to 65535") && !"\(error)".contains("a2V5"))
    }

    @Test(arguments: [("http://localhost:8080", "http"), ("https://push.example.com/x", "sb"), ("HTTP://h", "http")])
    func `A connection string made from an address reads back unchanged`(address: String, scheme: String) throws {
        let text = ConnectionString(address: address, keyName: "n", key: Secret("a2V5"), hub: "news").reveal()
        let read = try ConnectionString(parsing: text)
        #expect(text.hasPrefix("Endpoint=\(scheme)://") && text.hasSuffix(";EntityPath=news"))
        #expect(read.isPlain == (scheme == "http") && read.hub == "news" && read.keyName == "n" && read.key.reveal() == "a2V5")
    }
}
