import Bindings
import Lua
import PushModel
import Synchronization

/// Collects a run's events into one JSON document, `pushhost.run/1`, written when the run has ended.
final class JSONReport: Sendable {
    static let schema = "pushhost.run/1"

    private let state = Mutex(State())

    private struct State {
        var sends = ReportedSends(id: \.id)
        var shown: [JSON] = []
        var log: [JSON] = []
        var warnings: [JSON] = []
        var trace: [JSON] = []
    }

    func take(_ event: FlowEvent) {
        state.withLock { state in
            switch event {
            case .stepStarted: break
            case .stepEnded(let step): state.sends.append(step)
            case .sent(let send): state.sends.append(send)
            case .completed(let send): state.sends.complete(send)
            case .shown(let items): state.shown += items.map(JSON.init)
            case .log(let level, let text, let location):
                state.log.append([
                    "level": .string(level), "text": .string(text), "where": location.map { .string("\($0)") } ?? .null,
                ])
            case .warning(let warning):
                state.warnings.append([
                    "code": .string(warning.code), "message": .string(warning.message),
                    "near": .array(warning.near.map(JSON.string)),
                    "where": warning.location.map { .string("\($0)") } ?? .null,
                ])
            case .core(let event):
                state.trace.append([
                    "time": .string(event.time.description), "area": .string(event.area.rawValue), "text": .string(event.text),
                ])
            case .crossed(let exchange): state.trace.append(JSON(exchange))
            }
        }
    }

    /// The document for a run that could not start.
    static func refusal(_ error: LuaError, file: String, exitCode: Int32) -> JSON {
        [
            "schema": .string(schema), "flow": .string(file), "verdict": error.kind == .cancelled ? "interrupted" : "error",
            "exit_code": .integer(Int64(exitCode)),
            "error": JSON(error),
        ]
    }

    func document(
        _ report: FlowReport, header: TextReport.Header, run: String, verdict: String, exitCode: Int32, error: LuaError?,
        isTracing: Bool
    ) -> JSON {
        state.withLock { state in
            var object: JSONObject = [
                "schema": .string(Self.schema), "flow": .string(header.flow), "target": .string(header.target),
                "seed": .string(String(header.seed)), "run": .string(run), "script": .string(header.version),
                "verdict": .string(verdict), "exit_code": .integer(Int64(exitCode)), "steps": .array(state.sends.steps.map(JSON.init)),
                "sends": .array(state.sends.outside.map(JSON.init)), "shown": .array(state.shown), "log": .array(state.log),
                "warnings": .array(state.warnings), "expectations": .integer(Int64(report.expectations.count)),
                "failed_expectations": .array(report.expectations.failures.map(JSON.init)),
                "delivered": .integer(Int64(report.sends.delivered)), "without_target": .integer(Int64(report.sends.noTargets)),
                "began": .string(report.began.description), "ended": .string(report.ended.description),
                "result": report.result ?? .null, "error": error.map(JSON.init) ?? .null,
            ]
            if isTracing { object["trace"] = .array(state.trace) }
            return .object(object)
        }
    }
}

extension JSON {
    fileprivate init(_ step: FlowStep) {
        self = [
            "name": .string(step.name), "status": .string(step.status.rawValue), "depth": .integer(Int64(step.depth)),
            "began": .string(step.began.description), "ended": .string(step.ended.description),
            "registrations": .integer(Int64(step.registrations)), "expectations": .integer(Int64(step.expectations)),
            "failed_expectations": .integer(Int64(step.failedExpectations)), "sends": .array(step.sends.map(JSON.init)),
            "shown": .array(step.shown.map(JSON.init)), "reason": step.reason.map(JSON.string) ?? .null,
        ]
    }

    fileprivate init(_ send: FlowSend) {
        self = [
            "id": .string(send.id), "to": .string(send.audience), "state": .string(send.state),
            "sent": .integer(Int64(send.counts.sent)), "failed": .integer(Int64(send.counts.failed)),
            "total": .integer(Int64(send.counts.total)), "skipped": .integer(Int64(send.skips.reduce(0) { $0 + $1.count })),
            "notices": .array(send.notices.map(JSON.string)),
            "scheduled_for": send.scheduledFor.map { .string($0.description) } ?? .null, "faults": .array(send.faults.map(JSON.string)),
        ]
    }

    fileprivate init(_ item: ShownItem) {
        self = [
            "device": .string(item.device), "platform": .string(item.platform.shortName), "text": .string(item.text),
            "time": .string(item.time.description),
        ]
    }

    fileprivate init(_ failure: FailedExpectation) {
        self = [
            "message": .string(failure.message), "where": failure.location.map { .string("\($0)") } ?? .null,
            "expected": failure.expected.map(JSON.string) ?? .null, "actual": failure.actual.map(JSON.string) ?? .null,
        ]
    }

    init(_ error: LuaError) {
        self = [
            "code": .string(error.code), "kind": .string(error.kind.rawValue), "message": .string(error.message),
            "hint": error.hint.map(JSON.string) ?? .null, "status": error.status.map { .integer(Int64($0)) } ?? .null,
            "retryable": .bool(error.isRetryable), "where": error.location.map { .string("\($0)") } ?? .null,
            "traceback": .array(error.traceback.map { .string("\($0)") }), "details": error.details.json ?? .null,
        ]
    }

    fileprivate init(_ exchange: WireExchange) {
        func headers(_ list: [PushHeader]) -> JSON {
            .array(list.map { .array([.string($0.name), .string($0.value)]) })
        }
        func body(_ bytes: [UInt8]) -> JSON {
            String(validating: bytes, as: UTF8.self).map(JSON.string) ?? .string("\(bytes.count) bytes")
        }
        self = [
            "time": .string(exchange.time.description), "wire": .string(exchange.service.shortName),
            "method": .string(exchange.request.method), "host": .string(exchange.request.authority), "path": .string(exchange.request.path),
            "headers": headers(exchange.request.headers), "body": body(exchange.request.body),
            "status": .integer(Int64(exchange.response.status)), "response_headers": headers(exchange.response.headers),
            "response_body": body(exchange.response.body),
        ]
    }
}
