{{/*
What the running operator may do in the namespaces that it serves. No more than it uses: test/cluster/zz-rights.bats
compares it with what the API server saw. The table in docs/operator.md says the same.
*/}}
{{- define "dl-operator.rights" -}}
{{- include "dl-operator.jobRules" (dict "root" . "verbs" (list "get" "list" "watch" "delete")) }}
{{- include "dl-operator.jobRules" (dict "root" . "verbs" (list "patch") "suffix" "/status") }}
{{- /* Children name their job as an owner that waits for them: OwnerReferencesPermissionEnforcement asks for this. */}}
{{- include "dl-operator.jobRules" (dict "root" . "verbs" (list "update") "suffix" "/finalizers") }}
- apiGroups: [""]
  resources: [pods, services]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [""]
  resources: [events]
  verbs: [create, patch]
{{- include "dl-operator.gangRights" . }}
{{- end -}}

{{/* On PodGroups, with a gang scheduler, and of that one. */}}
{{- define "dl-operator.gangRights" -}}
{{- with .Values.gang.schedulerName }}
- apiGroups: [{{ ternary "scheduling.volcano.sh" "scheduling.x-k8s.io" (eq . "volcano") }}]
  resources: [podgroups]
  verbs: [get, list, watch, create, patch, delete]
{{- end }}
{{- end -}}
