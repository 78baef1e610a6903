-- AITrainingJob of elasticdeeplearning.ai: any framework; roles have free names and find each other through
-- variables. Containers and ports whose names begin with aitj- count.

local PREFIX = "aitj-"
local RESTARTS = { "Always", "OnFailure", "OnNodeFail", "Never", "ExitCode", "OnNodeFailWithExitCode" }
local ENDS = { "Any", "Rank0", "All", "None" }
local SCOPES = { All = "Job", Replica = "Role", Pod = "Pod" }

-- A role's name as a part of a variable's: MY_ROLE for my-role.
local function variable(name)
  local text = {}
  for i = 1, #name do
    local c = upper(string.sub(name, i, i))
    text[i] = (c >= "A" and c <= "Z" or c >= "0" and c <= "9") and c or "_"
  end
  return join(text)
end

-- Names in the cluster are lower case everywhere, in variables too.
local function cluster_name(name)
  return replace(lower(name), "/", "-")
end

local function read_role(name, r)
  return {
    name = cluster_name(name), title = name, path = at(r),
    count = r.replicas, min = r.minReplicas, max = r.maxReplicas,
    elastic = r.edlPolicy == "Auto" or r.edlPolicy == "Manual",
    service = true, template = r.template, containers = { prefix = PREFIX }, ports = { prefix = PREFIX }, env = "all",
    own = {
      restart = { policy = r.restartPolicy, scope = SCOPES[r.restartScope], limit = r.restartLimit },
      complete = r.completePolicy, fail = r.failPolicy,
    },
    -- Its own limit is of the role and of the job's whole life; one in the policy is as everywhere.
    default = {
      restart = {
        policy = "Never", scope = "Job", limit = -1,
        window = r.restartLimit and 0, limitByRole = r.restartLimit and true,
      },
      complete = "All", fail = "Any",
    },
    fields = {
      name = "", count = "replicas", min = "minReplicas", max = "maxReplicas", ["restart.policy"] = "restartPolicy",
      ["restart.scope"] = "restartScope", ["restart.limit"] = "restartLimit",
      complete = "completePolicy", fail = "failPolicy",
    },
  }
end

-- What torchrun tells a process of a group that has one on each node: a replica sees its own GPUs, from 0 on.
local function torch(role)
  local rank, size = "$(TRAININGJOB_REPLICA_INDEX)", "$(" .. variable(role.name) .. "_INSTANCES_NUM)"
  local names = {
    { "RANK", rank }, { "WORLD_SIZE", size }, { "LOCAL_RANK", "0" }, { "LOCAL_WORLD_SIZE", "1" },
    { "NODE_RANK", rank }, { "GROUP_RANK", rank }, { "GROUP_WORLD_SIZE", size },
    { "ROLE_RANK", rank }, { "ROLE_WORLD_SIZE", size }, { "ROLE_NAME", "default" },
    { "MASTER_ADDR", "$(TRAININGJOB_NAME)-" .. cluster_name(role.name) .. "-0" }, { "MASTER_PORT", "29500" },
  }
  local env = list()
  for _, v in ipairs(names) do
    table.insert(env, { name = v[1], value = v[2] })
  end
  return env
end

-- Several roles find each other through TRAININGJOB_…, as their programs like; one is a group of PyTorch's.
local function write(roles, template)
  local c = template.spec.containers[1]
  c.name = PREFIX .. "main"
  if #roles == 1 then
    local env = torch(roles[1])
    for _, v in ipairs(c.env or {}) do
      table.insert(env, v)
    end
    c.env = env
  end
  local specs = {}
  for _, r in ipairs(roles) do
    specs[r.name] = { replicas = r.count, template = template }
  end
  -- Pods that have ended are kept: their logs go with them.
  return { replicaSpecs = specs, policy = { cleanPods = "Running" } }
end

local function read(spec)
  local roles, variables, all_say = list(), {}, true
  for name, r in pairs(spec.replicaSpecs) do
    local v = variable(name)
    if variables[v] and cluster_name(variables[v]) ~= cluster_name(name) then
      invalid(r, nil, "its variables " .. v .. "_… would be those of `" .. variables[v] .. "` as well")
    end
    variables[v] = variables[v] or name
    all_say = all_say and r.restartPolicy ~= nil
    table.insert(roles, read_role(name, r))
  end
  table.sort(roles, function(a, b) return a.name < b.name end)
  -- A list of codes does not make a role restart that says nothing of restarts: its default is Never. Without a
  -- list no code is worth another try.
  local given = (spec.restartingExitCode or "") ~= ""
  local codes = { exitCodes = given and spec.restartingExitCode or list() }
  return {
    roles = roles,
    own = {
      restart = given and all_say and codes or nil,
      complete = spec.completePolicy, fail = spec.failPolicy, timeLimit = spec.timeLimit,
      cleanPods = spec.cleanPodPolicy,
    },
    default = { restart = not (given and all_say) and codes or nil, complete = "All", fail = "Any", cleanPods = "All" },
    fields = {
      ["restart.exitCodes"] = "restartingExitCode", complete = "completePolicy", fail = "failPolicy",
      cleanPods = "cleanPodPolicy",
    },
  }
end

local function names(job, role, index)
  local name = job.name .. "-" .. role.name .. "-" .. index
  return name, name
end

-- The variables that all replicas share: where everybody is.
local function once(job)
  local vars = {}
  for _, role in ipairs(job.roles) do
    local v, instances, ports, hosts = variable(role.title), {}, {}, {}
    for i, p in ipairs(role.ports) do
      ports[i] = p.port
    end
    for i = 1, role.count do
      instances[i] = job.name .. "-" .. role.name .. "-" .. i - 1 .. "." .. job.namespace
      for _, port in ipairs(ports) do
        table.insert(hosts, instances[i] .. ":" .. port)
      end
    end
    table.insert(vars, { v .. "_INSTANCES", join(instances, ",") })
    table.insert(vars, { v .. "_INSTANCES_NUM", #instances })
    table.insert(vars, { v .. "_PORTS", join(ports, ",") })
    table.insert(vars, { v .. "_PORTS_NUM", #ports })
    table.insert(vars, { v .. "_HOSTS", join(hosts, ",") })
    table.insert(vars, { v .. "_HOSTS_NUM", #hosts })
  end
  return { vars = vars }
end

local function pod(job, role, index, restarts)
  return {
    labels = {
      GroupName = "elasticdeeplearning.ai", TrainingJobName = job.name, JobName = job.name,
      PodRole = role.name, RestartCount = restarts,
      TrainingJobReplicaName = role.name, TrainingJobReplicaIndex = index,
      priority = job.spec.priority ~= "" and job.spec.priority or nil,
    },
    schedulerName = job.spec.schedulerName,
    env = {
      job.once.vars,
      { "TRAININGJOB_REPLICA_NAME", role.name },
      { "TRAININGJOB_REPLICA_TYPE", role.name },
      { "TRAININGJOB_REPLICA_INDEX", index },
      { "TRAININGJOB_REPLICA_RESTARTCOUNT", restarts },
      { "TRAININGJOB_SERVICE", job.name .. "-" .. role.name .. "-" .. index .. "." .. job.namespace },
      { "TRAININGJOB_NAME", job.name },
      { "TRAININGJOB_NAMESPACE", job.namespace },
    },
  }
end

local function container(job, role, c)
  if not c.init then
    return { { "TRAININGJOB_PORTS", join(c.ports, ",") } }
  end
end

local function service(job, role, index)
  return { labels = {
    GroupName = "elasticdeeplearning.ai", TrainingJobName = job.name,
    TrainingJobReplicaName = role.name, TrainingJobReplicaIndex = index,
  } }
end

local WORDS = {
  Invalid = "Failed", Pending = "Pending", Creating = "Creating", Running = "Running", Restarting = "Restarting",
  Suspended = "Pending", Terminating = "Terminating", Succeeded = "Succeed", Failed = "Failed",
  TimedOut = "Timeout", Preempted = "Preempted", NodeFailed = "NodeFail",
}

-- A restart that waits for old pods to go is Terminating first.
local function word_of(st, phase)
  return phase == "Restarting" and st.draining and "Terminating" or WORDS[phase] or ""
end

-- One condition for each of its phases; the present one is True.
local function conditions(st)
  local result, seen = list(), {}
  for i = #st.history, 1, -1 do
    local span = st.history[i]
    local word = span.left and WORDS[span.phase] or word_of(st, span.phase)
    if not seen[word] then
      seen[word] = true
      table.insert(result, 1, {
        type = word, reason = "TrainingJob" .. word,
        status = span.left and "False" or "True", message = span.left and "" or st.reason or "",
        lastTransitionTime = span.left or span.entered,
      })
    end
  end
  return result
end

local function counts(r)
  local result = {}
  for _, name in ipairs({ "pending", "scheduled", "active", "succeeded", "restarting", "failed" }) do
    result[name] = r[name] > 0 and r[name] or nil
  end
  return result
end

local function status(job, st)
  local replicas, restarts, waiting = {}, {}, ""
  for _, r in ipairs(st.roles) do
    replicas[r.title] = counts(r)
    restarts[r.title] = r.restarts
    if r.name == st.draining then
      waiting = r.title
    end
  end
  return {
    phase = word_of(st, st.phase), conditions = conditions(st), replicaStatuses = replicas,
    RestartCount = restarts, RestartReplicaName = waiting,
    startTime = st.start, startRunningTime = st.running, endTime = st.ended,
  }
end

local FINAL = {
  Succeed = "Succeeded", Failed = "Failed", Timeout = "TimedOut", Preempted = "Preempted", NodeFail = "NodeFailed",
}

local function adopt(job, old)
  local restarts = {}
  for name, n in pairs(type(old.RestartCount) == "table" and old.RestartCount or {}) do
    restarts[cluster_name(name)] = n
  end
  return { phase = FINAL[old.phase], restarts = restarts }
end

return {
  group = "elasticdeeplearning.ai", version = "v1", kind = "AITrainingJob", plural = "aitrainingjobs",
  short = { "aitj" }, job_labels = true,
  -- As its first README spelt them; its code and its users had those that all kinds have.
  endings = { preempted = "Preempted", failed = "Failed", nodefailed = "NodeFailed" },
  spec = { "object", fields = {
    restartingExitCode = { "string", numbers = true, description = "exit codes worth a retry: 137,128" },
    frameworkType = { "string", description = "informational; not used" },
    faultTolerant = { "bool", description = "informational; not used" },
    priority = { "string", description = "becomes the label `priority` of the pods" },
    schedulerName = { "string", description = "of the pods, instead of the templates' own" },
    timeLimit = { "int", min = 1, description = "seconds since all replicas ran" },
    cleanPodPolicy = { "enum", values = { "All", "None" }, description = "which pods are deleted at the end" },
    failPolicy = { "enum", values = { "Any", "All" }, description = "the job has failed when any or all roles have" },
    completePolicy = { "enum", values = { "Any", "All" },
      description = "the job has succeeded when any or all roles have" },
    replicaSpecs = { "map", required = true, min = 1, description = "the roles, by names of your choice",
      items = { "object", fields = {
      minReplicas = { "int", min = 0, description = "the least that an elastic role may have" },
      maxReplicas = { "int", min = 0, description = "the most that an elastic role may have" },
      replicas = { "int", default = 1, min = 0, max = 100000, description = "how many pods the role has; default: 1" },
      restartLimit = { "int", min = 0, max = 1000000, description = "counted restarts allowed; none: no limit" },
      restartPolicy = { "enum", values = RESTARTS, description = "which failures are restarted" },
      restartScope = { "enum", values = { "All", "Replica", "Pod" },
        description = "what restarts: the job, the role or the pod" },
      failPolicy = { "enum", values = ENDS, description = "which replicas decide that the role has failed" },
      completePolicy = { "enum", values = ENDS, description = "which replicas decide that the role has succeeded" },
      edlPolicy = { "enum", values = { "Auto", "Manual", "Never" },
        description = "replicas may come and go without a restart" },
      template = { "template", required = true, description = "the pod; containers aitj-* count" },
    } } },
  } },
  read = read, names = names, once = once, pod = pod, container = container, service = service,
  status = status, adopt = adopt, write = write,
}
