import Testing

@testable import Delivery

@Suite("Web addresses")
struct WebAddressTests {
    @Test(
        "An address is split into its parts",
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
        "An ambiguous address is invalid",
        arguments: [
            "", "https://", "https:/host", "ftp://host/", "https://user@host/", "https://host\\@evil/",
            "https://ho st/",
            "https://host:0/", "https://host:+80/", "https://host:99999/", "https://host:1:2/", "https://h\u{f6}st/", "//host/",
            "https://a\n/",
            "https://[::1]/",
        ])
    func refused(text: String) { #expect(WebAddress(text) == nil) }

    @Test(
        "References are resolved as in RFC 3986, section 5.4",
        arguments: [
            ("http:g", nil), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
            ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q"),
            ("g#s", "http://a/b/c/g"), ("g?y#s", "http://a/b/c/g?y"), (";x", "http://a/b/c/;x"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
            ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"),
            ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../g", "http://a/g"), ("../../../g", "http://a/g"),
            ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), ("..g", "http://a/b/c/..g"),
            ("./g/.", "http://a/b/c/g/"), ("g/../h", "http://a/b/c/h"), ("g?y/../x", "http://a/b/c/g?y/../x"),
            ("https://B:8443/x/../y", "https://b:8443/x/../y"), ("//b/x?y", "http://b/x?y"), ("?", "http://a/b/c/d;p?"),
            ("mailto:a@b", nil), ("//user@b/", nil), ("/\\b", nil), ("/a b", nil), ("//", nil), ("///b", nil), ("1:2", nil),
        ] as [(String, String?)])
    func reference(text: String, target: String?) throws {
        let base = try #require(WebAddress("http://a/b/c/d;p?q"))
        #expect(URIReference(text).resolved(against: base) == target.flatMap { WebAddress($0) })
    }

    @Test("A form is unchanged after encoding and decoding")
    func form() {
        let body = String(decoding: FormBody.encode(["a": "b c&d=\u{e9}+%", "e": ""]), as: UTF8.self)
        #expect(body == "a=b+c%26d%3D%C3%A9%2B%25&e=")
        #expect(
            String(decoding: FormBody.decode(Array("b+c%26d%3D%C3%A9%2B%25%".utf8)), as: UTF8.self) == "b c&d=\u{e9}+%%"
        )
    }
}
