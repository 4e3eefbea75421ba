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

    /// Lets a client go on that asks before it sends a body (`Expect: 100-continue`, RFC 9110, section 10.1.1): some of them wait
    /// a second or longer for the answer, at every send.
    func letGoOn() async throws {
        try await channel.writeAndFlush(HTTPResponsePart.head(HTTPResponse(status: .continue)))
    }
}
