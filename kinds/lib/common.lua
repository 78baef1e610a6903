-- What several kinds have in common: local common = use("common"). docs/adding-a-kind.md lists it.

local common = {}

-- Whoever decides the job's end: its exit code says whether it is worth another try.
common.CHIEF = { restart = { policy = "OnNodeFailWithExitCode", exitCodes = "128-255", oomPermanent = true } }

-- restart.policy as the template says it: a container that was to be restarted becomes a pod that is.
function common.restarts(template)
  return restart_policy(template) == "Never" and "Never" or "Always"
end

-- What tells two jobs of one name apart, in their children's names.
common.RUNTIME_ID = {
  "string", max = 20, description = "part of the children's names; derived from the UID if empty",
}

function common.runtime_id(spec, meta)
  return spec.RuntimeId ~= "" and spec.RuntimeId or hash(meta.uid, 4)
end

-- spec.terminationPolicy: the replica whose end is the job's, of one of these types.
function common.termination_policy(types)
  return { "object", description = "when the job has ended", fields = {
    chief = { "object", required = true, description = "the replica whose end is the job's", fields = {
      replicaName = { "enum", values = types, required = true, description = "its role" },
      replicaIndex = { "int", default = 0, min = 0, description = "its number; default: 0" },
    } },
  } }
end

-- MXNet: the variables of a replica; servers and workers find each other through the scheduler at HOST. It binds to a
-- host name only if it is told that this is Kubernetes.
function common.mxnet_env(job, role, host, port)
  local function count(of)
    return job.role[of] and job.role[of].count or 0
  end
  return {
    { "DMLC_ROLE", role.name },
    { "DMLC_PS_ROOT_URI", host },
    { "DMLC_PS_ROOT_PORT", port },
    { "DMLC_NUM_SERVER", count("server") },
    { "DMLC_NUM_WORKER", count("worker") },
    { "PS_VERBOSE", 2 },
    { "DMLC_USE_KUBERNETES", 1 },
  }
end

-- There is exactly one SCHEDULER, and nothing goes without it. PATH: of the list of roles, in SPEC.
function common.mxnet_scheduler(spec, path, replicas, type_of)
  local found = false
  for _, r in ipairs(replicas) do
    if lower(type_of(r)) == "scheduler" then
      found = true
      if r.replicas ~= 1 then
        invalid(r, "replicas", "there must be exactly one SCHEDULER")
      end
    end
  end
  if not found then
    invalid(spec, path, "needs a SCHEDULER: servers and workers find each other through it")
  end
  return found
end

-- TensorFlow: TF_CONFIG up to the type of the task, the same for all replicas: types and their hosts, sorted by type.
-- HOST(role) returns what stands before and after the index; BLANK is between the elements.
function common.tf_cluster(job, host, blank)
  local types = {}
  for _, role in ipairs(job.roles) do
    if role.count > 0 then
      local hosts = {}
      local before, after = host(role)
      for i = 1, role.count do
        hosts[i] = '"' .. before .. i - 1 .. after .. '"'
      end
      table.insert(types, '"' .. role.name .. '":' .. blank .. "[" .. join(hosts, "," .. blank) .. "]")
    end
  end
  table.sort(types)
  return '{"cluster":' .. blank .. "{" .. join(types, "," .. blank) .. "}," .. blank ..
    '"task":' .. blank .. '{"type":' .. blank .. '"'
end

-- write(): roles that people asked for as the list of a spec, each with its type in FIELD, in LETTERS: upper or lower.
function common.write_roles(roles, template, field, letters)
  local result = list()
  for _, r in ipairs(roles) do
    table.insert(result, { [field] = letters(r.name), replicas = r.count, template = template })
  end
  return result
end

-- … and what MXNet needs beside them: a scheduler, and a server.
function common.mxnet_roles(roles)
  local result, there = list(), {}
  for _, r in ipairs(roles) do
    there[lower(r.name)] = true
  end
  for _, name in ipairs({ "scheduler", "server" }) do
    if not there[name] then
      table.insert(result, { name = name, count = 1 })
    end
  end
  for _, r in ipairs(roles) do
    table.insert(result, r)
  end
  return result
end

-- The template, its container having the NAME by which the kind knows it.
function common.write_template(template, name)
  template.spec.containers[1].name = name
  return template
end

-- The status of the tf-operator of 2017 and of those that followed it: the common phase as phase and state.
local STATES = {
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

local function replica_status(r, type_field)
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
  return { [type_field] = r.title, state = state, ReplicasStates = states }
end

-- TYPE_FIELD: what the list of replicas calls their type.
function common.state_status(st, type_field)
  local words = STATES[st.phase] or { "", "Unknown" }
  if st.phase == "Terminating" then
    words = { "CleanUp", st.outcome and STATES[st.outcome][2] or "Unknown" }
  end
  local replicas = list()
  for _, r in ipairs(st.roles) do
    table.insert(replicas, replica_status(r, type_field))
  end
  return { phase = words[1], state = words[2], reason = st.reason or "", replicaStatuses = replicas }
end

-- An older operator relabelled finished jobs as Failed when it started; their state tells the truth.
function common.state_adopt(job, old)
  if old.phase == "Done" or old.phase == "Failed" then
    return {
      phase = old.state == "Succeeded" and "Succeeded" or "Failed",
      reason = type(old.reason) == "string" and old.reason or nil,
    }
  end
end

return common
