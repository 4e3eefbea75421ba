import PushModel
import Testing

@testable import WebAPI

@Suite struct BufferAccountTests {
    /// A connection with the bytes reserved for its requests.
    private struct Model {
        let address: String
        let account: BufferAccount
        var claims: [Int] = []
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
    func `no account ever exceeds its limit, and nothing stays reserved at the end`(seed: UInt64) async throws {
        let random = SeededRandom(seed: seed)
        func pick(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
        let limits = ClientBuffers.Limits(connection: 1000, address: 2500, server: 6000)
        let buffers = ClientBuffers(limits: limits)
        var models: [Model] = []
        var refused = 0
        func sum(_ models: [Model]) -> Int { models.flatMap(\.claims).reduce(0, +) }
        for step in 0..<5_000 {
            // Other tests run on the same threads.
            if step.isMultiple(of: 100) { await Task.yield() }
            switch pick(10) {
            case 0:
                let address = "10.0.0.\(pick(4))"
                models.append(Model(address: address, account: buffers.account(for: address)))
            case 1 where !models.isEmpty:
                let model = models.remove(at: pick(models.count))
                for bytes in model.claims { model.account.release(bytes) }
            case 2...6 where !models.isEmpty:
                let (index, bytes, isBegun) = (pick(models.count), pick(700), pick(2) == 0)
                let model = models[index]
                let (own, ofAddress) = (model.claims.reduce(0, +), sum(models.filter { $0.address == model.address }))
                var expected: BufferAccount.Refusal?
                if ofAddress + bytes > 2500 || sum(models) + bytes > 6000 { expected = .shared }
                if !isBegun, own + bytes > 1000 { expected = .own }
                var refusal: BufferAccount.Refusal?
                do throws(BufferAccount.Refusal) {
                    try model.account.reserve(bytes, beyondOwnLimit: isBegun)
                    models[index].claims.append(bytes)
                } catch {
                    refusal = error
                    refused += 1
                }
                #expect(refusal == expected)
            default:
                guard let index = models.indices.filter({ !models[$0].claims.isEmpty }).first else { continue }
                models[index].account.release(models[index].claims.remove(at: pick(models[index].claims.count)))
            }
            #expect(buffers.bytes == sum(models) && buffers.bytes <= 6000)
            for (address, group) in Dictionary(grouping: models, by: \.address) { #expect(sum(group) <= 2500, "\(address)") }
        }
        #expect(refused > 100)
        for model in models { for bytes in model.claims { model.account.release(bytes) } }
        #expect(buffers.bytes == 0)
        for model in models { #expect(model.account.bytes == 0) }
    }

    @Test func `a reservation refused at one level is not counted at any level`() throws {
        let server = BufferAccount(limit: 10)
        let address = BufferAccount(limit: nil, parent: server)
        let connection = BufferAccount(limit: 100, parent: address)
        try connection.reserve(8)
        #expect(throws: BufferAccount.Refusal.shared) { try connection.reserve(3) }
        #expect(throws: BufferAccount.Refusal.own) { try connection.reserve(93) }
        // Numbers that are too large to add are refused too.
        #expect(throws: BufferAccount.Refusal.own) { try connection.reserve(.max, beyondOwnLimit: true) }
        #expect([connection, address, server].map(\.bytes) == [8, 8, 8])
        connection.release(8)
        #expect([connection, address, server].map(\.bytes) == [0, 0, 0])
    }

    @Test func `connections of one address share its account, which exists as long as one of them`() throws {
        let buffers = ClientBuffers(limits: ClientBuffers.Limits(connection: 100, address: 10, server: nil))
        let first = buffers.account(for: "a")
        let (second, other) = (buffers.account(for: "a"), buffers.account(for: "b"))
        try first.reserve(6)
        #expect(throws: BufferAccount.Refusal.shared) { try second.reserve(6) }
        try other.reserve(6)
        // Addresses that connect only once leave nothing behind.
        for number in 0..<1000 {
            let passing = buffers.account(for: "\(number)")
            try passing.reserve(1)
            passing.release(1)
        }
        #expect(throws: BufferAccount.Refusal.shared) { try buffers.account(for: "a").reserve(6) }
        #expect(buffers.bytes == 12)
    }

    @Test func `memory is returned to the system once after a peak, when most of it was released`() throws {
        let happenings = Happenings()
        let buffers = ClientBuffers(limits: ClientBuffers.Limits(connection: .max, address: nil, server: nil)) { happenings.note("relief") }
        let account = buffers.account(for: "a")
        // Too little to matter.
        try account.reserve(1 << 20)
        account.release(1 << 20)
        #expect(happenings.count == 0)
        try account.reserve(32 << 20)
        account.release(16 << 20)
        #expect(happenings.count == 0)
        account.release(9 << 20)
        #expect(happenings.count == 1)
        account.release(7 << 20)
        #expect(happenings.count == 1)
    }
}
