-- MXJob of mpba.fbk.eu: MXNet with a scheduler, servers and workers.

local common, mpba = use("common"), use("mpba")

local PORT = 9000

local function type_of(r)
  return r.replicaType
end

local function read(spec)
  local roles = list()
  for _, r in ipairs(spec) do
    table.insert(roles, {
      name = lower(r.replicaType), title = r.replicaType, path = at(r), count = r.replicas, service = true,
      template = r.template, containers = { first = true },
      ports = { { name = "dlport0", port = PORT } },
      default = { restart = { policy = common.restarts(r.template) } },
      fields = { name = "replicaType", count = "replicas" },
    })
  end
  local scheduler = common.mxnet_scheduler(spec, nil, spec, type_of)
  return {
    roles = roles,
    -- A worker that starts again alone never joins: all of them do.
    default = {
      complete = scheduler and { role = "scheduler", index = 0 } or nil,
      restart = { scope = "Job", limit = 6 }, cleanPods = "Running",
    },
  }
end

local function pod(job, role, index)
  local _, host = mpba.names(job, job.role.scheduler, 0)
  return mpba.pod(job, role, index, common.mxnet_env(job, role, host, PORT))
end

local function write(roles, template)
  return common.write_roles(common.mxnet_roles(roles), template, "replicaType", upper)
end

return {
  group = "mpba.fbk.eu", version = "v1", kind = "MXJob", plural = "mxjobs", short = { "mpbamx" },
  spec = mpba.spec({ "SCHEDULER", "SERVER", "WORKER" }),
  read = read, names = mpba.names, pod = pod, service = mpba.service, status = mpba.status,
  write = write,
}
