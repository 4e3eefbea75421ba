import Foundation
import PushModel
import Support
import Synchronization
import Testing

@testable import PushRuntime

/// Changes in folders, as ``FolderWatch`` reports them.
@Suite struct FolderWatchTests {
    @Test func `a burst ends when writes stop, however many there are`() async throws {
        let folder = try ScriptFolder()
        let watch = try FolderWatch(endsWithOutput: false, quiet: .seconds(5), longestBurst: .seconds(300))
        #expect(try watch.follow([], allIn: [folder.url.path]))
        let written = Atomic(0)
        async let atItsEnd = watch.next(within: nil) ? written.load(ordering: .acquiring) : -1
        // Without a suspension, after which the task could wait for other tests longer than the quiet time.
        for number in 1...500 {
            try folder.write("\(number).lua", Data("return \(number)".utf8))
            written.store(number, ordering: .releasing)
        }
        #expect(await atItsEnd == 500)
    }

    @Test func `a failure names the folder and the reason, and has a hint only if there is a fix`() {
        let full = FolderWatch.failure(ENOSPC, "scripts/spec")
        #expect(full.code == "watch.failed")
        #expect(full.message == "the folder scripts/spec cannot be watched: No space left on device")
        #expect(full.hint?.contains("max_user_watches") == true)
        #expect(FolderWatch.failure(EMFILE).hint?.contains("max_user_instances") == true)
        #expect(FolderWatch.failure(ENOMEM, "scripts").hint == nil)
    }
}
