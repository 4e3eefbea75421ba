import PushModel
import Testing

@Suite struct OutboundReachTests {
    private func reach(_ hosts: [String], private privateHosts: [String] = []) throws -> OutboundAllowlist {
        OutboundAllowlist(
            hosts: try hosts.map { try #require(OutboundHost($0), "\($0)") },
            privateHosts: try privateHosts.map { try #require(OutboundHost($0), "\($0)") })
    }

    @Test func `a host is reachable at the default port of the scheme, or only at the port that is granted`() throws {
        let reach = try reach(["api.example.com", "Build.example.com:8443"])
        #expect(reach.permit(host: "api.example.com", port: 443, usualPort: 443) == .publicAddresses)
        #expect(reach.permit(host: "api.example.com", port: 80, usualPort: 80) == .publicAddresses)
        #expect(reach.permit(host: "api.example.com", port: 80, usualPort: 443) == nil)
        #expect(reach.permit(host: "api.example.com", port: 8443, usualPort: 443) == nil)
        #expect(reach.permit(host: "build.example.com", port: 8443, usualPort: 443) == .publicAddresses)
        #expect(reach.permit(host: "build.example.com", port: 443, usualPort: 443) == nil)
    }

    @Test(arguments: ["example.com", "notexample.com", "a.example.com.evil.net", "example.com.", "a.example.org", ".example.com", ""])
    func `a wildcard matches only names below the domain`(other: String) throws {
        let reach = try reach(["*.example.com"])
        #expect(reach.permit(host: "a.example.com", port: 443, usualPort: 443) == .publicAddresses)
        #expect(reach.permit(host: "a.b.example.com", port: 443, usualPort: 443) == .publicAddresses)
        // An invalid host name is rejected before this check.
        guard OutboundHost.name(other) != nil else { return }
        #expect(reach.permit(host: other, port: 443, usualPort: 443) == nil)
    }

    @Test func `only hosts with the grant may resolve to private addresses`() throws {
        let reach = try reach(["*.example.com"], private: ["db.example.com:5000", "127.0.0.1:8080"])
        #expect(reach.permit(host: "db.example.com", port: 5000, usualPort: 443) == .anyAddress)
        #expect(reach.permit(host: "db.example.com", port: 443, usualPort: 443) == .publicAddresses)
        #expect(reach.permit(host: "127.0.0.1", port: 8080, usualPort: 80) == .anyAddress)
        #expect(reach.permit(host: "127.0.0.1", port: 80, usualPort: 80) == nil)
        #expect(OutboundAllowlist().permit(host: "example.com", port: 443, usualPort: 443) == nil)
    }

    @Test(arguments: [
        "", "*", "*.", "*.com", "*.*.example.com", "a*.example.com", "example.*", "https://example.com", "example.com/", "user@example.com",
        "example.com:", "example.com:0", "example.com:65536", "example.com:+80", "example.com:80:80", "example.com.", ".example.com",
        "a..b", "ex ample.com", "ex\u{e4}mple.com", "[::1]", "::1", "example.com\n", "*.0.0.1", "*.10.in-addr.0x7f",
    ])
    func `a grant without a valid host name is rejected`(text: String) { #expect(OutboundHost(text) == nil) }

    @Test(arguments: [
        "2130706433", "0x7f000001", "0x7f.1", "127.1", "127.0.1", "0177.0.0.1", "127.0.0.01", "127.0.0.0x1", "0x", "1.2.3.4.5", "256.1.1.1",
        "1.2.3.", "evil.example.1",
    ])
    func `an IPv4 address is accepted in dotted decimal only`(text: String) {
        #expect(OutboundHost.name(text) == nil)
        #expect(OutboundHost(text) == nil)
    }

    @Test(arguments: [
        "API.Example.com", "127.0.0.1", "xn--hst-sna.example", "_dmarc.example.com", "1and1.com", "0x7f.example", "localhost",
    ])
    func `a host name is converted to lower case`(text: String) { #expect(OutboundHost.name(text) == text.lowercased()) }

    @Test func `a label is limited to 63 bytes, and a host name to 253`() {
        let label = String(repeating: "a", count: 63)
        #expect(OutboundHost.name("\(label).com") != nil)
        #expect(OutboundHost.name("a\(label).com") == nil)
        #expect(OutboundHost.name("\(label).\(label).\(label).\(label.dropFirst(2))") != nil)
        #expect(OutboundHost.name("\(label).\(label).\(label).\(label.dropFirst())") == nil)
    }

    @Test(arguments: ["*.example.com:8443", "api.example.com", "10.0.0.1:80"])
    func `a grant is printed as it was written`(text: String) throws { #expect(try #require(OutboundHost(text)).description == text) }

    @Test func `numbers in a request are clamped to their ranges`() {
        let least = OutboundRequest(url: "", timeout: .zero, maximumAnswer: -1, maximumRedirects: -1)
        #expect((least.timeout, least.maximumAnswer, least.maximumRedirects) == (.milliseconds(1), 0, 0))
        let most = OutboundRequest(url: "", timeout: .seconds(31), maximumAnswer: .max, maximumRedirects: 11)
        #expect((most.timeout, most.maximumAnswer, most.maximumRedirects) == (.seconds(30), 8 << 20, 10))
        let usual = OutboundRequest(url: "")
        #expect((usual.timeout, usual.maximumAnswer, usual.maximumRedirects) == (.seconds(10), 1 << 20, 5))
    }
}
