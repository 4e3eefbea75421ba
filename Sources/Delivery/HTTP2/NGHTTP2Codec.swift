import CNGHTTP2
import NIOCore

/// The HTTP/2 codec, based on libnghttp2.
final class NGHTTP2Codec: PushCodec {
    private let session: OpaquePointer
    private let reader: AnswerReader
    private let slots: StreamSlots
    private var prepared: PreparedHeaders?
    /// Frames that had to be written before the header texts they refer to were freed.
    private var spill = ByteBuffer()

    /// Receive window for responses: larger than all of them together.
    private static let connectionWindow: Int32 = 1 << 20
    private static let maximumHeaderListSize: UInt32 = 65_536

    /// - Parameters:
    ///   - firstStream: The first stream id, an odd number; other than 1 only in tests.
    ///   - recordsHeaders: Whether answers include all header fields.
    init(slots: StreamSlots, firstStream: Int32 = 1, recordsHeaders: Bool = false) throws(CodecFailure) {
        let reader = AnswerReader(slots: slots, recordsHeaders: recordsHeaders)
        self.slots = slots
        self.reader = reader
        session = try Self.session(reader)
        try Self.check(submitSettings())
        try Self.check(nghttp2_session_set_local_window_size(session, 0, 0, Self.connectionWindow))
        if firstStream > 1 { try Self.check(nghttp2_session_set_next_stream_id(session, firstStream)) }
    }

    deinit { nghttp2_session_del(session) }

    private static func session(_ reader: AnswerReader) throws(CodecFailure) -> OpaquePointer {
        var callbacks: OpaquePointer?
        var option: OpaquePointer?
        try check(nghttp2_session_callbacks_new(&callbacks))
        defer { nghttp2_session_callbacks_del(callbacks) }
        try check(nghttp2_option_new(&option))
        defer { nghttp2_option_del(option) }
        AnswerReader.install(callbacks)
        // libnghttp2 assumes 100 until the peer's SETTINGS arrive.
        nghttp2_option_set_peer_max_concurrent_streams(option, 1)
        nghttp2_option_set_no_closed_streams(option, 1)
        var session: OpaquePointer?
        try check(nghttp2_session_client_new2(&session, callbacks, Unmanaged.passUnretained(reader).toOpaque(), option))
        guard let session else { throw .library(Int(NGHTTP2_ERR_NOMEM.rawValue)) }
        return session
    }

    private func submitSettings() -> Int32 {
        let settings = [
            nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0),
            nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue), value: Self.maximumHeaderListSize),
        ]
        return nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count)
    }

    private static func check(_ code: Int32) throws(CodecFailure) {
        if code != 0 { throw .library(Int(code)) }
    }

    var peerLimit: Int { reader.peerLimit }

    var isFinished: Bool { nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0 }

    func exchangeEvents(with other: inout [CodecEvent]) { reader.exchangeEvents(with: &other) }

    func submit(_ slot: Int32) throws(CodecFailure) {
        guard let ticket = slots[slot].pointee.ticket else { preconditionFailure("a slot is taken before its request begins") }
        let prepared = try prepared(for: ticket.job.batch.headers)
        var provider = nghttp2_data_provider()
        provider.source.fd = slot
        provider.read_callback = AnswerReader.readBody
        let stream = ticket.job.batch.withPath(ticket.index) { path in
            prepared.withFields(
                path: path, id: ticket.job.batch.id(ticket.index), length: ticket.job.batch.bodySize(ticket.index)
            ) { fields in
                // The tag must not be `nil`, so count slots from 1.
                nghttp2_submit_request(
                    session, nil, fields.baseAddress, fields.count, &provider, UnsafeMutableRawPointer(bitPattern: Int(slot) + 1))
            }
        }
        guard stream > 0 else {
            throw stream == NGHTTP2_ERR_STREAM_ID_NOT_AVAILABLE.rawValue ? .streamsExhausted : .library(Int(stream))
        }
        slots[slot].pointee.stream = stream
    }

    private func prepared(for template: HeaderTemplate) throws(CodecFailure) -> PreparedHeaders {
        if let prepared, prepared.template === template { return prepared }
        // Pending frames refer to the old header texts, so write them first. Use a local buffer, since `write` reads `spill`.
        if prepared != nil {
            var frames = spill
            spill = ByteBuffer()
            try write(to: &frames, limit: .max)
            spill = frames
        }
        let new = PreparedHeaders(template)
        prepared = new
        return new
    }

    func receive(_ bytes: UnsafeRawBufferPointer) throws(CodecFailure) {
        guard let start = bytes.baseAddress else { return }
        let count = nghttp2_session_mem_recv(session, start.assumingMemoryBound(to: UInt8.self), bytes.count)
        if count < 0 { throw .library(Int(count)) }
    }

    func write(to out: inout ByteBuffer, limit: Int) throws(CodecFailure) {
        if spill.readableBytes > 0 {
            out.writeBuffer(&spill)
            spill.clear()
        }
        while out.readableBytes < limit {
            var bytes: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(session, &bytes)
            if count < 0 { throw .library(Int(count)) }
            guard count > 0, let bytes else { return }
            out.writeBytes(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
        }
    }

    func cancel(stream: Int32) {
        nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, UInt32(NGHTTP2_CANCEL.rawValue))
    }

    func ping() { nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil) }

    func goAway() { nghttp2_session_terminate_session(session, UInt32(NGHTTP2_NO_ERROR.rawValue)) }
}
