import Support
import Testing

@testable import PushModel

/// When a write gives a channel the notifications of a user that it did not receive before.
@Suite struct InstallationChangeTests {
    private static func channel(_ number: Int) -> DeviceHandle { .wns(channel: "https://db.notify.windows.com/?token=\(number)") }

    private static func installation(_ user: String?, _ channel: Int, tiles: [Int] = []) -> Installation {
        Installation(
            id: "pad", userID: user, handle: Self.channel(channel),
            secondaryTiles: Dictionary(uniqueKeysWithValues: tiles.map { ("t\($0)", SecondaryTile(handle: Self.channel($0))) }))
    }

    @Test(
        arguments: [
            (nil, installation(nil, 1), nil), (nil, installation("bob", 1), .user),
            (installation(nil, 1), installation("bob", 1), .user), (installation("eve", 1), installation("bob", 1), .user),
            (installation("bob", 1), installation("bob", 1), nil), (installation("bob", 1), installation("BOB", 1), nil),
            (installation("bob", 1), installation("bob", 2), .channel), (installation("bob", 1), installation(nil, 2), nil),
            (installation("bob", 1), installation("bob", 1, tiles: [2]), .channel),
            (installation("bob", 1, tiles: [2]), installation("bob", 1, tiles: [2]), nil),
            (installation("bob", 1, tiles: [2]), installation("bob", 1, tiles: [3]), .channel),
            (installation("bob", 1, tiles: [2]), installation("bob", 1), nil),
            // Two invalid user ids are different users, although neither gives a tag.
            (installation("b b", 1), installation("e e", 1), .user),
        ] as [(Installation?, Installation, InstallationChange.Claim?)])
    func `a channel claims a user that it did not have before`(old: Installation?, new: Installation, claim: InstallationChange.Claim?) {
        #expect(InstallationChange(old: old, new: new).claim == claim)
    }
}
