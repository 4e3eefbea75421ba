import Delivery

/// Records which pushes a service has processed, by id, and compares that with the client's outcomes.
final class Ledger {
    private var processed: [PushID: Int] = [:]
    private var declined: Set<PushID> = []
    private var statuses: [PushID: Int] = [:]
    private var outcomes: [PushID: PushOutcome] = [:]
    private(set) var faults: [String] = []

    func process(_ id: PushID) { processed[id, default: 0] += 1 }

    /// Records a request that was refused before its end: it was not processed, whatever the client is told.
    func decline(_ id: PushID) { declined.insert(id) }

    func answer(_ id: PushID, status: Int) { statuses[id] = status }

    func note(_ fault: String) { faults.append(fault) }

    func claim(_ id: PushID, _ outcome: PushOutcome) {
        if let earlier = outcomes.updateValue(outcome, forKey: id) { note("\(id) has two outcomes: \(earlier) and \(outcome)") }
    }

    /// Compares every outcome with what was processed.
    func audit(_ ids: [PushID]) {
        for id in ids {
            let count = processed[id] ?? 0
            switch outcomes[id] {
            case .answered(let answer):
                let isDeclined = answer.status == 413 && declined.contains(id)
                if count != (isDeclined ? 0 : 1) { note("\(id) was answered \(answer.status) and processed \(count) times") }
                if answer.id != id { note("\(id) got the answer of \(answer.id.map(\.description) ?? "nobody")") }
                if answer.status != statuses[id] { note("\(id) got \(answer.status), the service gave \(statuses[id] ?? 0)") }
                checkBody(id, answer)
            case .notSent(let why): if count != 0 { note("\(id) was not sent (\(why)), and processed \(count) times") }
            case .unknown: if count > 1 { note("\(id) is unknown and was processed \(count) times") }
            case nil: note("\(id) has no outcome")
            }
        }
    }

    private func checkBody(_ id: PushID, _ answer: PushAnswer) {
        let body = String(decoding: answer.details?.body ?? [], as: UTF8.self)
        let expected = answer.status == 200 ? "" : TorturePeer.errorBody
        if body != expected { note("\(id) got the body \(body)") }
    }

    func count(_ belongs: (PushOutcome) -> Bool) -> Int { outcomes.values.count(where: belongs) }
}
