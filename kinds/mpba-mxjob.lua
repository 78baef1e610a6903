-- MXJob of mpba.fbk.eu: MXNet with a scheduler, servers and workers. Its spec is a list of roles, so its
-- policy stands in an annotation.

local PORT = 9000

local function pod_name(job, role, index)
  return role.name .. "-" .. job.name .. "-" .. index
end

local function names(job, role, index)
  local name = pod_name(job, role, index)
  return name, name .. "-service"
end

local function read(spec)
  local roles, scheduler = list(), false
  for _, r in ipairs(spec) do
    local name = lower(r.replicaType)
    if name == "scheduler" then
      scheduler = true
      if r.replicas ~= 1 then
        invalid(r, "replicas", "there is exactly one SCHEDULER")
      end
    end
    table.insert(roles, {
      name = name, title = r.replicaType, path = at(r), count = r.replicas, service = true,
      template = r.template, containers = { first = true },
      ports = { { name = "dlport0", port = PORT } },
      default = { restart = { policy = restart_policy(r.template) == "Never" and "Never" or "Always" } },
      fields = { name = "replicaType", count = "replicas" },
    })
  end
  if not scheduler then
    invalid(spec, nil, "needs a SCHEDULER: servers and workers find each other through it")
  end
  return {
    roles = roles,
    -- A worker that starts again alone never joins: all of them do.
    default = {
      complete = scheduler and { role = "scheduler", index = 0 } or nil,
      restart = { scope = "Job", limit = 6 }, cleanPods = "Running",
    },
  }
end

-- The scheduler binds to a host name only if it is told that this is Kubernetes.
local function pod(job, role, index)
  local name = pod_name(job, role, index)
  local function count(of)
    return job.role[of] and job.role[of].count or 0
  end
  return {
    hostname = name,
    labels = { pod_name = name, job_name = job.name },
    env = {
      { "DMLC_ROLE", role.name },
      { "DMLC_PS_ROOT_URI", pod_name(job, job.role.scheduler, 0) .. "-service" },
      { "DMLC_PS_ROOT_PORT", PORT },
      { "DMLC_NUM_SERVER", count("server") },
      { "DMLC_NUM_WORKER", count("worker") },
      { "PS_VERBOSE", 2 },
      { "DMLC_USE_KUBERNETES", 1 },
    },
  }
end

local function service(job, role, index)
  return { labels = { service_name = pod_name(job, role, index) .. "-service", job_name = job.name } }
end

local function status(job, st)
  return { phase = st.phase, reason = st.reason }
end

return {
  group = "mpba.fbk.eu", version = "v1", kind = "MXJob", plural = "mxjobs",
  spec = { "array", min = 1, items = { "object", fields = {
    replicas = { "int", required = true, min = 0, max = 100000 },
    replicaType = { "enum", values = { "SCHEDULER", "SERVER", "WORKER" }, nocase = true, required = true },
    template = { "template", required = true, description = "the pod; its first container counts" },
  } } },
  read = read, names = names, pod = pod, service = service, status = status,
}
