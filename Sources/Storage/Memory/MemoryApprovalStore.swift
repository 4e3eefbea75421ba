package import PushModel

/// Sends awaiting approval, in memory.
package actor MemoryApprovalStore: ApprovalStore {
    private var approvals: [Approval] = []

    package init() {}

    package func add(_ approval: Approval, most: Int, each: Int) -> ApprovalAddition {
        let known = approvals.last { known in
            known.state == .pending && known.hub.number == approval.hub.number && known.requester == approval.requester
                && known.expiresAt > approval.origin.createdAt && approval.keys.isRepeated(by: known.keys)
        }
        if let known { return .pending(known) }
        let waiting = approvals.filter { $0.state == .pending && $0.expiresAt > approval.origin.createdAt }
        guard waiting.count < most else { return .full }
        guard waiting.count(where: { $0.requester == approval.requester }) < each else { return .fullForRequester }
        var stored = approval
        stored.number = Int64(approvals.count + 1)
        approvals.append(stored)
        return .pending(stored)
    }

    package func approval(_ number: Int64) -> Approval? { approvals.first { $0.number == number } }

    package func approval(under key: String, by requester: Principal, atHub hub: Int64) -> Approval? {
        approvals.last { $0.keys.idempotencyKey == key && $0.requester == requester && $0.hub.number == hub }
    }

    package func approvals(before number: Int64?, limit: Int, state: Approval.State?) -> [Approval] {
        Array(approvals.lazy.reversed().filter { $0.number < number ?? .max && (state == nil || $0.state == state) }.prefix(limit))
    }

    package func replace(_ approval: Approval, from state: Approval.State) -> Bool {
        guard let index = approvals.firstIndex(where: { $0.number == approval.number && $0.state == state }) else { return false }
        approvals[index] = approval
        return true
    }
}
