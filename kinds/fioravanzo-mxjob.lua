-- MXJob of fioravanzo.org: MXNet with a SCHEDULER, SERVERs and WORKERs.

local TYPES = { "SCHEDULER", "SERVER", "WORKER" }

-- <job>-<type>-<runtime id>-<index>: the service's name, and the beginning of the pod's.
local function base(job, role, index)
  return string.sub(job.name, 1, 40) .. "-" .. role.name .. "-" .. lower(job.data.rid) .. "-" .. index
end

local function names(job, role, index)
  local name = base(job, role, index)
  return name .. "-" .. hash(job.uid .. "/" .. role.name .. "/" .. index, 5), name
end

-- Whoever is the chief: its exit code says whether it is worth another try.
local CHIEF = { restart = { policy = "OnNodeFailWithExitCode", exitCodes = "128-255", oomPermanent = true } }

local function read(spec, meta)
  local own = spec.terminationPolicy and spec.terminationPolicy.chief
  local chief = { role = lower(own and own.replicaName or "SCHEDULER"), index = own and own.replicaIndex or 0 }
  local roles, scheduler = list(), false
  for _, r in ipairs(spec.replicaSpecs) do
    local name = lower(r.mxReplicaType)
    local again = restart_policy(r.template) ~= "Never"
    if name == "scheduler" then
      scheduler = true
      if r.replicas ~= 1 then
        invalid(r, "replicas", "there is exactly one SCHEDULER")
      end
    end
    table.insert(roles, {
      name = name, title = r.mxReplicaType, path = at(r), count = r.replicas, service = true,
      template = r.template, containers = { name = "mxnet" },
      ports = { { name = "mx-port", port = r.mxPort } },
      default = { restart = { policy = again and "Always" or "Never" } }, chief = again and CHIEF or nil,
      fields = { name = "mxReplicaType", count = "replicas", ports = "mxPort" },
    })
  end
  if not scheduler then
    invalid(spec, "replicaSpecs", "needs a SCHEDULER: servers and workers find each other through it")
  end
  return {
    roles = roles,
    own = own and { complete = chief } or nil,
    -- A worker that starts again alone never joins: all of them do.
    default = {
      complete = scheduler and chief or nil,
      restart = { scope = "Job", limit = 6 }, cleanPods = "Running",
    },
    fields = { complete = "terminationPolicy.chief" },
  }, { rid = spec.RuntimeId ~= "" and spec.RuntimeId or hash(meta.uid, 4) }
end

local function labels(job, role, index)
  return {
    ["fioravanzo.org"] = "", job_type = role.title, runtime_id = job.data.rid,
    mx_job_name = job.name, task_index = index,
  }
end

-- The scheduler binds to a host name only if it is told that this is Kubernetes.
local function pod(job, role, index)
  local function count(of)
    return job.role[of] and job.role[of].count or 0
  end
  return {
    labels = labels(job, role, index),
    schedulerName = job.spec.schedulerName,
    env = {
      { "DMLC_ROLE", role.name },
      { "DMLC_PS_ROOT_URI", base(job, job.role.scheduler, 0) },
      { "DMLC_PS_ROOT_PORT", job.role.scheduler.ports[1].port },
      { "DMLC_NUM_SERVER", count("server") },
      { "DMLC_NUM_WORKER", count("worker") },
      { "PS_VERBOSE", 2 },
      { "DMLC_USE_KUBERNETES", 1 },
    },
  }
end

local function service(job, role, index)
  return { labels = labels(job, role, index) }
end

-- The common phase as phase and state.
local WORDS = {
  Invalid = { "Failed", "Failed" },
  Pending = { "Creating", "Running" },
  Creating = { "Creating", "Running" },
  Running = { "Running", "Running" },
  Restarting = { "Running", "Running" },
  Suspended = { "Creating", "Unknown" },
  Succeeded = { "Done", "Succeeded" },
  Failed = { "Done", "Failed" },
  TimedOut = { "Done", "Failed" },
  Preempted = { "Done", "Failed" },
  NodeFailed = { "Done", "Failed" },
}

local function replica_status(r)
  local states = {
    Failed = r.failed, Running = r.pending + r.scheduled + r.active + r.restarting, Succeeded = r.succeeded,
  }
  states.Unknown = math.max(r.count - states.Failed - states.Running - states.Succeeded, 0)
  local state = "Unknown"
  if states.Failed > 0 then
    state = "Failed"
  elseif states.Running > 0 then
    state = "Running"
  elseif states.Succeeded > 0 and states.Succeeded >= r.count then
    state = "Succeeded"
  end
  for name, n in pairs(states) do
    if n == 0 then
      states[name] = nil
    end
  end
  return { mx_replica_type = r.title, state = state, ReplicasStates = states }
end

local function status(job, st)
  local words = WORDS[st.phase] or { "", "Unknown" }
  if st.phase == "Terminating" then
    words = { "CleanUp", st.outcome and WORDS[st.outcome][2] or "Unknown" }
  end
  local replicas = list()
  for _, r in ipairs(st.roles) do
    table.insert(replicas, replica_status(r))
  end
  local reason = st.reason or ""
  if st.phase == "Invalid" then
    reason = replace(reason, "invalid: ", "invalid job spec: ")
  end
  return { phase = words[1], state = words[2], reason = reason, replicaStatuses = replicas }
end

local function adopt(job, old)
  if old.phase == "Done" or old.phase == "Failed" then
    return {
      phase = old.state == "Succeeded" and "Succeeded" or "Failed",
      reason = type(old.reason) == "string" and old.reason or nil,
    }
  end
end

return {
  group = "fioravanzo.org", version = "v1alpha1", kind = "MXJob", plural = "mxjobs",
  spec = { "object", fields = {
    RuntimeId = { "string", max = 20, description = "part of the children's names; derived from the UID if empty" },
    replicaSpecs = { "array", required = true, min = 1, items = { "object", fields = {
      replicas = { "int", default = 1, min = 0, max = 100000 },
      template = { "template", required = true, description = "the pod; its container `mxnet` counts" },
      mxPort = { "int", default = 9000, min = 1, max = 65535 },
      mxReplicaType = { "enum", values = TYPES, default = "SCHEDULER" },
    } } },
    mxImage = { "string", description = "not used" },
    schedulerName = { "string", description = "of the pods, instead of the templates' own" },
    terminationPolicy = { "object", fields = {
      chief = { "object", required = true, description = "the replica whose end is the job's", fields = {
        replicaName = { "enum", values = TYPES, required = true },
        replicaIndex = { "int", default = 0, min = 0 },
      } },
    } },
  } },
  read = read, names = names, pod = pod, service = service, status = status, adopt = adopt,
}
