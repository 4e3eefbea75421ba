import PushModel
import Testing

@testable import WebAPI

@Suite struct BackendPathTests {
    @Test(
        arguments: [
            ("/api/register", nil, nil, .register), ("/API/Register/", nil, nil, .register),
            ("/hub/api/notifications", "hub", nil, .notifications), ("/a/b/api/login", "a/b", nil, .login),
            ("/api/register/1-2-3", nil, nil, .registration("1-2-3")), ("/api/notifications/7/Reads", nil, nil, .reads("7")),
            ("//hub//api/notifications/7", "hub", nil, .notification("7")), ("/api/logout", nil, nil, .logout),
            ("/tutorials/secure-push/api/notifications/7", nil, .securePush, .notification("7")),
            ("/a/Tutorials/Cross-Platform/api/register", "a", .crossPlatform, .register),
            ("/tutorials/other/api/register", "tutorials/other", nil, .register),
        ] as [(String, String?, TutorialVariant?, BackendPath.Resource)])
    func `the end of a path selects the route, the parts before it the hub and the variant`(
        path: String, hub: String?, variant: TutorialVariant?, place: BackendPath.Resource
    ) throws {
        let found = try #require(BackendPath(path))
        #expect(found.hub == hub && found.variant == variant && found.resource == place)
    }

    @Test(
        arguments: [
            "/", "/api", "/api/v1/hubs", "/api/v1/hubs/hub/api/login", "/api/v1/api/register", "/api/register/1/2", "/hub/register",
            "/hub/../api/login", "/feedback/hub/api/login", "/hub/registrations/api", "/api/other", "/$resources/api/login",
        ])
    func `other paths do not belong to the backend`(path: String) { #expect(BackendPath(path) == nil) }
}

@Suite struct BackendCredentialsTests {
    private func basic(_ header: String?) -> [String]? {
        guard case .basic(let name, let password) = BackendCredentials(header) else { return nil }
        return [name, password.reveal()]
    }

    @Test func `Basic is read in any case, with line breaks in its base64 and colons in the password`() {
        #expect(basic("Basic YWxpY2U6c2VjcmV0") == ["alice", "secret"])
        #expect(basic("bASIC  YWxpY2U6\r\nc2VjcmV0 ") == ["alice", "secret"])
        #expect(basic("Basic YTpiOmM=") == ["a", "b:c"])
        #expect(basic("Basic YTpiOmM") == ["a", "b:c"])
        #expect(basic("Basic Og==") == ["", ""])
        #expect(basic("Basic w7w6w7w=") == ["ü", "ü"])
    }

    @Test(arguments: [nil, "", "Basic", "Basic ", "Basic !!!", "Basic YWxpY2U=", "Basic /zr/", "Digest YTpi", "SharedAccessSignature sr=x"])
    func `unreadable credentials count as missing`(header: String?) { #expect(BackendCredentials(header) == nil) }

    @Test func `A bearer token is read unchanged`() {
        guard case .bearer(let token) = BackendCredentials("bearer  abc.def ") else {
            Issue.record("no bearer")
            return
        }
        #expect(token == "abc.def")
        #expect(BackendCredentials("Bearer ") == nil)
    }
}
