import AsyncHTTPClient
import Delivery
import NIOCore
import NIOHTTP1
import PushModel

/// Transfers one file of a job over HTTP. Redirects are not followed: they could lead to a host that is not allowed.
struct JobTransfer: Sendable {
    /// Maximum size of a fetched file in bytes.
    static let maximumSize: Int64 = 1 << 30
    private static let deadline = TimeAmount.minutes(10)

    let client: HTTPClient
    /// Rejects addresses that are not public; nil allows all.
    let network: PublicNetwork?
    let address: WebAddress

    private var url: String { "\(address.scheme)://\(address.authority)\(address.path)" }

    /// Fetches the file.
    func get(into file: TemporaryFile) async throws(PushError) -> any JobInput {
        do {
            try await network?.check(address.host)
            let answer = try await client.execute(HTTPClientRequest(url: url), timeout: Self.deadline)
            guard answer.status == .ok else { throw failure("the server answered \(answer.status.code)") }
            var size: Int64 = 0
            for try await part in answer.body {
                size += Int64(part.readableBytes)
                guard size <= Self.maximumSize else { throw failure("it has more than \(Self.maximumSize) bytes") }
                try await file.write(Array(part.readableBytesView))
            }
        } catch {
            throw (error as? PushError) ?? failure(Self.reason(error))
        }
        file.rewind()
        return file
    }

    /// Uploads the whole file. Azure Storage requires the header `x-ms-blob-type`.
    func put(_ file: TemporaryFile) async throws(PushError) {
        file.rewind()
        var request = HTTPClientRequest(url: url)
        request.method = .PUT
        request.headers.add(name: "Content-Type", value: "text/plain; charset=utf-8")
        request.headers.add(name: "x-ms-blob-type", value: "BlockBlob")
        request.body = .stream(FilePieces(file: file), length: .known(file.size))
        do {
            try await network?.check(address.host)
            let answer = try await client.execute(request, timeout: Self.deadline)
            guard (200..<300).contains(answer.status.code) else { throw failure("the server answered \(answer.status.code)") }
        } catch {
            throw (error as? PushError) ?? failure(Self.reason(error))
        }
    }

    private static func reason(_ error: any Error) -> String { (error as? HTTPClientError)?.shortDescription ?? "\(error)" }

    private func failure(_ why: String) -> PushError {
        PushError(
            "job.files", "a job cannot use \(url.withoutQuery): \(why)", hint: "check the address and its permissions",
            status: 502)
    }
}

/// Collects a job's result in a temporary file and uploads it at the end.
struct JobUpload: JobOutput {
    let transfer: JobTransfer
    let file: TemporaryFile

    func write(_ bytes: [UInt8]) async throws(PushError) { try await file.write(bytes) }
    func finish() async throws(PushError) { try await transfer.put(file) }
    func discard() {}
}

private struct FilePieces: AsyncSequence, Sendable {
    let file: TemporaryFile

    struct AsyncIterator: AsyncIteratorProtocol {
        let file: TemporaryFile

        mutating func next() async throws -> ByteBuffer? { try await file.next().map { ByteBuffer(bytes: $0) } }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(file: file) }
}
