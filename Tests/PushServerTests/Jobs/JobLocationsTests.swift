import Glibc
import PushModel
import PushRuntime
import Testing

@testable import PushServer

@Suite struct JobLocationsTests {
    private let folder: String

    init() throws {
        var name = Array("/tmp/pushhost-jobs-XXXXXX\0".utf8CString)
        folder = try #require(mkdtemp(&name).map { String(cString: $0) })
        #expect(mkdir("\(folder)/allowed", 0o700) == 0)
    }

    private func places() -> JobLocations {
        JobLocations(
            folders: ["\(folder)/allowed/"], hosts: ["Files.example", "other.example:81"], isPublicOnly: true, spool: folder,
            random: SystemRandom())
    }

    /// Runs `work` and shuts the locations down afterwards.
    private func with<Result>(_ work: (JobLocations) async throws -> Result) async throws -> Result {
        let places = places()
        do {
            let result = try await work(places)
            await places.shutdown()
            return result
        } catch {
            await places.shutdown()
            throw error
        }
    }

    private func code(_ work: (JobLocations) async throws -> Void) async -> String? {
        do {
            try await with(work)
            return nil
        } catch {
            return (error as? PushError)?.code
        }
    }

    private func text(_ input: any JobInput) async throws -> String {
        var bytes: [UInt8] = []
        while let piece = try await input.next() { bytes += piece }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `A result appears when it is finished, and can be read back`() async throws {
        try await with { places in
            let output = try await places.write("hub/a b/Output.txt", in: "file://\(folder)/allowed/results/")
            try await output.write(Array("one\n".utf8))
            let uri = "file://localhost\(folder)/allowed/results/hub/a%20b/Output.txt"
            #expect(await code { _ = try await $0.read(uri) } == "job.files")
            try await output.write(Array("two\n".utf8))
            try await output.finish()
            let input = try await places.read(uri)
            #expect(input.size == 8)
            #expect(try await text(input) == "one\ntwo\n")
            let discarded = try await places.write("hub/b/Output.txt", in: "file://\(folder)/allowed")
            await discarded.discard()
            #expect(access("\(folder)/allowed/hub/b/.Output.txt.partial", F_OK) != 0)
        }
    }

    @Test func `Only locations that the operator allows are accepted, without path traversal`() async throws {
        let refused = [
            ("file://\(folder)/other/x", "job.forbidden"), ("file://\(folder)/allowedness/x", "job.forbidden"),
            ("file://\(folder)/allowed/../x", "job.uri"), ("file://\(folder)/allowed/%2e%2e/x", "job.uri"),
            ("file://\(folder)/allowed/a%2Fb", "job.uri"), ("file://\(folder)/allowed//x", "job.uri"),
            ("file://\(folder)/allowed/x?y", "job.uri"), ("file://host\(folder)/allowed/x", "job.uri"),
            ("ftp://files.example/x", "job.uri"), ("\(folder)/allowed/x", "job.uri"), ("", "job.uri"),
            ("http://files.example.org/x", "job.forbidden"), ("http://other.example/x", "job.forbidden"),
            ("http://other.example:82/x", "job.forbidden"), ("http://files.example@evil.example/x", "job.uri"),
        ]
        for (uri, expected) in refused { #expect(await code { try $0.check(uri) } == expected, "\(uri)") }
        let taken = [
            "file://\(folder)/allowed/x", "FILE://\(folder)/allowed/x", "http://files.example/x?sig=1", "https://FILES.example:9/x",
            "http://other.example:81/",
        ]
        for uri in taken { #expect(await code { try $0.check(uri) } == nil, "\(uri)") }
    }

    @Test func `Links do not lead out of a folder`() async throws {
        #expect(mkdir("\(folder)/secret", 0o700) == 0)
        #expect(symlink("\(folder)/secret", "\(folder)/allowed/link") == 0)
        #expect(symlink("/etc/passwd", "\(folder)/allowed/file") == 0)
        #expect(mkfifo("\(folder)/allowed/pipe", 0o600) == 0)
        for name in ["link/x", "file", "pipe", "link", "missing"] {
            #expect(await code { _ = try await $0.read("file://\(folder)/allowed/\(name)") } == "job.files", "\(name)")
        }
        #expect(await code { _ = try await $0.write("hub/j/Output.txt", in: "file://\(folder)/allowed/link") } == "job.files")
    }

    @Test func `A refusal lists the allowed locations and hides the signature in the URI`() async throws {
        do {
            try await with { try $0.check("http://evil.example/x?sig=secret") }
        } catch let error as PushError {
            #expect(error.status == 403)
            #expect(error.message == "jobs may not use http://evil.example/x")
            #expect(error.hint?.contains("file://\(folder)/allowed, http://files.example") == true)
        }
    }

    @Test func `A host on the local network is rejected, even if allowed`() async throws {
        for host in ["127.0.0.1", "localhost"] {
            let places = JobLocations(folders: [], hosts: [host], isPublicOnly: true, spool: folder, random: SystemRandom())
            let error = await #expect(throws: PushError.self) { _ = try await places.read("http://\(host):1/x") }
            #expect(error?.code == "job.files" && error?.message.contains("not public") == true)
            await places.shutdown()
        }
    }
}
