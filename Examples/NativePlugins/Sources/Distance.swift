import Lua
import PushHostKit

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `push.geo.distance`, which scripts use to send to devices near a place.
struct Distance: NativeBinding {
    let name = "geo.distance"
    let summary = "Great-circle distance between two points, in kilometres."
    let parameters: [NativeParameter] = [
        .required("from", .list(.number), "latitude and longitude in degrees, such as { 38.72, -9.14 }"),
        .required("to", .list(.number), "the other place"),
    ]
    let returns: String? = "number"
    let errors = ["geo.no_place"]
    let example = "push.geo.distance { from = { 38.72, -9.14 }, to = { 41.15, -8.61 } }"

    private static let earthRadius = 6371.0088

    func call(_ arguments: NativeArguments) throws -> LuaValue {
        let (from, to) = (try place("from", arguments), try place("to", arguments))
        let (height, width) = ((to.latitude - from.latitude) / 2, (to.longitude - from.longitude) / 2)
        let chord = sin(height) * sin(height) + cos(from.latitude) * cos(to.latitude) * sin(width) * sin(width)
        return .number(2 * Self.earthRadius * asin(min(1, chord.squareRoot())))
    }

    /// Returns a place in radians.
    private func place(_ name: String, _ arguments: NativeArguments) throws -> (latitude: Double, longitude: Double) {
        let degrees = arguments.list(name)?.compactMap { value -> Double? in
            switch value {
            case .integer(let number): Double(number)
            case .number(let number): number
            default: nil
            }
        }
        guard let degrees, degrees.count == 2, abs(degrees[0]) <= 90, abs(degrees[1]) <= 180 else {
            throw LuaError(
                kind: .misuse, code: "geo.no_place", message: "push.geo.distance: \"\(name)\" is not a place on Earth",
                hint: "write { LATITUDE, LONGITUDE } in degrees")
        }
        return (degrees[0] * .pi / 180, degrees[1] * .pi / 180)
    }
}
