import Dispatch
import Synchronization
import Testing

@testable import PushServer

@Suite struct LogLinesTests {
    /// A reader that blocks until it is opened, then reads everything.
    private final class Reader: Sendable {
        private let gate = DispatchSemaphore(value: 0)
        private let state = Mutex((text: "", isOpen: false, fails: false))

        var text: String { state.withLock { $0.text } }
        var fails: Bool {
            get { state.withLock { $0.fails } }
            set { state.withLock { $0.fails = newValue } }
        }

        func open() {
            state.withLock { $0.isOpen = true }
            gate.signal()
        }

        func write(_ bytes: [UInt8]) -> Bool {
            if !state.withLock({ $0.isOpen }) { gate.wait() }
            guard !fails else { return false }
            state.withLock { $0.text += String(decoding: bytes, as: UTF8.self) }
            return true
        }
    }

    private func lines(_ reader: Reader, limit: Int) -> LogWriter {
        LogWriter(limit: limit, write: { reader.write($0) }, note: { "\($0) are missing" })
    }

    @Test func `logging never waits for a blocked reader, and dropped lines are counted and reported`() async {
        let reader = Reader()
        let lines = lines(reader, limit: 100)
        for number in 0..<1000 { lines.line("line \(number)") }
        reader.open()
        await lines.finish(within: .seconds(600))
        let heard = reader.text.split(separator: "\n")
        // The first lines may already have been in progress.
        let kept = heard.filter { $0.hasPrefix("line ") }
        let missing = heard.filter { $0.hasSuffix(" are missing") }.compactMap { Int($0.prefix { $0.isNumber }) }
        #expect((12...30).contains(kept.count) && heard.first == "line 0")
        #expect(kept.count + missing.reduce(0, +) == 1000 && heard.last?.hasSuffix(" are missing") == true)
        lines.line("later")
        await lines.finish(within: .seconds(600))
        #expect(reader.text.hasSuffix(" are missing\nlater\n"))
    }

    @Test func `the end waits for a blocked reader, with a limit`() async {
        let reader = Reader()
        let lines = lines(reader, limit: 100)
        lines.line("a")
        await lines.finish(within: .zero)
        #expect(reader.text.isEmpty)
        reader.open()
        await lines.finish(within: .seconds(600))
        #expect(reader.text == "a\n")
    }

    @Test func `failed writes are counted, and the next line tries again`() async {
        let reader = Reader()
        reader.open()
        reader.fails = true
        let lines = lines(reader, limit: 100)
        for text in ["a", "b"] {
            lines.line(text)
            await lines.finish(within: .seconds(600))
        }
        reader.fails = false
        lines.line("c")
        await lines.finish(within: .seconds(600))
        #expect(reader.text == "c\n2 are missing\n")
    }
}
