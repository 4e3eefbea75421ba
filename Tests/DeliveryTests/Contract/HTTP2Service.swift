import CNGHTTP2
import NIOCore
import NIOTLS
import Synchronization

@testable import Delivery

/// One HTTP/2 connection.
final class HTTP2ServiceHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let behaviour: ServiceBehaviour
    private let record: ServiceServer.Record
    private var session: HTTP2ServiceSession?

    init(_ behaviour: ServiceBehaviour, _ record: ServiceServer.Record) {
        (self.behaviour, self.record) = (behaviour, record)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is TLSUserEvent, session == nil else { return }
        record.state.withLock { $0.spoken += 1 }
        session = HTTP2ServiceSession(behaviour)
        flush(context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let session else { return }
        session.receive(unwrapInboundIn(data))
        let (loop, bound) = (context.eventLoop, NIOLoopBound((self, context), eventLoop: context.eventLoop))
        for (stream, request) in session.takeRequests() {
            record.take(request, timeout: behaviour.timeout) { reply in
                loop.execute { bound.value.0.answer(stream, reply, bound.value.1) }
            }
        }
        flush(context)
    }

    private func answer(_ stream: Int32, _ reply: ServiceReply, _ context: ChannelHandlerContext) {
        if case .cut = reply { return context.close(promise: nil) }
        session?.answer(stream, reply)
        flush(context)
    }

    private func flush(_ context: ChannelHandlerContext) {
        guard let session else { return }
        var buffer = ByteBuffer()
        session.write(to: &buffer)
        if buffer.readableBytes > 0 { context.writeAndFlush(wrapOutboundOut(buffer), promise: nil) }
        if session.isOver { context.close(promise: nil) }
    }
}

/// The server side of a connection, without input or output of its own.
private final class HTTP2ServiceSession {
    private let behaviour: ServiceBehaviour
    private var session: OpaquePointer?
    private var open: [Int32: ServiceRequest] = [:]
    private var complete: [(Int32, ServiceRequest)] = []
    private var bodies: [Int32: ArraySlice<UInt8>] = [:]
    private var answered = 0
    private var lastTaken: Int32 = 0
    /// The last stream that is still answered after GOAWAY.
    private var goodbye: Int32?

    init(_ behaviour: ServiceBehaviour) {
        self.behaviour = behaviour
        var callbacks: OpaquePointer?
        nghttp2_session_callbacks_new(&callbacks)
        defer { nghttp2_session_callbacks_del(callbacks) }
        Self.install(callbacks)
        nghttp2_session_server_new(&session, callbacks, Unmanaged.passUnretained(self).toOpaque())
        limit(behaviour.firstStreams ?? behaviour.streams)
    }

    deinit { nghttp2_session_del(session) }

    private func limit(_ streams: UInt32) {
        let entry = nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: streams)
        nghttp2_submit_settings(session, 0, [entry], 1)
    }

    var isOver: Bool { nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0 }

    func receive(_ bytes: ByteBuffer) {
        bytes.withUnsafeReadableBytes { bytes in
            _ = nghttp2_session_mem_recv(session, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        }
    }

    func write(to all: inout ByteBuffer) {
        while true {
            var bytes: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(session, &bytes)
            guard count > 0, let bytes else { return }
            all.writeBytes(UnsafeRawBufferPointer(start: bytes, count: count))
        }
    }

    func takeRequests() -> [(Int32, ServiceRequest)] {
        defer { complete = [] }
        return complete
    }

    func answer(_ stream: Int32, _ reply: ServiceReply) {
        guard case .answer(let status, let headers, let text) = reply else {
            nghttp2_submit_rst_stream(session, 0, stream, UInt32(NGHTTP2_REFUSED_STREAM.rawValue))
            return
        }
        bodies[stream] = text.isEmpty ? nil : ArraySlice(text.utf8)
        submit(stream, [(":status", "\(status)")] + headers.sorted { $0.key < $1.key }.map { ($0.key.lowercased(), $0.value) })
        answered += 1
        if answered == 1, behaviour.firstStreams != nil { limit(behaviour.streams) }
        if behaviour.goodbye > 0, answered == behaviour.goodbye {
            goodbye = lastTaken
            nghttp2_submit_goaway(session, 0, lastTaken, 0, nil, 0)
        }
    }

    private func submit(_ stream: Int32, _ fields: [(String, String)]) {
        var texts = fields.flatMap { Array($0.0.utf8) + Array($0.1.utf8) }
        texts.withUnsafeMutableBufferPointer { buffer in
            guard var place = buffer.baseAddress else { return }
            var list: [nghttp2_nv] = []
            for (name, value) in fields {
                let (name, value) = (name.utf8.count, value.utf8.count)
                list.append(nghttp2_nv(name: place, value: place + name, namelen: name, valuelen: value, flags: 0))
                place += name + value
            }
            var provider = nghttp2_data_provider()
            provider.read_callback = { _, stream, place, capacity, flags, _, user in
                guard let session = HTTP2ServiceSession.of(user), let place, let flags else { return 0 }
                return session.part(stream, place, capacity, flags)
            }
            if bodies[stream] == nil {
                nghttp2_submit_response(session, stream, list, list.count, nil)
            } else {
                nghttp2_submit_response(session, stream, list, list.count, &provider)
            }
        }
    }

    private func part(
        _ stream: Int32, _ place: UnsafeMutablePointer<UInt8>, _ capacity: Int, _ flags: UnsafeMutablePointer<UInt32>
    ) -> Int {
        let part = (bodies[stream] ?? []).prefix(capacity)
        for (index, byte) in part.enumerated() { place[index] = byte }
        bodies[stream]?.removeFirst(part.count)
        if bodies[stream]?.isEmpty != false { flags.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue) }
        return part.count
    }

    // MARK: - Callbacks of the library

    private static func of(_ user: UnsafeMutableRawPointer?) -> HTTP2ServiceSession? {
        user.map { Unmanaged<HTTP2ServiceSession>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func install(_ callbacks: OpaquePointer?) {
        nghttp2_session_callbacks_set_on_header_callback(callbacks) { _, frame, name, nameSize, value, valueSize, _, user in
            guard let frame, let session = HTTP2ServiceSession.of(user) else { return 0 }
            let name = String(decoding: UnsafeBufferPointer(start: name, count: nameSize), as: UTF8.self)
            let value = String(decoding: UnsafeBufferPointer(start: value, count: valueSize), as: UTF8.self)
            session.read(frame.pointee.hd.stream_id, name, value)
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, bytes, count, user in
            HTTP2ServiceSession.of(user)?.open[stream]?.body += UnsafeBufferPointer(start: bytes, count: count)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
            guard let header = frame?.pointee.hd, let session = HTTP2ServiceSession.of(user) else { return 0 }
            let isPart = header.type == NGHTTP2_HEADERS.rawValue || header.type == NGHTTP2_DATA.rawValue
            if isPart, header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 { session.ended(header.stream_id) }
            return 0
        }
    }

    private func read(_ stream: Int32, _ name: String, _ value: String) {
        switch name {
        case ":method": open[stream, default: ServiceRequest()].method = value
        case ":path": open[stream, default: ServiceRequest()].path = value
        case ":authority": open[stream, default: ServiceRequest()].authority = value
        default: open[stream, default: ServiceRequest()].headers[name] = value
        }
    }

    private func ended(_ stream: Int32) {
        guard let request = open.removeValue(forKey: stream), goodbye.map({ stream <= $0 }) ?? true else { return }
        lastTaken = stream
        complete.append((stream, request))
    }
}
