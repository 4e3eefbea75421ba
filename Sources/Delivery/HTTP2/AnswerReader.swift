import CNGHTTP2
import Glibc
import PushModel

/// The callbacks of libnghttp2. They only record responses in slots, and events for later.
final class AnswerReader {
    private let slots: StreamSlots
    private let recordsHeaders: Bool
    private var events: [CodecEvent] = []
    private(set) var peerLimit = 1
    /// Caches the slot of the latest stream: the header fields of a response arrive together.
    private var (lastStream, lastSlot) = (Int32(-1), Int32(-1))

    /// Upper limit for the number of streams that a peer may announce.
    private static let maximumStreams: UInt32 = 1 << 20

    private static let apnsID: StaticString = "apns-id"
    private static let apnsRequestID: StaticString = "apns-request-id"
    private static let retryAfter: StaticString = "retry-after"
    private static let location: StaticString = "location"

    init(slots: StreamSlots, recordsHeaders: Bool) {
        self.slots = slots
        self.recordsHeaders = recordsHeaders
    }

    func exchangeEvents(with other: inout [CodecEvent]) { swap(&events, &other) }

    static func install(_ callbacks: OpaquePointer?) {
        nghttp2_session_callbacks_set_on_header_callback(callbacks) { session, frame, name, nameSize, value, valueSize, _, user in
            guard let reader = AnswerReader.of(user), let frame, let name, let value else { return AnswerReader.failure }
            reader.readHeader(
                session, frame.pointee.hd.stream_id, UnsafeBufferPointer(start: name, count: nameSize),
                UnsafeBufferPointer(start: value, count: valueSize))
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { session, _, stream, bytes, count, user in
            guard let reader = AnswerReader.of(user) else { return AnswerReader.failure }
            reader.readData(session, stream, UnsafeBufferPointer(start: bytes, count: count))
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { session, stream, code, user in
            guard let reader = AnswerReader.of(user) else { return AnswerReader.failure }
            reader.ended(session, stream, code)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { session, frame, user in
            guard let reader = AnswerReader.of(user), let frame else { return AnswerReader.failure }
            reader.readFrame(session, frame)
            return 0
        }
    }

    /// Copies as much of the body as fits. The end of the body is the end of the request.
    static let readBody: nghttp2_data_source_read_callback = { _, stream, pointer, capacity, flags, source, user in
        guard let reader = AnswerReader.of(user), let source, let flags, let pointer,
            let slot = reader.slots.pointer(source.pointee.fd, of: stream), let ticket = slot.pointee.ticket
        else {
            // The request was released, so reset its stream instead.
            return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
        }
        let count = ticket.job.batch.copyBody(ticket.index, from: slot.pointee.sent, to: pointer, capacity: capacity)
        slot.pointee.sent += count
        if slot.pointee.sent == ticket.job.batch.bodySize(ticket.index) {
            flags.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue)
            slot.pointee.isEnded = true
        }
        return count
    }

    private static let failure = NGHTTP2_ERR_CALLBACK_FAILURE.rawValue

    /// Unretained: the codec owns the reader and makes the call.
    @inline(__always)
    private static func of(_ user: UnsafeMutableRawPointer?) -> AnswerReader? {
        guard let user else { return nil }
        return Unmanaged<AnswerReader>.fromOpaque(user)._withUnsafeGuaranteedRef { $0 }
    }

    private func pointer(_ session: OpaquePointer?, _ stream: Int32) -> UnsafeMutablePointer<StreamSlot>? {
        if stream != lastStream {
            lastSlot = Int32(truncatingIfNeeded: Int(bitPattern: nghttp2_session_get_stream_user_data(session, stream)) - 1)
            lastStream = stream
        }
        return slots.pointer(lastSlot, of: stream)
    }

    private func readHeader(
        _ session: OpaquePointer?, _ stream: Int32, _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>
    ) {
        if recordsHeaders, name.first != UInt8(ascii: ":") {
            pointer(session, stream)?.pointee.headers.append(
                PushHeader(String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)))
        }
        // Filter by length: ":status" and "apns-id" have 7 bytes, "location" 8, "retry-after" 11, "apns-request-id" 15.
        guard name.count == 7 || name.count == 8 || name.count == 11 || name.count == 15, let pointer = pointer(session, stream) else {
            return
        }
        if name[0] == UInt8(ascii: ":") {
            if value.count == 3 { pointer.pointee.status = value.reduce(0) { $0 * 10 + Int32($1) - 48 } }
        } else if Self.apnsID.isSame(name) || Self.apnsRequestID.isSame(name) {
            pointer.pointee.id = PushID(ascii: value)
            if pointer.pointee.id == nil { pointer.pointee.idText = String(decoding: value, as: UTF8.self).excerpt }
        } else if Self.retryAfter.isSame(name) {
            pointer.pointee.retryAfter = String(decoding: value, as: UTF8.self).excerpt
        } else if Self.location.isSame(name) {
            pointer.pointee.location = String(decoding: value.prefix(AnswerDetails.maximumLocationSize), as: UTF8.self)
        }
    }

    private func readData(_ session: OpaquePointer?, _ stream: Int32, _ bytes: UnsafeBufferPointer<UInt8>) {
        guard let pointer = pointer(session, stream) else { return }
        pointer.pointee.body.append(contentsOf: bytes.prefix(AnswerDetails.maximumBodySize - pointer.pointee.body.count))
    }

    private func ended(_ session: OpaquePointer?, _ stream: Int32, _ code: UInt32) {
        let isLive = pointer(session, stream) != nil
        let slot = lastSlot
        lastStream = -1
        if isLive { events.append(.ended(slot: slot, stream: stream, code: code)) }
    }

    private func readFrame(_ session: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>) {
        let header = frame.pointee.hd
        switch nghttp2_frame_type(UInt32(header.type)) {
        case NGHTTP2_HEADERS, NGHTTP2_DATA:
            guard header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0, let pointer = pointer(session, header.stream_id) else {
                return
            }
            pointer.pointee.isComplete = true
            // The response came before the end of the request. Reset the stream, since the rest might wait for flow control forever.
            if !pointer.pointee.isEnded {
                nghttp2_submit_rst_stream(
                    session, UInt8(NGHTTP2_FLAG_NONE.rawValue), header.stream_id, UInt32(NGHTTP2_CANCEL.rawValue))
            }
        case NGHTTP2_SETTINGS:
            guard header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) == 0 else { return }
            peerLimit = Int(
                min(nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS), Self.maximumStreams))
        case NGHTTP2_PING:
            if header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0 { events.append(.alive) }
        case NGHTTP2_GOAWAY:
            let goAway = frame.pointee.goaway
            let debugData = UnsafeBufferPointer(start: goAway.opaque_data, count: goAway.opaque_data_len)
            events.append(.goAway(Self.reason(debugData, code: goAway.error_code)))
        default: break
        }
    }

    /// The reason of a GOAWAY frame. APNs sends a JSON object with a `reason`.
    private static func reason(_ debugData: UnsafeBufferPointer<UInt8>, code: UInt32) -> String {
        guard !debugData.isEmpty else { return code == 0 ? "it closes the connection" : "HTTP/2 error \(code)" }
        return GoAwayReason.text(Array(debugData.prefix(1_024)))
    }
}

extension StaticString {
    fileprivate func isSame(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let start = bytes.baseAddress else { return false }
        return bytes.count == utf8CodeUnitCount && memcmp(start, utf8Start, bytes.count) == 0
    }
}
