import CNGHTTP2
import Testing

/// An HTTP/2 client on libnghttp2, with bytes as input and output.
final class HTTP2Client {
    struct Answer: Equatable {
        var status = 0
        var fields: [String: String] = [:]
        var body: [UInt8] = []
        /// The error code of a closed stream; 0 for none.
        var code: UInt32?

        var text: String { String(decoding: body, as: UTF8.self) }
    }

    private(set) var answers: [Int32: Answer] = [:]
    /// The stream limits that the server announced, in order.
    private(set) var limits: [UInt32] = []
    private(set) var settings: [Int32: UInt32] = [:]
    private(set) var goAways: [(last: Int32, code: UInt32, debug: String)] = []
    private let session: OpaquePointer
    private var bodies: [Int32: [UInt8]] = [:]
    /// The number of body bytes sent.
    private(set) var sent = 0

    /// - Parameter trusting: The number of streams it opens before the server announces its limit.
    init(trusting: UInt32 = 100) throws {
        var callbacks: OpaquePointer?
        nghttp2_session_callbacks_new(&callbacks)
        defer { nghttp2_session_callbacks_del(callbacks) }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) { _, frame, name, nameCount, value, valueCount, _, client in
            guard let frame, let client = HTTP2Client.of(client) else { return 0 }
            let name = String(decoding: UnsafeBufferPointer(start: name, count: nameCount), as: UTF8.self)
            let value = String(decoding: UnsafeBufferPointer(start: value, count: valueCount), as: UTF8.self)
            client.read(name, value, frame.pointee.hd.stream_id)
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, bytes, count, client in
            HTTP2Client.of(client)?.answers[stream, default: Answer()].body += UnsafeBufferPointer(start: bytes, count: count)
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, client in
            HTTP2Client.of(client)?.answers[stream, default: Answer()].code = code
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, client in
            guard let frame, let client = HTTP2Client.of(client) else { return 0 }
            client.read(frame.pointee)
            return 0
        }
        var option: OpaquePointer?
        nghttp2_option_new(&option)
        defer { nghttp2_option_del(option) }
        nghttp2_option_set_peer_max_concurrent_streams(option, trusting)
        var made: OpaquePointer?
        nghttp2_session_client_new2(&made, callbacks, nil, option)
        session = try #require(made)
        nghttp2_session_set_user_data(session, Unmanaged.passUnretained(self).toOpaque())
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil, 0)
    }

    deinit { nghttp2_session_del(session) }

    private static func of(_ pointer: UnsafeMutableRawPointer?) -> HTTP2Client? {
        pointer.map { Unmanaged<HTTP2Client>.fromOpaque($0).takeUnretainedValue() }
    }

    private func read(_ name: String, _ value: String, _ stream: Int32) {
        if name == ":status" {
            answers[stream, default: Answer()].status = Int(value) ?? 0
        } else {
            answers[stream, default: Answer()].fields[name] = value
        }
    }

    private func read(_ frame: nghttp2_frame) {
        if UInt32(frame.hd.type) == NGHTTP2_SETTINGS.rawValue, frame.hd.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) == 0 {
            for index in 0..<frame.settings.niv {
                let entry = frame.settings.iv[index]
                settings[entry.settings_id] = entry.value
                if entry.settings_id == Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue) { limits.append(entry.value) }
            }
        }
        if UInt32(frame.hd.type) == NGHTTP2_GOAWAY.rawValue {
            let bytes = UnsafeBufferPointer(start: frame.goaway.opaque_data, count: frame.goaway.opaque_data_len)
            goAways.append((frame.goaway.last_stream_id, frame.goaway.error_code, String(decoding: bytes, as: UTF8.self)))
        }
    }

    /// Queues a request until the bytes are fetched, and returns the number of its stream.
    ///
    /// - Parameter end: Whether the body is complete; otherwise the request stays open.
    @discardableResult
    func request(_ fields: [(String, String)], body: [UInt8] = [], end: Bool = true) -> Int32 {
        var text: [UInt8] = []
        let spans = fields.map { name, value in
            let start = text.count
            text += Array(name.utf8) + Array(value.utf8)
            return (start, name.utf8.count, value.utf8.count)
        }
        return text.withUnsafeMutableBufferPointer { text in
            guard let base = text.baseAddress else { return -1 }
            let pairs = spans.map { start, name, value in
                nghttp2_nv(name: base + start, value: base + start + name, namelen: name, valuelen: value, flags: 0)
            }
            var provider = nghttp2_data_provider()
            provider.source.fd = end ? 1 : 0
            provider.read_callback = { _, stream, buffer, capacity, flags, source, client in
                guard let client = HTTP2Client.of(client), let flags, let source, let buffer else { return 0 }
                let part = client.bodies[stream]?.prefix(capacity) ?? []
                if part.isEmpty, source.pointee.fd == 0 { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
                UnsafeMutableRawBufferPointer(start: buffer, count: capacity).copyBytes(from: part)
                client.bodies[stream]?.removeFirst(part.count)
                client.sent += part.count
                if client.bodies[stream]?.isEmpty != false, source.pointee.fd == 1 {
                    flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
                }
                return part.count
            }
            let hasBody = !body.isEmpty || !end
            let stream =
                hasBody
                ? nghttp2_submit_request(session, nil, pairs, pairs.count, &provider, nil)
                : nghttp2_submit_request(session, nil, pairs, pairs.count, nil, nil)
            bodies[stream] = body
            return stream
        }
    }

    func cancel(_ stream: Int32) {
        nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, NGHTTP2_CANCEL.rawValue)
    }

    func takeBytes() -> [UInt8] {
        var all: [UInt8] = []
        while true {
            var bytes: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(session, &bytes)
            guard count > 0 else { return all }
            all += UnsafeBufferPointer(start: bytes, count: count)
        }
    }

    func receive(_ bytes: [UInt8]) { nghttp2_session_mem_recv(session, bytes, bytes.count) }
}
