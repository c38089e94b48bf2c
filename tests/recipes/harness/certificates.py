"""An authority for the test alone, and a certificate of it for the origin's hosts, made by the openssl command."""
import os
import subprocess


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Authority:
    def __init__(self, folder):
        self.folder = folder
        self.certificate, self.key = os.path.join(folder, "ca.pem"), os.path.join(folder, "ca-key.pem")
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-subj", "/CN=Authority of the test", "-addext", "basicConstraints=critical,CA:TRUE",
                "-addext", "keyUsage=critical,keyCertSign,cRLSign", "-keyout", self.key, "-out", self.certificate)

    def issue(self, hosts):
        """Returns the paths of a certificate for these hosts and of its key."""
        paths = {kind: os.path.join(self.folder, f"server.{kind}") for kind in ("pem", "key", "csr", "ext")}
        openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=origin",
                "-keyout", paths["key"], "-out", paths["csr"])
        with open(paths["ext"], "w") as file:
            file.write(f"subjectAltName={','.join('DNS:' + host for host in hosts)}\nextendedKeyUsage=serverAuth\n"
                       "authorityKeyIdentifier=keyid\nsubjectKeyIdentifier=hash\n")
        openssl("x509", "-req", "-in", paths["csr"], "-CA", self.certificate, "-CAkey", self.key, "-CAcreateserial",
                "-days", "2", "-extfile", paths["ext"], "-out", paths["pem"])
        return paths["pem"], paths["key"]
