/// Waits until a condition holds that other tasks bring about. After a timeout the test fails instead of hanging.
///
/// - Throws: ``WaitedInVain`` after two minutes, which is longer than a loaded machine needs.
package func until(
    _ place: StaticString = #fileID, _ line: UInt = #line, _ holds: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + .seconds(120)
    while try await !holds() {
        guard ContinuousClock.now < end else { throw WaitedInVain(place: "\(place):\(line)") }
        await Task.yield()
    }
}

package struct WaitedInVain: Error {
    package let place: String
}
