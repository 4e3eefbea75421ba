-- Properties of targeting that hold for any phones, tags and expressions.
local push = require "push"
local describe, property, gen = push.test.describe, push.test.property, push.gen

local phones = gen.list({ device = gen.device(), tags = gen.tags() }, 0, 5)

-- Installs the phones, and returns them with the names of those that match.
local function install(list, expression)
  local installed, matching = {}, {}
  for number, phone in ipairs(list) do
    installed[number] = push.device(phone.device)
    push.install("phone-" .. number, { device = installed[number], tags = phone.tags })
    if push.tag.match(expression, phone.tags) then matching[#matching + 1] = phone.device.name end
  end
  return installed, matching
end

-- The names of the phones that have this many items.
local function with(count, installed)
  local names = {}
  for _, phone in ipairs(installed) do
    if #phone:inbox() == count then names[#names + 1] = phone.name end
  end
  return names
end

describe("targeting", function()
  push.test.before_each(push.test.allow_no_target)

  property("reaches exactly the phones that match, once", { phones = phones, to = gen.expression() }, function(case)
    local installed, matching = install(case.phones, case.to)
    local outcome = push.send { to = case.to, alert = "Hello" }
    push.expect(outcome.sent).to.equal(#matching)
    push.expect(with(1, installed)).to.equal(matching)
    push.expect(#with(0, installed)).to.equal(#installed - #matching)
  end, { cases = 40 })

  property("reaches a phone by its new tags only", { phones = phones, tags = gen.tags(), to = gen.expression() }, function(case)
    local installed = install(case.phones, case.to)
    local expected = {}
    for number, phone in ipairs(installed) do
      push.install("phone-" .. number, { device = phone, tags = case.tags })
      if push.tag.match(case.to, case.tags) then expected[#expected + 1] = phone.name end
    end
    push.send { to = case.to, alert = "Hello" }
    push.expect(with(1, installed)).to.equal(expected)
  end, { cases = 20 })

  property("does not reach a phone that was uninstalled", { phones = phones, to = gen.expression() }, function(case)
    local installed, matching = install(case.phones, case.to)
    if #installed > 0 then push.uninstall "phone-1" end
    if installed[1] and matching[1] == installed[1].name then table.remove(matching, 1) end
    push.send { to = case.to, alert = "Hello" }
    push.expect(with(1, installed)).to.equal(matching)
  end, { cases = 20 })

  property("shows the text of a template on the phone", gen.template(), function(template)
    local phone = push.device { name = "ana" }
    push.install("phone-1", { device = phone, tags = { "news" }, templates = { news = template.body } })
    push.send { to = "news", properties = template.properties }
    push.expect(phone:inbox()[1].text).to.equal(template.text)
  end, { cases = 30 })
end)
