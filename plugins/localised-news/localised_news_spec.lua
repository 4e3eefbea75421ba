--- Tests of localised-news.   pushhost plugin test localised-news
local push = require "push"
local describe, it = push.test.describe, push.test.it

local languages = { "en", "pt", "pt-BR", "fr" }

local function news(config)
  local values = { languages = languages }
  for key, value in pairs(config or {}) do values[key] = value end
  return push.test.plugin { config = values }
end

-- A phone that subscribes to news in its language, as in the tutorial.
local function reader(language)
  local device = push.device { name = language }
  push.subscribe { device = device, categories = { "World" }, property = push.locale.property("News", language) }
  return device
end

local function readers()
  local all = {}
  for place, language in ipairs(languages) do all[place] = reader(language) end
  return all
end

-- The latest text that each phone shows.
local function texts(all)
  local shown = {}
  for place, phone in ipairs(all) do
    local inbox = phone:inbox()
    shown[place] = inbox[#inbox] and inbox[#inbox].text or ""
  end
  return shown
end

local function send(properties) return push.send { to = "World", properties = properties } end

describe("localised news", function()
  it("give each phone its language, the nearest one, or the fallback", function()
    local plugin = news()
    local all = readers()
    push.expect(send({ News_en = "Goal", News_pt = "Golo" }).sent).to.equal(4)
    push.expect(texts(all)).to.equal { "Goal", "Golo", "Golo", "Goal" }
    send { News_en = "Goal", News_pt = "Golo", News_pt_BR = "Gol", News_fr = "But" }
    push.expect(texts(all)).to.equal { "Goal", "Golo", "Gol", "But" }
    push.expect(plugin:log()).to.equal {}
  end)

  it("need no more than one plain text", function()
    news()
    local all = readers()
    send { News = "Goal" }
    push.expect(texts(all)).to.equal { "Goal", "Goal", "Goal", "Goal" }
    send { News = "Goal", News_fr = "But" }
    push.expect(texts(all)).to.equal { "Goal", "Goal", "Goal", "But" }
  end)

  it("fall back in the order that is configured", function()
    news { fallback = { "en", "fr" } }
    local all = readers()
    send { News_fr = "But", News_pt = "Golo" }
    push.expect(texts(all)).to.equal { "But", "Golo", "Golo", "But" }
    send { News_fr = "But", News_en = "Goal" }
    push.expect(texts(all)).to.equal { "Goal", "Goal", "Goal", "But" }
  end)

  it("are rejected if some phones would show nothing", function()
    local plugin = news { fallback = { "en", "fr" } }
    local all = readers()
    local sent, failure = push.try(send, { News_pt = "Golo" })
    push.expect(sent).to.be_nil()
    push.expect(failure.code).to.equal "hook.veto"
    push.expect(failure.message).to.equal "the plugin localised-news rejected this: News needs a text in en or fr"
    push.expect(texts(all)).to.equal { "", "", "", "" }
    push.expect(plugin:log()).to.equal {}
  end)

  it("use the fallback instead of an empty text, so that every phone shows something", function()
    news()
    local all = readers()
    send { News_en = "Goal", News_fr = "", News = "" }
    push.expect(texts(all)).to.equal { "Goal", "Goal", "Goal", "Goal" }
  end)

  it("keep the other properties of the sender", function()
    news()
    local device = push.device { name = "ana" }
    push.install("ana", { device = device, tags = { "World" }, templates = {
      news = [[{"aps":{"alert":"{$(News_fr) + ' ' + $(News_longer_than_language) + ' ' + $(score)}"}}]],
    } })
    send { News_en = "Goal", News_longer_than_language = "by Lua", score = 1 }
    push.expect(device:inbox()[1].text).to.equal "Goal by Lua 1"
  end)

  it("may be of several names, each with its own texts", function()
    news { names = { "News", "Title" } }
    local device = push.device { name = "ana" }
    push.install("ana", { device = device, tags = { "World" }, templates = {
      news = [[{"aps":{"alert":"{$(Title_fr) + ': ' + $(News_fr)}"}}]],
    } })
    send { News_en = "Goal", Title_en = "Sports", Title_fr = "Le sport" }
    push.expect(device:inbox()[1].text).to.equal "Le sport: Goal"
  end)

  it("do not touch native notifications, nor templates without news", function()
    local plugin = news()
    local device = push.device { name = "ana" }
    push.install("ana", { device = device, tags = { "World" } })
    push.expect(push.send({ to = "World", alert = "Hello" }).sent).to.equal(1)
    push.expect(device:inbox()[1].text).to.equal "Hello"
    push.subscribe { device = push.device { name = "bob" }, categories = { "Sports" } }
    push.expect(push.send({ to = "Sports", properties = { messageParam = "Hello" } }).sent).to.equal(1)
    push.expect(push.find_device("bob"):inbox()[1].text).to.equal "Hello"
    push.expect(plugin:log()).to.equal {}
  end)

  it("are not configured without languages", function()
    local is_live, failure = pcall(push.test.plugin, {})
    push.expect(is_live).to.be_false()
    push.expect(failure.message).to.contain "config.languages is missing"
  end)

  it("are sent unchanged if a language is invalid, and it is logged", function()
    local plugin = news { languages = { "en", "pt_BR" } }
    local all = { reader "en" }
    send { News_en = "Goal" }
    push.expect(texts(all)).to.equal { "Goal" }
    push.expect(plugin:log()[1]).to.contain "parts are joined by hyphens: pt-BR"
  end)
end)
