# shellcheck shell=bash
# shellcheck disable=SC2154 # components.sh sets the address and the port
# Keys, certificates and kubeconfigs of a cluster.

# certificate DIR NAME SUBJECT USAGE [SUBJECT-ALT-NAME]: DIR/pki/NAME.key and .crt, signed by our CA.
certificate() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj "$3" \
    -CA "$1/pki/ca.crt" -CAkey "$1/pki/ca.key" -keyout "$1/pki/$2.key" -out "$1/pki/$2.crt" \
    -addext "basicConstraints=critical,CA:FALSE" -addext "extendedKeyUsage=$4" \
    ${5:+-addext "subjectAltName=$5"} 2>>"$1/log/openssl.log"
}

make_pki() {
  local dir=$1
  {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj "/CN=test cluster" \
      -keyout "$dir/pki/ca.key" -out "$dir/pki/ca.crt"
    openssl ecparam -genkey -name prime256v1 -noout -out "$dir/pki/service-accounts.key"
    openssl ec -in "$dir/pki/service-accounts.key" -pubout -out "$dir/pki/service-accounts.pub"
  } 2>>"$dir/log/openssl.log"
  certificate "$dir" server "/CN=kube-apiserver" serverAuth \
    "IP:$api_address,IP:10.96.0.1,DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc"
  certificate "$dir" admin "/O=system:masters/CN=admin" clientAuth
  certificate "$dir" kwok "/O=system:masters/CN=kwok" clientAuth
  certificate "$dir" kube-controller-manager "/CN=system:kube-controller-manager" clientAuth
  certificate "$dir" kube-scheduler "/CN=system:kube-scheduler" clientAuth
}

# kubeconfig DIR NAME: for the client certificate of that name, with everything inline.
kubeconfig() {
  cat <<YAML
apiVersion: v1
kind: Config
current-context: test
contexts:
- name: test
  context: {cluster: test, user: $2}
clusters:
- name: test
  cluster:
    server: https://$api_address:$port_api
    certificate-authority-data: $(base64 -w 0 "$1/pki/ca.crt")
users:
- name: $2
  user:
    client-certificate-data: $(base64 -w 0 "$1/pki/$2.crt")
    client-key-data: $(base64 -w 0 "$1/pki/$2.key")
YAML
}
