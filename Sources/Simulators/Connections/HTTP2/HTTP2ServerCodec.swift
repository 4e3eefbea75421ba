import CNGHTTP2
import HTTPTypes
import NIOCore

/// The server side of an HTTP/2 connection (RFC 9113), without I/O or clock.
///
/// Pass received bytes to `receive`, process `takeEvents`, respond, and send what `drain` returns. Must be used by one thread at a time.
final class HTTP2ServerCodec {
    enum Event {
        /// A complete request, or one whose body exceeded the limit, with the body so far.
        case request(stream: Int32, HTTPRequest, body: [UInt8])
        /// The client cancelled a request that was not answered yet.
        case cancelled(stream: Int32)
    }

    /// A request in progress, with its response once there is one.
    struct Exchange {
        var head = HTTPRequest(method: .get, scheme: nil, authority: nil, path: nil)
        var fieldCount = 0
        /// Size as SETTINGS_MAX_HEADER_LIST_SIZE counts it.
        var headerBytes = 0
        var body: [UInt8] = []
        /// Number of discarded body bytes.
        var discarded = 0
        var isHandedOver = false
        /// Whether the client has sent the whole request.
        var isComplete = false
        var isAnswered = false
        var answer: [UInt8] = []
        var answered = 0
        var isAnswerSent = false
    }

    let limits: HTTP2Limits
    /// Maximum number of concurrent requests; further ones are refused with REFUSED_STREAM.
    private(set) var streamLimit: UInt32
    /// Number of requests refused because of the limit.
    private(set) var refusals = 0
    private let session: OpaquePointer
    /// The header block being read; blocks are never interleaved (RFC 9113 section 4.3).
    private var opening: (stream: Int32, exchange: Exchange)?
    private var exchanges: [Int32: Exchange] = [:]
    private var fields = HTTP2FieldCache()
    private var events: [Event] = []
    private var goAwayData: (stream: Int32, debugData: [UInt8])?
    private var answers = 0
    private var resets = 0
    /// The stream limits of SETTINGS frames that have not been sent yet, oldest first.
    private var pendingStreamLimits: [UInt32] = []

    /// libnghttp2's own limit would close the connection, and counts differently. So it gets none, and the real limit is written into its
    /// frames.
    private static let unlimited: UInt32 = 0x7fff_ffff

    init(streamLimit: UInt32, limits: HTTP2Limits = HTTP2Limits()) throws(HTTP2Failure) {
        self.limits = limits
        self.streamLimit = streamLimit
        session = try Self.newSession()
        nghttp2_session_set_user_data(session, Unmanaged.passUnretained(self).toOpaque())
        pendingStreamLimits.append(streamLimit)
        var entries = [
            nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_HEADER_TABLE_SIZE.rawValue), value: limits.headerTableSize),
            nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: Self.unlimited),
            nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue), value: limits.initialWindowSize),
            nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_MAX_FRAME_SIZE.rawValue), value: limits.largestFrame),
            nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue), value: limits.largestHeaderList),
        ]
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), &entries, entries.count)
    }

    deinit { nghttp2_session_del(session) }

    /// Number of open requests.
    var openCount: Int { exchanges.count + (opening == nil ? 0 : 1) }

    /// Whether nothing is left to read or send, so that the connection may be closed.
    var isFinished: Bool { nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0 }

    func takeEvents() -> [Event] {
        defer { events.removeAll(keepingCapacity: true) }
        return events
    }

    // MARK: - Bytes

    /// Processes bytes from the client, split at any position.
    func receive(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Failure) {
        let count = nghttp2_session_mem_recv(session, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
        if count < 0 { throw HTTP2Failure(code: count) }
    }

    /// Appends pending bytes until `buffer` has about `limit` bytes. Returns `false` if there were none.
    func drain(into buffer: inout ByteBuffer, limit: Int) throws(HTTP2Failure) -> Bool {
        let start = buffer.writerIndex
        while buffer.readableBytes < limit {
            var bytes: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(session, &bytes)
            if count < 0 { throw HTTP2Failure(code: count) }
            guard count > 0 else { break }
            let offset = buffer.writerIndex
            buffer.writeBytes(UnsafeRawBufferPointer(start: bytes, count: count))
            writeStreamLimit(in: &buffer, at: offset, count: count)
        }
        return buffer.writerIndex > start
    }

    /// Writes the stream limit into a SETTINGS frame (RFC 9113 section 6.5.1). libnghttp2 returns one frame at a time.
    private func writeStreamLimit(in buffer: inout ByteBuffer, at offset: Int, count: Int) {
        guard count > 9, buffer.getInteger(at: offset + 3, as: UInt8.self) == UInt8(NGHTTP2_SETTINGS.rawValue), !pendingStreamLimits.isEmpty
        else { return }
        for entry in stride(from: offset + 9, through: offset + count - 6, by: 6)
        where buffer.getInteger(at: entry, as: UInt16.self) == UInt16(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue) {
            buffer.setInteger(pendingStreamLimits.removeFirst(), at: entry + 2)
            return
        }
    }

    // MARK: - Responses

    /// Answers a request; ignored if the request is no longer open.
    func respond(to stream: Int32, _ response: HTTPResponse, body: [UInt8]) {
        guard let exchange = exchanges[stream], !exchange.isAnswered else { return }
        // A response to HEAD has no body (RFC 9110 section 9.3.2).
        let body = exchange.head.method == .head ? [] : body
        exchanges[stream]?.isAnswered = true
        exchanges[stream]?.answer = body
        answers += 1
        HTTP2ResponseFields(response).withFields { fields, count in
            guard !body.isEmpty else {
                nghttp2_submit_response(session, stream, fields, count, nil)
                return
            }
            var provider = nghttp2_data_provider()
            provider.read_callback = Self.readAnswer
            nghttp2_submit_response(session, stream, fields, count, &provider)
        }
    }

    /// Ends a request without a response (RST_STREAM).
    func reset(_ stream: Int32, code: nghttp2_error_code) {
        nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code.rawValue)
    }

    /// Changes the limit of concurrent requests, and enforces it immediately.
    func setStreamLimit(_ limit: UInt32) {
        guard limit != streamLimit else { return }
        streamLimit = limit
        pendingStreamLimits.append(limit)
        var entry = nghttp2_settings_entry(
            settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: Self.unlimited)
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), &entry, 1)
    }

    /// Sends GOAWAY once this request is fully answered, for clients that stop at GOAWAY.
    func goAway(after stream: Int32, debugData: [UInt8]) {
        guard exchanges[stream]?.isAnswered == true else { return goAway(debugData: debugData) }
        goAwayData = (stream, debugData)
    }

    /// Sends GOAWAY (RFC 9113 section 6.8): no new requests are accepted; those in progress are still answered.
    func goAway(_ code: nghttp2_error_code = NGHTTP2_NO_ERROR, debugData: [UInt8]) {
        nghttp2_submit_goaway(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nghttp2_session_get_last_proc_stream_id(session), code.rawValue, debugData,
            debugData.count)
    }
}

// MARK: - Callbacks of libnghttp2

extension HTTP2ServerCodec {
    private static func newSession() throws(HTTP2Failure) -> OpaquePointer {
        var callbacks: OpaquePointer?
        nghttp2_session_callbacks_new(&callbacks)
        defer { nghttp2_session_callbacks_del(callbacks) }
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, codec in
            guard let frame, let codec = HTTP2ServerCodec.of(codec) else { return 0 }
            codec.begin(frame.pointee)
            return 0
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) { _, frame, name, nameCount, value, valueCount, _, codec in
            guard let frame, let codec = HTTP2ServerCodec.of(codec) else { return 0 }
            codec.read(
                UnsafeBufferPointer(start: name, count: nameCount), UnsafeBufferPointer(start: value, count: valueCount),
                of: frame.pointee.hd.stream_id)
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, bytes, count, codec in
            HTTP2ServerCodec.of(codec)?.read(UnsafeBufferPointer(start: bytes, count: count), of: stream)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, codec in
            guard let frame, let codec = HTTP2ServerCodec.of(codec) else { return 0 }
            codec.end(frame.pointee)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, codec in
            guard let frame, let codec = HTTP2ServerCodec.of(codec) else { return 0 }
            codec.sent(frame.pointee)
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, _, codec in
            HTTP2ServerCodec.of(codec)?.close(stream)
            return 0
        }
        var session: OpaquePointer?
        let status = nghttp2_session_server_new(&session, callbacks, nil)
        guard status == 0, let session else { throw HTTP2Failure(code: Int(status)) }
        return session
    }

    /// Unretained: the codec outlives its session.
    private static func of(_ pointer: UnsafeMutableRawPointer?) -> HTTP2ServerCodec? {
        pointer.map { Unmanaged<HTTP2ServerCodec>.fromOpaque($0).takeUnretainedValue() }
    }

    private static let readAnswer: nghttp2_data_source_read_callback = { _, stream, buffer, capacity, flags, _, codec in
        guard let codec = HTTP2ServerCodec.of(codec), let buffer, let flags else { return 0 }
        return codec.readAnswer(stream, into: UnsafeMutableRawBufferPointer(start: buffer, count: capacity), &flags.pointee)
    }

    private func readAnswer(_ stream: Int32, into buffer: UnsafeMutableRawBufferPointer, _ flags: inout UInt32) -> Int {
        guard let exchange = exchanges[stream] else {
            flags |= NGHTTP2_DATA_FLAG_EOF.rawValue
            return 0
        }
        let rest = exchange.answer[exchange.answered...].prefix(buffer.count)
        buffer.copyBytes(from: rest)
        exchanges[stream]?.answered += rest.count
        if exchange.answered + rest.count == exchange.answer.count { flags |= NGHTTP2_DATA_FLAG_EOF.rawValue }
        return rest.count
    }

    private func begin(_ frame: nghttp2_frame) {
        guard Self.isRequest(frame) else { return }
        let stream = frame.hd.stream_id
        guard openCount < Int(streamLimit) else {
            refusals += 1
            return reset(stream, code: NGHTTP2_REFUSED_STREAM)
        }
        opening = (stream, Exchange())
    }

    private static func isRequest(_ frame: nghttp2_frame) -> Bool {
        frame.hd.type == UInt8(NGHTTP2_HEADERS.rawValue) && frame.headers.cat == NGHTTP2_HCAT_REQUEST
    }

    private func read(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, of stream: Int32) {
        // Ignore fields of refused requests, and trailers, which no client sends.
        guard opening?.stream == stream else { return }
        opening?.exchange.headerBytes += name.count + value.count + 32
        guard let first = name.first, let index = opening?.exchange.fieldCount, !isTooLong else { return }
        if first == UInt8(ascii: ":") {
            readPseudoField(name, String(decoding: value, as: UTF8.self))
        } else if let field = fields.field(at: index, name: name, value: value) {
            opening?.exchange.head.headerFields.append(field)
            opening?.exchange.fieldCount += 1
        }
    }

    private var isTooLong: Bool { (opening?.exchange.headerBytes ?? 0) > Int(limits.largestHeaderList) }

    /// RFC 9113 section 8.3.1. libnghttp2 ensures that each occurs at most once, and comes first.
    private func readPseudoField(_ name: UnsafeBufferPointer<UInt8>, _ value: String) {
        switch name.count {
        case 5: opening?.exchange.head.path = value  // :path
        case 7 where name[1] == UInt8(ascii: "m"):
            if let method = HTTPRequest.Method(rawValue: value) { opening?.exchange.head.method = method }
        case 7: opening?.exchange.head.scheme = value
        case 10: opening?.exchange.head.authority = value
        default: break
        }
    }

    private func read(_ bytes: UnsafeBufferPointer<UInt8>, of stream: Int32) {
        guard let exchange = exchanges[stream] else { return }
        guard !exchange.isHandedOver, !exchange.isAnswered else {
            exchanges[stream]?.discarded += bytes.count
            return resetIfOversized(stream)
        }
        exchanges[stream]?.body.append(contentsOf: bytes)
        if exchange.body.count + bytes.count > limits.largestBody { handOver(stream) }
    }

    private func end(_ frame: nghttp2_frame) {
        let stream = frame.hd.stream_id
        switch UInt32(frame.hd.type) {
        case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
            if let (opened, exchange) = opening, opened == stream, Self.isRequest(frame) {
                let isTooLong = isTooLong
                opening = nil
                exchanges[stream] = exchange
                if isTooLong { respond(to: stream, HTTPResponse(status: .requestHeaderFieldsTooLarge), body: []) }
            }
            guard frame.hd.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 else { return }
            exchanges[stream]?.isComplete = true
            handOver(stream)
        case NGHTTP2_RST_STREAM.rawValue:
            resets += 1
            if resets > limits.resetAllowance + answers {
                nghttp2_session_terminate_session(session, NGHTTP2_ENHANCE_YOUR_CALM.rawValue)
            }
        default: break
        }
    }

    private func handOver(_ stream: Int32) {
        guard let exchange = exchanges[stream], !exchange.isHandedOver, !exchange.isAnswered else { return }
        exchanges[stream]?.isHandedOver = true
        exchanges[stream]?.body = []
        var head = exchange.head
        // Replaces :authority, which a client may omit (RFC 9113 section 8.3.1).
        if head.authority == nil { head.authority = head.headerFields.first("host") }
        events.append(.request(stream: stream, head, body: exchange.body))
    }

    private func sent(_ frame: nghttp2_frame) {
        guard frame.hd.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0,
            [NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue].contains(UInt32(frame.hd.type))
        else { return }
        exchanges[frame.hd.stream_id]?.isAnswerSent = true
        resetIfOversized(frame.hd.stream_id)
    }

    /// Resets a request that is answered but still sends too much.
    private func resetIfOversized(_ stream: Int32) {
        guard let exchange = exchanges[stream], exchange.isAnswerSent, !exchange.isComplete,
            exchange.discarded > limits.maximumDiscardedBody
        else { return }
        reset(stream, code: NGHTTP2_NO_ERROR)
    }

    private func close(_ stream: Int32) {
        if opening?.stream == stream { opening = nil }
        guard let exchange = exchanges.removeValue(forKey: stream) else { return }
        if let goAwayData, goAwayData.stream == stream { goAway(debugData: goAwayData.debugData) }
        if exchange.isHandedOver, !exchange.isAnswered { events.append(.cancelled(stream: stream)) }
    }
}
