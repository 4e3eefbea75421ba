import HTTPTypes

/// The subject of a request to the JSON interface.
enum ManagementMatch: Sendable {
    /// The document that describes the interface.
    case document
    /// A route, with the values of the placeholders in its path.
    case route(ManagementRoute, names: [String: String])
    /// A path whose routes have other methods.
    case otherMethods([HTTPRequest.Method], pattern: String)
    case unknownPath

    /// - Parameter path: The encoded path, without the query.
    init(_ method: HTTPRequest.Method, _ path: String, among routes: [ManagementRoute]) {
        guard path != ManagementInterface.documentPath else {
            self = .document
            return
        }
        let segments = PathSegments.decodedWithEmptyOnes(path)
        let found = routes.compactMap { route in route.operation.match(segments).map { (route: route, names: $0) } }
        guard let first = found.first else {
            self = .unknownPath
            return
        }
        guard let (route, names) = found.first(where: { $0.route.operation.method == method }) else {
            self = .otherMethods(found.map(\.route.operation.method), pattern: first.route.operation.path)
            return
        }
        self = .route(route, names: names)
    }

    /// The path pattern, with placeholder names in braces, for metrics.
    var label: String {
        switch self {
        case .document: ManagementInterface.documentPath
        case .route(let route, _): route.operation.path
        case .otherMethods(_, let pattern): pattern
        case .unknownPath: "none"
        }
    }
}
