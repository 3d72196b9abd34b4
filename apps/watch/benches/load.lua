-- Mixed reads and writes of many people, for wrk. README.md beside this says how to run it.
--
-- Of a hundred requests 60 are a page of somebody's list, 15 a search, 10 a film, 5 another page, 10 put a film on a list.
-- With ONLY=list all are pages of lists. With CSV=FILE a line is added to it:
-- load,requests_per_s,half_us,p99_us,slowest_us,wrong_count,unanswered_count

local people, films = {}, {}

local function lines(name)
  local file = assert(io.open(os.getenv(name) or error(name .. " isn't set")))
  return file:lines()
end

local threads = {}

function setup(thread)
  thread:set("number", #threads + 1)
  table.insert(threads, thread)
end

function init()
  math.randomseed(number)
  for line in lines("CREDENTIALS") do
    local name, session, token, film = line:match("(%S+) (%S+) (%S+) (%S+)")
    table.insert(people, { session = session, token = token })
    table.insert(films, film)
  end
  only_lists = os.getenv("ONLY") == "list"
  bad, first_bad = 0, ""
end

local words = { "al", "alien", "the god", "star", "bogart casab", "western 1952", "lov", "night of", "hepburn", "zorr" }

function request()
  local person = people[math.random(#people)]
  local page = { ["Cookie"] = "session=" .. person.session }
  local dice = math.random(100)
  if only_lists or dice <= 60 then
    return wrk.format("GET", "/?page=" .. math.random(10), page)
  elseif dice <= 75 then
    local query = words[math.random(#words)]:gsub(" ", "+")
    return wrk.format("GET", "/films?q=" .. query, page)
  elseif dice <= 85 then
    return wrk.format("GET", "/films/" .. films[math.random(#films)], page)
  elseif dice <= 90 then
    local pages = { "/friends", "/account", "/tonight", "/?watched=1", "/?sort=title" }
    return wrk.format("GET", pages[math.random(#pages)], page)
  end
  local headers = { ["Authorization"] = "Bearer " .. person.token, ["Content-Type"] = "application/json" }
  local body = string.format('{"priority": %d}', math.random(5))
  return wrk.format("PUT", "/api/v1/list/" .. films[math.random(#films)], headers, body)
end

function response(status, headers, body)
  if status ~= 200 then
    bad = bad + 1
    first_bad = status .. " " .. body:sub(1, 200)
  end
end

function done(summary, latency, requests)
  local wrong = 0
  for _, thread in ipairs(threads) do
    wrong = wrong + thread:get("bad")
    if thread:get("bad") > 0 then print("for example: " .. thread:get("first_bad")) end
  end
  local e = summary.errors
  print(string.format("requests/s %.0f, p50 %.2f ms, p99 %.2f ms, p99.9 %.2f ms, slowest %.1f ms; %d answers were not 200, %d without an answer",
    summary.requests / (summary.duration / 1e6), latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    latency:percentile(99.9) / 1e3, latency.max / 1e3, wrong, e.connect + e.read + e.write + e.timeout))
  if os.getenv("CSV") then
    local csv = assert(io.open(os.getenv("CSV"), "a"))
    csv:write(string.format("%s,%.1f,%d,%d,%d,%d,%d\n", os.getenv("ONLY") or "mixed",
      summary.requests / (summary.duration / 1e6), latency:percentile(50), latency:percentile(99), latency.max, wrong,
      e.connect + e.read + e.write + e.timeout))
    csv:close()
  end
end
