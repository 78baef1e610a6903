-- TFJob of mpba.fbk.eu: TensorFlow with parameter servers and workers.

local common, mpba = use("common"), use("mpba")

local PORT = 2222

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
        restart = { policy = common.restarts(r.template) },
      },
      fields = { name = "replicaType", count = "replicas" },
    })
  end
  if not worker then
    invalid(spec, nil, "needs a worker: without one the job would never end")
  end
  return { roles = roles, default = { restart = { scope = "Pod", limit = 6 }, cleanPods = "Running" } }
end

-- With blanks, as this kind always had them.
local function once(job)
  return { cluster = common.tf_cluster(job, function(role)
    return mpba.pod_name(job, role, ""), "-service:" .. PORT
  end, " ") }
end

local function pod(job, role, index)
  local task = role.name .. '", "index": ' .. index .. "}}"
  return mpba.pod(job, role, index, { { "TF_CONFIG", { job.once.cluster, task } } })
end

local function write(roles, template)
  return common.write_roles(roles, template, "replicaType", lower)
end

return {
  group = "mpba.fbk.eu", version = "v1", kind = "TFJob", plural = "tfjobs", short = { "mpbatf" },
  spec = mpba.spec({ "ps", "worker" }),
  read = read, names = mpba.names, once = once, pod = pod, service = mpba.service, status = mpba.status,
  write = write,
}
