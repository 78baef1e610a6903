-- TFJob of mpba.fbk.eu: TensorFlow with parameter servers and workers. Its spec is a list of roles, so its
-- policy stands in an annotation.

local PORT = 2222

local function pod_name(job, role, index)
  return role.name .. "-" .. job.name .. "-" .. index
end

local function names(job, role, index)
  local name = pod_name(job, role, index)
  return name, name .. "-service"
end

local function read(spec)
  local roles, worker = list(), false
  for _, r in ipairs(spec) do
    local name = r.replicaType
    worker = worker or name == "worker"
    table.insert(roles, {
      name = name, path = at(r), count = r.replicas, service = true,
      template = r.template, containers = { first = true },
      ports = { { name = "dlport0", port = PORT } },
      -- The job is done when all workers are; parameter servers never end by themselves.
      default = {
        complete = name == "worker" and "All" or "None",
        restart = { policy = restart_policy(r.template) == "Never" and "Never" or "Always" },
      },
      fields = { name = "replicaType", count = "replicas" },
    })
  end
  if not worker then
    invalid(spec, nil, "needs a worker: without one the job would never end")
  end
  return { roles = roles, default = { restart = { scope = "Pod", limit = 6 }, cleanPods = "Running" } }
end

-- TF_CONFIG up to the task, the same for all replicas: types and their hosts, sorted by type. With blanks, as
-- this kind always had them.
local function once(job)
  local types = {}
  for _, role in ipairs(job.roles) do
    if role.count > 0 then
      local hosts = {}
      for i = 1, role.count do
        hosts[i] = '"' .. pod_name(job, role, i - 1) .. "-service:" .. PORT .. '"'
      end
      table.insert(types, '"' .. role.name .. '": [' .. join(hosts, ", ") .. "]")
    end
  end
  table.sort(types)
  return { cluster = '{"cluster": {' .. join(types, ", ") .. '}, "task": {"type": "' }
end

local function pod(job, role, index)
  local name = pod_name(job, role, index)
  local task = role.name .. '", "index": ' .. index .. "}}"
  return {
    hostname = name,
    labels = { pod_name = name, job_name = job.name },
    env = { { "TF_CONFIG", { job.once.cluster, task } } },
  }
end

local function service(job, role, index)
  return { labels = { service_name = pod_name(job, role, index) .. "-service", job_name = job.name } }
end

local function status(job, st)
  return { phase = st.phase, reason = st.reason }
end

return {
  group = "mpba.fbk.eu", version = "v1", kind = "TFJob", plural = "tfjobs",
  spec = { "array", min = 1, items = { "object", fields = {
    replicas = { "int", required = true, min = 0, max = 100000 },
    replicaType = { "enum", values = { "ps", "worker" }, nocase = true, required = true },
    template = { "template", required = true, description = "the pod; its first container counts" },
  } } },
  read = read, names = names, once = once, pod = pod, service = service, status = status,
}
