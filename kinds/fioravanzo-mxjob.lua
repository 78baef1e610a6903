-- MXJob of fioravanzo.org: MXNet with a SCHEDULER, SERVERs and WORKERs.

local common = use("common")

local TYPES = { "SCHEDULER", "SERVER", "WORKER" }

-- <job>-<type>-<runtime id>-<index>: the service's name, and the beginning of the pod's.
local function base(job, role, index)
  return string.sub(job.name, 1, 40) .. "-" .. role.name .. "-" .. lower(job.data.rid) .. "-" .. index
end

local function names(job, role, index)
  local name = base(job, role, index)
  return name .. "-" .. hash(job.uid .. "/" .. role.name .. "/" .. index, 5), name
end

local function type_of(r)
  return r.mxReplicaType
end

local function read(spec, meta)
  local own = spec.terminationPolicy and spec.terminationPolicy.chief
  local chief = { role = lower(own and own.replicaName or "SCHEDULER"), index = own and own.replicaIndex or 0 }
  local roles = list()
  for _, r in ipairs(spec.replicaSpecs) do
    local restarts = common.restarts(r.template)
    table.insert(roles, {
      name = lower(r.mxReplicaType), title = r.mxReplicaType, path = at(r), count = r.replicas, service = true,
      template = r.template, containers = { name = "mxnet" },
      ports = { { name = "mx-port", port = r.mxPort } },
      default = { restart = { policy = restarts } }, chief = restarts ~= "Never" and common.CHIEF or nil,
      fields = { name = "mxReplicaType", count = "replicas", ports = "mxPort" },
    })
  end
  local scheduler = common.mxnet_scheduler(spec, "replicaSpecs", spec.replicaSpecs, type_of)
  return {
    roles = roles,
    own = own and { complete = chief } or nil,
    -- A worker that starts again alone never joins: all of them do.
    default = {
      complete = scheduler and chief or nil,
      restart = { scope = "Job", limit = 6 }, cleanPods = "Running",
    },
    fields = { complete = "terminationPolicy.chief" },
  }, { rid = common.runtime_id(spec, meta) }
end

local function labels(job, role, index)
  return {
    ["fioravanzo.org"] = "", job_type = role.title, runtime_id = job.data.rid,
    mx_job_name = job.name, task_index = index,
  }
end

local function pod(job, role, index)
  local scheduler = job.role.scheduler
  return {
    labels = labels(job, role, index),
    schedulerName = job.spec.schedulerName,
    env = common.mxnet_env(job, role, base(job, scheduler, 0), scheduler.ports[1].port),
  }
end

local function service(job, role, index)
  return { labels = labels(job, role, index) }
end

local function status(job, st)
  local result = common.state_status(st, "mx_replica_type")
  if st.phase == "Invalid" then
    result.reason = replace(result.reason, "invalid: ", "invalid job spec: ")
  end
  return result
end

local function write(roles, template)
  template = common.write_template(template, "mxnet")
  return { replicaSpecs = common.write_roles(common.mxnet_roles(roles), template, "mxReplicaType", upper) }
end

return {
  group = "fioravanzo.org", version = "v1alpha1", kind = "MXJob", plural = "mxjobs", short = { "fiomx" },
  spec = { "object", fields = {
    RuntimeId = common.RUNTIME_ID,
    replicaSpecs = { "array", required = true, min = 1, description = "the roles", items = { "object", fields = {
      replicas = { "int", default = 1, min = 0, max = 100000, description = "how many pods the role has; default: 1" },
      template = { "template", required = true, description = "the pod; its container `mxnet` counts" },
      mxPort = { "int", default = 9000, min = 1, max = 65535, description = "where it listens; default: 9000" },
      mxReplicaType = { "enum", values = TYPES, default = "SCHEDULER",
        description = "which role it is; default: SCHEDULER" },
    } } },
    mxImage = { "string", description = "not used" },
    schedulerName = { "string", description = "of the pods, instead of the templates' own" },
    terminationPolicy = common.termination_policy(TYPES),
  } },
  read = read, names = names, pod = pod, service = service, status = status,
  adopt = common.state_adopt, write = write,
}
