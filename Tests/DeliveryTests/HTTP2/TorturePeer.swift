import CNGHTTP2
import Delivery
import NIOCore

/// A push service on the server mode of libnghttp2, independent of the client's framing: it records a ledger and misbehaves.
final class TorturePeer {
    struct Request {
        var id: PushID?
        var topic = ""
        var path = ""
        var authorization = ""
        var body: [UInt8] = []
        var number = 0
        var isIgnored = false
        var isAnswered = false
    }

    static let errorBody = #"{"reason":"Unregistered","timestamp":1700000000000}"#

    let behaviour: TortureBehaviour
    let ledger: Ledger
    /// The body that a request with this topic must have.
    let expectedBody: (String) -> [UInt8]?
    private var session: OpaquePointer?
    var requests: [Int32: Request] = [:]
    /// Processed requests that wait for their answers.
    private var due: [Int32] = []
    private var count = 0
    private var processed = 0
    private var lastProcessed: Int32 = 0
    private var goodbye: Int32?
    private var isRaised = false
    /// Bodies of answers that are being sent.
    private var answers: [Int32: ArraySlice<UInt8>] = [:]
    private(set) var wantsCut = false
    /// The size of the parts of an answer's body.
    private let partSize: Int
    private let bigHeader = Array(String(repeating: "x", count: 9_000).utf8)

    init(_ behaviour: TortureBehaviour, ledger: Ledger, partSize: Int, expectedBody: @escaping (String) -> [UInt8]?) throws {
        self.behaviour = behaviour
        self.ledger = ledger
        self.partSize = partSize
        self.expectedBody = expectedBody
        isRaised = behaviour.firstStreams == 0
        var callbacks: OpaquePointer?
        nghttp2_session_callbacks_new(&callbacks)
        defer { nghttp2_session_callbacks_del(callbacks) }
        install(callbacks)
        guard nghttp2_session_server_new(&session, callbacks, Unmanaged.passUnretained(self).toOpaque()) == 0 else {
            throw CodecFault()
        }
        settings([
            (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, isRaised ? behaviour.streams : behaviour.firstStreams),
            (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, behaviour.window),
        ])
    }

    deinit { nghttp2_session_del(session) }

    struct CodecFault: Error {}

    func settings(_ entries: [(nghttp2_settings_id, UInt32)]) {
        let entries = entries.map { nghttp2_settings_entry(settings_id: Int32($0.0.rawValue), value: $0.1) }
        nghttp2_submit_settings(session, 0, entries, entries.count)
    }

    /// Returns `false` when the connection is over.
    func receive(_ bytes: ByteBuffer) -> Bool {
        let count = bytes.withUnsafeReadableBytes { bytes in
            nghttp2_session_mem_recv(session, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        }
        if count < 0 { ledger.note("the client broke the protocol: \(String(cString: nghttp2_strerror(Int32(count))))") }
        return count >= 0 && !wantsCut
    }

    /// Frames to send.
    func write(to all: inout ByteBuffer) {
        while true {
            var bytes: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(session, &bytes)
            guard count > 0, let bytes else { return }
            all.writeBytes(UnsafeRawBufferPointer(start: bytes, count: count))
        }
    }

    /// Processed requests without an answer.
    var waiting: Int { due.count }
    var isOver: Bool { nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0 }

    private func isTurn(_ every: Int, _ number: Int) -> Bool { every > 0 && number % every == every - 1 }

    // MARK: - Treatment of requests

    func begin(_ stream: Int32) {
        count += 1
        var request = Request(number: count)
        if isTurn(behaviour.refusal, count), !behaviour.liesAboutRefusal {
            request.isIgnored = true
            reset(stream, NGHTTP2_REFUSED_STREAM)
        }
        requests[stream] = request
    }

    func headersEnded(_ stream: Int32, isEnd: Bool) {
        guard let request = requests[stream], !request.isIgnored, isTaken(stream) else { return }
        if isEnd { return ended(stream) }
        guard isTurn(behaviour.early, request.number), let id = request.id else { return }
        lastProcessed = max(lastProcessed, stream)
        ledger.decline(id)
        answer(stream, status: 413)
    }

    func ended(_ stream: Int32) {
        guard let request = requests[stream], !request.isIgnored, !request.isAnswered, isTaken(stream), let id = request.id else { return }
        check(request)
        process(stream, id)
        if isTurn(behaviour.silence, request.number) { return }
        if isTurn(behaviour.reset, request.number) {
            requests[stream]?.isAnswered = true
            return reset(stream, NGHTTP2_INTERNAL_ERROR)
        }
        if behaviour.liesAboutRefusal, isTurn(behaviour.refusal, request.number) { return reset(stream, NGHTTP2_REFUSED_STREAM) }
        due.append(stream)
        if isTurn(behaviour.pings, request.number) { nghttp2_submit_ping(session, 0, nil) }
        if behaviour.goodbye > 0, processed >= behaviour.goodbye { closeGracefully() }
        if behaviour.cut > 0, processed >= behaviour.cut { wantsCut = true }
    }

    private func isTaken(_ stream: Int32) -> Bool { goodbye.map { stream <= $0 } ?? true }

    private func process(_ stream: Int32, _ id: PushID) {
        processed += 1
        lastProcessed = max(lastProcessed, stream)
        if !behaviour.forgets { ledger.process(id) }
    }

    private func check(_ request: Request) {
        if behaviour.isLoose { return }
        if request.body != expectedBody(request.topic) { ledger.note("a body of \(request.body.count) bytes came for \(request.topic)") }
        if !request.path.hasPrefix("/3/device/") || request.path.count < 20 { ledger.note("a request came to \(request.path)") }
        if request.authorization != "bearer \(request.topic)" { ledger.note("a request for \(request.topic) had another's credential") }
    }

    /// Answers one of the waiting requests. Returns `false` if none waits.
    func answerOne(_ dice: inout Dice) -> Bool {
        guard !due.isEmpty else { return false }
        let stream = due.remove(at: dice.roll(0...due.count - 1))
        guard let request = requests[stream] else { return true }
        answer(stream, status: isTurn(behaviour.rejection, request.number) ? 410 : 200)
        return true
    }

    private func answer(_ stream: Int32, status: Int) {
        guard let request = requests[stream], var id = request.id else { return }
        ledger.answer(id, status: status)
        requests[stream]?.isAnswered = true
        if behaviour.mixesIDs { id = PushID(high: id.high, low: id.low ^ 1) }
        var fields: [(String, [UInt8])] = [(":status", Array("\(status)".utf8)), ("apns-id", Array("\(id)".utf8))]
        if isTurn(behaviour.bigHeaders, request.number) { fields += [("x-one", bigHeader), ("x-two", bigHeader)] }
        if status != 200 { answers[stream] = ArraySlice(Self.errorBody.utf8) }
        submit(stream, fields, hasBody: status != 200)
        if status == 200, !isRaised {
            isRaised = true
            settings([(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, behaviour.streams)])
        } else if status != 200, behaviour.dropsOnReject {
            isRaised = false
            settings([(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 1)])
        }
    }

    private func submit(_ stream: Int32, _ fields: [(String, [UInt8])], hasBody: Bool) {
        var texts = fields.flatMap { Array($0.0.utf8) + $0.1 }
        texts.withUnsafeMutableBufferPointer { buffer in
            guard var place = buffer.baseAddress else { return }
            var list: [nghttp2_nv] = []
            for (name, value) in fields {
                let size = name.utf8.count
                list.append(
                    nghttp2_nv(
                        name: place, value: place + size, namelen: size, valuelen: value.count,
                        flags: UInt8(value.count > 100 ? NGHTTP2_NV_FLAG_NO_INDEX.rawValue : 0)))
                place += size + value.count
            }
            var provider = nghttp2_data_provider()
            provider.read_callback = { _, stream, place, capacity, flags, _, user in
                guard let peer = TorturePeer.of(user), let place else { return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue) }
                return peer.part(stream, place, capacity, flags)
            }
            if hasBody {
                nghttp2_submit_response(session, stream, list, list.count, &provider)
            } else {
                nghttp2_submit_response(session, stream, list, list.count, nil)
            }
        }
    }

    private func part(
        _ stream: Int32, _ place: UnsafeMutablePointer<UInt8>, _ capacity: Int, _ flags: UnsafeMutablePointer<UInt32>?
    ) -> Int {
        let part = (answers[stream] ?? []).prefix(min(capacity, partSize))
        for (index, byte) in part.enumerated() { place[index] = byte }
        answers[stream]?.removeFirst(part.count)
        if answers[stream]?.isEmpty != false { flags?.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue) }
        return part.count
    }

    // MARK: - Other events

    func reset(_ stream: Int32, _ code: nghttp2_error_code) {
        nghttp2_submit_rst_stream(session, 0, stream, UInt32(code.rawValue))
    }

    /// The first of two GOAWAY frames allows for requests that are still in transit.
    private func closeGracefully() {
        let isFirst = goodbye == nil
        guard isFirst || behaviour.isGoodbyeTwice else { return }
        let last = behaviour.isGoodbyeTwice && isFirst ? lastProcessed + 4 : max(lastProcessed, 0)
        guard goodbye.map({ last <= $0 }) ?? true else { return }
        goodbye = last
        let said = Array(#"{"reason":"Shutdown"}"#.utf8)
        nghttp2_submit_goaway(session, 0, last, 0, said, said.count)
    }

    func stir(_ dice: inout Dice) {
        if behaviour.changesTable { settings([(NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, [0, 100, 4_096, 65_536][dice.roll(0...3)])]) }
        if behaviour.changesWindow { settings([(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, [20, 50, 3_000][dice.roll(0...2)])]) }
    }

    static func of(_ user: UnsafeMutableRawPointer?) -> TorturePeer? {
        user.map { Unmanaged<TorturePeer>.fromOpaque($0).takeUnretainedValue() }
    }
}
