-- What the kinds of mpba.fbk.eu have in common. Their spec is a list of roles, so their policy is in an annotation.

local mpba = {}

function mpba.pod_name(job, role, index)
  return role.name .. "-" .. job.name .. "-" .. index
end

function mpba.names(job, role, index)
  local name = mpba.pod_name(job, role, index)
  return name, name .. "-service"
end

function mpba.pod(job, role, index, env)
  local name = mpba.pod_name(job, role, index)
  return { hostname = name, labels = { pod_name = name, job_name = job.name }, env = env }
end

function mpba.service(job, role, index)
  return { labels = { service_name = mpba.pod_name(job, role, index) .. "-service", job_name = job.name } }
end

function mpba.status(job, st)
  return { phase = st.phase, reason = st.reason }
end

function mpba.spec(types)
  return { "array", min = 1, description = "the roles; policies stand in an annotation", items = { "object", fields = {
    replicas = { "int", required = true, min = 0, max = 100000, description = "how many pods the role has" },
    replicaType = { "enum", values = types, nocase = true, required = true,
      description = "which role it is: " .. lower(join(types, ", ")) },
    template = { "template", required = true, description = "the pod; its first container counts" },
  } } }
end

return mpba
