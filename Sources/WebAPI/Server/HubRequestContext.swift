import Glibc
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTPTypes

/// What belongs to a request beside what its client sent.
package struct HubRequestContext: InitializableFromSource {
    private let channel: any Channel

    package init(source: ApplicationRequestContextSource) {
        channel = source.channel
    }

    /// As `WebRequest` has it.
    var clientAddress: String {
        guard let text = channel.remoteAddress?.ipAddress else { return "local" }
        var bytes = [UInt8](repeating: 0, count: 16)
        guard inet_pton(AF_INET6, String(text.prefix { $0 != "%" }), &bytes) == 1 else { return text }
        // An IPv4 address in the clothes of IPv6 is one.
        return bytes.prefix(12).elementsEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff])
            ? bytes.suffix(4).map(String.init).joined(separator: ".")
            : bytes.prefix(8).map { String($0, radix: 16) }.joined(separator: ":")
    }

    /// Lets a client go on that asks before it sends a body (`Expect: 100-continue`, RFC 9110, section 10.1.1): some of them wait
    /// a second or longer for the answer, at every send.
    func letGoOn() async throws {
        try await channel.writeAndFlush(HTTPResponsePart.head(HTTPResponse(status: .continue)))
    }
}
