import Foundation
import HostSupport
import PushModel
import Testing

/// The commands of `docs/how-to/serving.md` that call a server, run against one.
@Suite struct ServingGuideTests {
    @Test func `the commands of the section JSON API work, from the signature to the deleted hub`() async throws {
        let page = try String(contentsOf: BuiltProgram.root.appending(path: "docs/how-to/serving.md"), encoding: .utf8)
        let section = try #require(page.components(separatedBy: "\n## ").first { $0.hasPrefix("JSON API\n") })
        let blocks = section.components(separatedBy: "```sh\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
        #expect(blocks.count == 6)
        try await ServedHub.serving { hub in
            let script = try blocks.joined().replacing("URL=http://localhost:8080", with: "URL=http://localhost:\(hub.port)")
                .replacing("KEY=...", with: "KEY='\(hub.key(.root).reveal())'")
            let run = try await BuiltProgram.shell("set -e\n" + script)
            #expect(run.status == 0, "\(run.output)\(run.errors)")
            let texts = [
                #""registrationTTL":"P90D""#, #""primaryKey":""#, #"{"items":[]}{"items":[]}{"items":[]}{"items":[]}"#,
                "the hub has no registrations yet", #"{"notificationId":""#, #""secondaryKey":""#,
            ]
            for text in texts { #expect(run.output.contains(text), "\(text)") }
        }
    }
}
