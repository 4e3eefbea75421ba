import PushCore
import Testing

@Suite struct OutboundReachTests {
    private func reach(_ hosts: [String], private privateHosts: [String] = []) throws -> OutboundReach {
        OutboundReach(
            hosts: try hosts.map { try #require(OutboundHost($0), "\($0)") },
            privateHosts: try privateHosts.map { try #require(OutboundHost($0), "\($0)") })
    }

    @Test func `a host is reached at the port of the scheme, or at the port that is granted and no other`() throws {
        let reach = try reach(["api.example.com", "Build.example.com:8443"])
        #expect(reach.permit(host: "api.example.com", port: 443, usualPort: 443) == .publicAddresses)
        #expect(reach.permit(host: "api.example.com", port: 80, usualPort: 80) == .publicAddresses)
        #expect(reach.permit(host: "api.example.com", port: 80, usualPort: 443) == nil)
        #expect(reach.permit(host: "api.example.com", port: 8443, usualPort: 443) == nil)
        #expect(reach.permit(host: "build.example.com", port: 8443, usualPort: 443) == .publicAddresses)
        #expect(reach.permit(host: "build.example.com", port: 443, usualPort: 443) == nil)
    }

    @Test(arguments: ["example.com", "notexample.com", "a.example.com.evil.net", "example.com.", "a.example.org", ".example.com", ""])
    func `a wildcard stands for the names below a domain and for nothing else`(other: String) throws {
        let reach = try reach(["*.example.com"])
        #expect(reach.permit(host: "a.example.com", port: 443, usualPort: 443) == .publicAddresses)
        #expect(reach.permit(host: "a.b.example.com", port: 443, usualPort: 443) == .publicAddresses)
        // What is no name of a host never gets as far as this.
        guard OutboundHost.name(other) != nil else { return }
        #expect(reach.permit(host: other, port: 443, usualPort: 443) == nil)
    }

    @Test func `private addresses are for those hosts alone that are granted them`() throws {
        let reach = try reach(["*.example.com"], private: ["db.example.com:5000", "127.0.0.1:8080"])
        #expect(reach.permit(host: "db.example.com", port: 5000, usualPort: 443) == .anyAddress)
        #expect(reach.permit(host: "db.example.com", port: 443, usualPort: 443) == .publicAddresses)
        #expect(reach.permit(host: "127.0.0.1", port: 8080, usualPort: 80) == .anyAddress)
        #expect(reach.permit(host: "127.0.0.1", port: 80, usualPort: 80) == nil)
        #expect(OutboundReach().permit(host: "example.com", port: 443, usualPort: 443) == nil)
    }

    @Test(arguments: [
        "", "*", "*.", "*.com", "*.*.example.com", "a*.example.com", "example.*", "https://example.com", "example.com/", "user@example.com",
        "example.com:", "example.com:0", "example.com:65536", "example.com:+80", "example.com:80:80", "example.com.", ".example.com",
        "a..b", "ex ample.com", "ex\u{e4}mple.com", "[::1]", "::1", "example.com\n", "*.0.0.1", "*.10.in-addr.0x7f",
    ])
    func `what does not name a host is no grant`(text: String) { #expect(OutboundHost(text) == nil) }

    @Test(arguments: [
        "2130706433", "0x7f000001", "0x7f.1", "127.1", "127.0.1", "0177.0.0.1", "127.0.0.01", "127.0.0.0x1", "0x", "1.2.3.4.5", "256.1.1.1",
        "1.2.3.", "evil.example.1",
    ])
    func `an IPv4 address has one spelling`(text: String) {
        #expect(OutboundHost.name(text) == nil)
        #expect(OutboundHost(text) == nil)
    }

    @Test(arguments: [
        "API.Example.com", "127.0.0.1", "xn--hst-sna.example", "_dmarc.example.com", "1and1.com", "0x7f.example", "localhost",
    ])
    func `the name of a host is in lower case`(text: String) { #expect(OutboundHost.name(text) == text.lowercased()) }

    @Test func `a label of a name has at most 63 bytes, and a name 253`() {
        let label = String(repeating: "a", count: 63)
        #expect(OutboundHost.name("\(label).com") != nil)
        #expect(OutboundHost.name("a\(label).com") == nil)
        #expect(OutboundHost.name("\(label).\(label).\(label).\(label.dropFirst(2))") != nil)
        #expect(OutboundHost.name("\(label).\(label).\(label).\(label.dropFirst())") == nil)
    }

    @Test(arguments: ["*.example.com:8443", "api.example.com", "10.0.0.1:80"])
    func `a grant is written as it was read`(text: String) throws { #expect(try #require(OutboundHost(text)).description == text) }

    @Test func `numbers of a request are brought into their ranges`() {
        let least = OutboundRequest(url: "", timeout: .zero, maximumAnswer: -1, maximumRedirects: -1)
        #expect((least.timeout, least.maximumAnswer, least.maximumRedirects) == (.milliseconds(1), 0, 0))
        let most = OutboundRequest(url: "", timeout: .seconds(31), maximumAnswer: .max, maximumRedirects: 11)
        #expect((most.timeout, most.maximumAnswer, most.maximumRedirects) == (.seconds(30), 8 << 20, 10))
        let usual = OutboundRequest(url: "")
        #expect((usual.timeout, usual.maximumAnswer, usual.maximumRedirects) == (.seconds(10), 1 << 20, 5))
    }
}
