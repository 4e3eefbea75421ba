import NIOCore

/// The pushes that wait for a connection, oldest first. Pushes that came back unsent go first. Confined to one event loop.
final class PushQueue {
    private var returned = CircularBuffer<Ticket>()
    private var jobs = CircularBuffer<PushJob>()
    private let attempts: Int
    /// Number of waiting pushes.
    private(set) var count = 0

    init(attempts: Int) {
        self.attempts = attempts
    }

    var isEmpty: Bool { count == 0 }

    func add(_ job: PushJob) {
        guard !job.areAllStarted else { return }
        jobs.append(job)
        count += job.batch.count
    }

    /// Removes and returns the next push.
    func next() -> Ticket? {
        if let ticket = returned.popFirst() {
            count -= 1
            return ticket
        }
        guard let job = jobs.first else { return nil }
        let ticket = Ticket(job: job, index: job.takeNext())
        if job.areAllStarted { jobs.removeFirst() }
        count -= 1
        return ticket
    }

    /// Returns an unsent push. It is tried again, unless it came back too often or its job was cancelled.
    func requeue(_ ticket: Ticket, _ failure: PushFailure) {
        if ticket.job.isCancelled {
            ticket.job.finish(ticket.index, .notSent(.cancelled))
        } else if ticket.job.returned(ticket.index) >= attempts {
            ticket.job.finish(ticket.index, .notSent(failure))
        } else {
            returned.append(ticket)
            count += 1
        }
    }

    /// Puts back a push that no connection started, without counting a return.
    func putBack(_ ticket: Ticket) {
        returned.prepend(ticket)
        count += 1
    }

    /// Rejects all waiting pushes.
    func refuseAll(_ failure: PushFailure) {
        let (tickets, jobs) = (returned, jobs)
        (returned, self.jobs, count) = (CircularBuffer(), CircularBuffer(), 0)
        for ticket in tickets { ticket.job.finish(ticket.index, .notSent(failure)) }
        for job in jobs { job.finishRest(.notSent(failure)) }
    }

    /// Cancels the waiting pushes of one job; those in flight continue. Returns `false` if none of the job is waiting.
    func cancel(number: UInt64) -> Bool {
        guard let job = jobs.first(where: { $0.number == number }) ?? returned.first(where: { $0.job.number == number })?.job else {
            return false
        }
        job.cancel()
        var (mine, others) = ([Ticket](), CircularBuffer<Ticket>())
        for ticket in returned { if ticket.job === job { mine.append(ticket) } else { others.append(ticket) } }
        returned = others
        jobs.removeAll { $0 === job }
        count -= mine.count + (job.batch.count - job.next)
        for ticket in mine { job.finish(ticket.index, .notSent(.cancelled)) }
        job.finishRest(.notSent(.cancelled))
        return true
    }
}
