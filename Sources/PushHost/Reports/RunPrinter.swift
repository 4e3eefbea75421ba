import Bindings

/// Prints a run's events as text while it runs, or collects them for JSON.
struct RunPrinter: Sendable {
    let header: TextReport.Header
    let text: TextReport
    let json = JSONReport()
    let output: Output
    private let isJSON: Bool
    /// Whether to flush after each event, so that a reader of the pipe sees the progress of a run in real time. Rehearsals end at once.
    private let flushesEachEvent: Bool

    init(header: TextReport.Header, output: Output, showsRealTime: Bool, isJSON: Bool, flushesEachEvent: Bool) {
        self.header = header
        self.isJSON = isJSON
        self.output = output
        self.flushesEachEvent = flushesEachEvent
        text = TextReport(output: output, header: header, showsRealTime: showsRealTime)
    }

    @Sendable func take(_ event: FlowEvent) {
        if isJSON { json.take(event) } else { text.take(event) }
        if flushesEachEvent { output.flush() }
    }

    /// Runs `work`, which writes to the same screen, while output is held back.
    func interrupt(_ work: () -> Void) {
        output.hold()
        work()
        output.release()
    }

    /// Prints the header if it has not been printed.
    func begin() {
        if !isJSON { text.begin() }
    }
}
