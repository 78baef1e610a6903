{{/*
dict "root" $ "component" NAME: a NetworkPolicy's spec for a component's pods, which reach the API server and nothing
else, and which nobody reaches who is not named under `ingress`.
*/}}
{{- define "dl-operator.egress" -}}
podSelector:
  matchLabels:
    {{- include "dl-operator.selector" . | nindent 4 }}
policyTypes: [Ingress, Egress]
egress:
- ports:
  {{- range .root.Values.networkPolicy.apiServerPorts }}
  - {port: {{ . }}}
  {{- end }}
  {{- with .root.Values.networkPolicy.apiServerCidrs }}
  to:
  {{- range . }}
  - ipBlock: {cidr: {{ . | quote }}}
  {{- end }}
  {{- end }}
# Some clouds give their API server by name.
- ports:
  - {port: 53, protocol: UDP}
  - {port: 53, protocol: TCP}
{{- end -}}
