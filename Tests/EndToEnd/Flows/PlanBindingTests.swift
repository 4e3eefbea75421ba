import HostSupport
import Lua
import PushModel
import Testing

/// `push.plan` and `push.send{ plan = … }`.
@Suite struct PlanBindingTests {
    private static let crowd = """
        for number = 1, 3 do
          push.subscribe { device = push.device { name = "p" .. number, platform = "apns" }, categories = { "news" } }
        end

        """

    @Test func `A send with a plan reaches only the plan's devices, and devices added later cause an error or get nothing`() async throws {
        let text = try await result(
            of: Self.crowd + """
                local plan = push.plan { to = "news", properties = { messageParam = "Goal" } }
                local late = push.device { name = "late", platform = "apns" }
                push.subscribe { device = late, categories = { "news" } }
                local refused, err = push.try(push.send, { plan = plan })
                local outcome = push.send { plan = plan.id, tolerance = "34%" }
                push.sleep "1s"
                return { plan.total, plan.by_platform.apns, plan.by_tag.news, refused == nil, err.code, err.details.joined, outcome.sent,
                  #late:inbox(), push.plan { to = "news" }.difference == nil,
                  push.plan { to = "news", properties = { messageParam = "Goal" } }.difference.joined }
                """)
        #expect(text == #"[3,3,3,true,"plan.drifted",1,3,0,true,1]"#)
    }

    @Test func `A plan for no devices names the tags without matches, and sending it ends as NoTargetFound`() async throws {
        let text = try await result(
            of: Self.crowd + """
                local plan = push.plan { to = "news && vip", properties = { messageParam = "x" } }
                return { plan.total, plan.failed_terms[1].term, plan.failed_terms[1].without, push.send { plan = plan }.state }
                """)
        #expect(text == #"[0,"vip",3,"NoTargetFound"]"#)
    }

    @Test(
        arguments: [
            ("push.plan { alert = 'x' }", "send.no_audience"), ("push.plan { to = 'a', alert = 'x', payload = {} }", "send.no_content"),
            ("push.plan { to = 'a', title = 'x' }", "send.no_content"), ("push.plan { to = 'a', priority = 'high' }", "args.unknown_key"),
            ("push.plan { to = 'a &&' }", "tag_expression.invalid"), ("push.plan { to = '' }", "send.no_audience"),
            ("push.send { plan = 'p-0001', to = 'a' }", "send.audience"), ("push.send { plan = 'p-0001', test = true }", "send.audience"),
            ("push.send { plan = 'p-0001', title = 'x' }", "send.no_content"), ("push.send { plan = 'p-0001' }", "plan.not_found"),
            ("push.send { to = 'a', alert = 'x', tolerance = 1 }", "send.audience"),
            ("push.send { plan = push.plan { to = 'a', keep = false }, alert = 'x' }", "args.wrong_type"),
            ("push.send { plan = push.plan { to = 'a' } }", "plan.content"),
            ("push.send { plan = 'p-0001', tolerance = 'most' }", "plan.tolerance"),
        ])
    func `Invalid arguments of plans are rejected`(call: String, code: String) async throws {
        #expect(try await failure(of: call).code == code)
    }
}
