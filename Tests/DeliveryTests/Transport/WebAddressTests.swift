import Delivery
import Testing

@Suite("Addresses on the web")
struct WebAddressTests {
    @Test(
        "An address is taken apart",
        arguments: [
            ("https://Db5.Notify.windows.com/?token=A%2b", "https", "db5.notify.windows.com", "/?token=A%2b"),
            ("HTTPS://host:8443?x=1", "https", "host:8443", "/?x=1"), ("http://127.0.0.1", "http", "127.0.0.1", "/"),
            ("https://host/a/b#fragment", "https", "host", "/a/b"),
        ])
    func parts(text: String, scheme: String, authority: String, path: String) throws {
        let address = try #require(WebAddress(text))
        #expect(address.scheme == scheme)
        #expect(address.authority == authority)
        #expect(address.path == path)
    }

    @Test(
        "What two programs could read differently is no address",
        arguments: [
            "", "https://", "https:/host", "ftp://host/", "https://user@host/", "https://host\\@evil/",
            "https://ho st/",
            "https://host:0/", "https://host:99999/", "https://host:1:2/", "https://h\u{f6}st/", "//host/",
            "https://a\n/",
            "https://[::1]/",
        ])
    func refused(text: String) { #expect(WebAddress(text) == nil) }

    @Test("A form survives being written and read")
    func form() {
        let body = String(decoding: FormBody.encode(["a": "b c&d=\u{e9}+%", "e": ""]), as: UTF8.self)
        #expect(body == "a=b+c%26d%3D%C3%A9%2B%25&e=")
        #expect(
            String(decoding: FormBody.decode(Array("b+c%26d%3D%C3%A9%2B%25%".utf8)), as: UTF8.self) == "b c&d=\u{e9}+%%"
        )
    }
}
