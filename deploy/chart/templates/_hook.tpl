{{/* The hook that brings the definitions up to date before the operator that needs them: its name and condition. */}}
{{- define "dl-operator.crdsHook" -}}
{{- if and .Values.crds.install (not .Values.namespaced.enabled) -}}
{{ include "dl-operator.fullname" . }}-crds
{{- end -}}
{{- end -}}

{{/* dict "root" $ "name" NAME "weight" N "component" NAME "hook" EVENTS: metadata of an object of a hook. */}}
{{- define "dl-operator.hookMetadata" -}}
name: {{ .name }}
labels:
  {{- include "dl-operator.labels" . | nindent 2 }}
annotations:
  helm.sh/hook: {{ .hook }}
  helm.sh/hook-weight: {{ .weight | quote }}
  helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}

{{- define "dl-operator.crdsMetadata" -}}
{{- include "dl-operator.hookMetadata" (merge (dict "component" "crds" "hook" "pre-install,pre-upgrade") .) -}}
{{- end -}}
