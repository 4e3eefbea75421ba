import Testing

@Suite("The WNS token endpoint checks the form")
struct WNSSimulatorGrantTests {
    let bench = WNSBench()

    private func error(_ reply: Reply) -> String { "\(reply.status) \(reply.member("error") ?? "")" }

    @Test("Package and secret give an access token for a day")
    func valid() async {
        let reply = await bench.grant()
        #expect(reply.status == 200)
        #expect(reply.member("token_type") == "bearer")
        #expect(reply.member("expires_in") == "86400")
        #expect(reply.member("access_token")?.isEmpty == false)
    }

    @Test("The body must be a form")
    func contentType() async {
        #expect(error(await bench.grant(contentType: "text/plain")) == "400 invalid_request")
    }

    @Test("The media type of a form is case-insensitive", arguments: ["Application/X-WWW-Form-Urlencoded; charset=UTF-8"])
    func contentTypeCase(type: String) async {
        #expect(await bench.grant(contentType: type).status == 200)
    }

    @Test("Grant type and scope are required", arguments: ["grant_type", "scope"])
    func required(name: String) async {
        #expect(error(await bench.grant(without: name)) == "400 invalid_request")
    }

    @Test("The grant type must be client_credentials")
    func grantType() async {
        #expect(error(await bench.grant(["grant_type": "password"])) == "400 unsupported_grant_type")
    }

    @Test("Package and secret must be the registered ones", arguments: ["client_id", "client_secret"])
    func client(name: String) async {
        #expect(error(await bench.grant([name: "other"])) == "400 invalid_client")
    }

    @Test("The scope must be that of notifications")
    func scope() async {
        #expect(error(await bench.grant(["scope": "mail"])) == "400 invalid_scope")
    }
}
