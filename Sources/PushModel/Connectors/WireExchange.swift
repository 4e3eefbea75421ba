/// One request and its response, byte by byte. Credentials are masked with a fixed length.
package struct WireExchange: Sendable, Equatable {
    package var service: Platform
    package var time: Timestamp
    package var request: WireRequest
    package var response: WireResponse

    package init(service: Platform, time: Timestamp, request: WireRequest, response: WireResponse) {
        self.service = service
        self.time = time
        self.request = request
        self.response = response
    }
}
