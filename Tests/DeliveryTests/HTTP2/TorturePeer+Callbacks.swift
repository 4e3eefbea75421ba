import CNGHTTP2
import Delivery

extension TorturePeer {
    func install(_ callbacks: OpaquePointer?) {
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, user in
            if let frame { TorturePeer.of(user)?.begin(frame.pointee.hd.stream_id) }
            return 0
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) { _, frame, name, nameSize, value, valueSize, _, user in
            guard let frame, let peer = TorturePeer.of(user) else { return 0 }
            let name = String(decoding: UnsafeBufferPointer(start: name, count: nameSize), as: UTF8.self)
            let value = String(decoding: UnsafeBufferPointer(start: value, count: valueSize), as: UTF8.self)
            peer.read(frame.pointee.hd.stream_id, name, value)
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, bytes, count, user in
            let bytes = UnsafeBufferPointer(start: bytes, count: count)
            TorturePeer.of(user)?.requests[stream]?.body.append(contentsOf: bytes)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
            guard let frame, let peer = TorturePeer.of(user) else { return 0 }
            let header = frame.pointee.hd
            let isEnd = header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
            switch nghttp2_frame_type(UInt32(header.type)) {
            case NGHTTP2_HEADERS: peer.headersEnded(header.stream_id, isEnd: isEnd)
            case NGHTTP2_DATA: if isEnd { peer.ended(header.stream_id) }
            case NGHTTP2_PRIORITY: peer.ledger.note("the client sent PRIORITY")
            default: break
            }
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, _, user in
            TorturePeer.of(user)?.requests[stream] = nil
            return 0
        }
        nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) { _, frame, code, user in
            // Beyond a limit that the client had not received yet, which is not the client's fault.
            if code == NGHTTP2_ERR_REFUSED_STREAM.rawValue { return 0 }
            let type = frame?.pointee.hd.type ?? 0
            TorturePeer.of(user)?.ledger.note("an invalid frame of type \(type): \(String(cString: nghttp2_strerror(code)))")
            return 0
        }
        guard behaviour.isPadded else { return }
        nghttp2_session_callbacks_set_select_padding_callback(callbacks) { _, frame, most, _ in
            guard let frame else { return most }
            return min(most, frame.pointee.hd.length + 37)
        }
    }

    private func read(_ stream: Int32, _ name: String, _ value: String) {
        switch name {
        case "apns-id": requests[stream]?.id = PushID(value)
        case "apns-topic": requests[stream]?.topic = value
        case "authorization": requests[stream]?.authorization = value
        case ":path": requests[stream]?.path = value
        default: break
        }
    }
}
