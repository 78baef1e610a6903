{{/* `helm test` runs a job where jobs are served, and waits for its end there. */}}
{{- define "dl-operator.testNamespace" -}}
{{- default .Release.Namespace (include "dl-operator.watched" .) -}}
{{- end -}}

{{/* dict "root" $ "weight" N */}}
{{- define "dl-operator.testMetadata" -}}
namespace: {{ include "dl-operator.testNamespace" .root }}
{{ include "dl-operator.hookMetadata" (merge (dict "component" "test" "hook" "test"
  "name" (printf "%s-test" (include "dl-operator.fullname" .root))) .) }}
{{- end -}}
