import Foundation
import HostSupport
import Testing

@testable import PushHost

/// The contents of a terminal.
@Suite struct OutputTests {
    /// A terminal, and its output as a program sees it.
    private final class Screen {
        let output: Output
        private var ends: (own: Int32, other: Int32)

        init() throws {
            ends = Child.whileNoneIsMade {
                var ends: (Int32, Int32) = (-1, -1)
                var size = winsize(ws_row: 50, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
                openpty(&ends.0, &ends.1, nil, nil, &size)
                for end in [ends.0, ends.1] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
                return ends
            }
            output = Output(descriptor: ends.other, colour: false)
        }

        deinit {
            close(ends.own)
            close(ends.other)
        }

        /// Whether exactly this text comes next. The kernel passes what is written to a terminal on in the background.
        func shows(_ text: String) -> Bool {
            var bytes: [UInt8] = []
            var wait = pollfd(fd: ends.own, events: Int16(POLLIN), revents: 0)
            while poll(&wait, 1, bytes.count < text.utf8.count ? 600_000 : 0) > 0 {
                var buffer = [UInt8](repeating: 0, count: 4096)
                let count = Glibc.read(ends.own, &buffer, buffer.count)
                guard count > 0 else { break }
                bytes += buffer[..<count]
            }
            return bytes == Array(text.utf8)
        }
    }

    @Test func `While a question is open, the screen does not change; output is shown afterwards`() throws {
        let screen = try Screen()
        screen.output.progress("1 of 3")
        #expect(screen.shows("1 of 3"))
        screen.output.hold()
        #expect(screen.shows("\r\u{1b}[K"))
        screen.output.progress("2 of 3")
        screen.output.line("sent")
        screen.output.flush()
        #expect(screen.shows(""))
        screen.output.release()
        #expect(screen.shows("sent\r\n"))
        screen.output.progress("3 of 3")
        #expect(screen.shows("3 of 3"))
    }
}
