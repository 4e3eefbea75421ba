import HTTPTypes
import HubWire
import Hummingbird
import HummingbirdCore
import NIOCore
import PushModel

/// Reads the body of a request from its connection. Each route passes its own size limit.
struct BodyReader: Sendable {
    let request: Request
    let context: HubRequestContext
    /// Whether a body with a content coding is read too. Plugins receive it with its header and may decode it.
    let acceptsCoding: Bool

    var body: RequestBody {
        RequestBody { limit throws(PushError) in
            if !acceptsCoding { try checkCoding() }
            return try await collect(limit: limit)
        }
    }

    /// Reads the whole body: up to its Content-Length, its last chunk or the end of its stream. The connection's guard limits the time.
    private func collect(limit: Int) async throws(PushError) -> [UInt8] {
        let length = request.headers[.contentLength].flatMap { Int($0) }
        if let length, length > limit { throw Self.tooLarge(limit) }
        var bytes: [UInt8] = []
        do {
            if request.headers[.expect]?.lowercased() == "100-continue" { try await context.sendContinue() }
            for try await part in request.body {
                guard bytes.count + part.readableBytes <= limit else { throw Self.tooLarge(limit) }
                bytes += part.readableBytesView
            }
        } catch let error as PushError {
            throw error
        } catch is RequestGuard.BodyTimeout {
            throw PushError(
                "request.too_slow", "the body did not arrive in time", hint: "send it again", status: 408, isRetryable: true)
        } catch is RequestGuard.NoMemory {
            throw PushError(
                "request.busy", "too many bytes are buffered for this client or for the server",
                hint: "read earlier responses, then send the request again in a second", status: 503, isRetryable: true,
                details: ["retryAfter": 1])
        } catch is ChunkGuard.ExcessiveOverhead {
            throw PushError(
                "request.broken", "the chunks of the body have more than \(ChunkGuard.tolerance / 1024) KiB of extensions",
                hint: "send the body without chunk extensions", status: 400)
        } catch {
            throw Self.broken
        }
        guard length == nil || length == bytes.count else { throw Self.broken }
        return bytes
    }

    private func checkCoding() throws(PushError) {
        guard let name = request.headers[.contentEncoding].flatMap(ContentCoding.firstEncoded(in:)) else { return }
        throw PushError(
            "request.encoding", "the body has the content coding \"\(name)\", which this server does not decode; nothing was changed",
            hint: "send the body without Content-Encoding", status: 415, details: ["acceptEncoding": "identity"])
    }

    private static var broken: PushError {
        PushError("request.broken", "the connection ended before the body did", hint: "send it again", status: 400)
    }

    private static func tooLarge(_ limit: Int) -> PushError {
        PushError(
            "request.too_large", "the body has more than \(limit) bytes", hint: "send less at a time", status: 413,
            details: ["limit": .integer(Int64(limit))])
    }
}
