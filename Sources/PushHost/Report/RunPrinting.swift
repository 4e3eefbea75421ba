import Bindings

/// A run as it is told while it goes.
struct RunPrinting: Sendable {
    let header: TextReport.Header
    let text: TextReport
    let json = JSONReport()
    let output: Output
    private let isJSON: Bool
    /// Where a run takes real time, whoever reads its output through a pipe sees how far it is. A rehearsal is over at once.
    private let isFollowed: Bool

    init(header: TextReport.Header, output: Output, hasTimings: Bool, isJSON: Bool, isFollowed: Bool) {
        self.header = header
        self.isJSON = isJSON
        self.output = output
        self.isFollowed = isFollowed
        text = TextReport(output: output, header: header, hasTimings: hasTimings)
    }

    @Sendable func take(_ event: FlowEvent) {
        if isJSON { json.take(event) } else { text.take(event) }
        if isFollowed { output.flush() }
    }

    /// Does what prints elsewhere on the same screen.
    func interrupt(_ work: () -> Void) {
        output.hold()
        work()
        output.release()
    }

    /// Prints the header, unless it is there.
    func begin() {
        if !isJSON { text.begin() }
    }
}
