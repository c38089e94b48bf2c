"""An authority for the test alone, and certificates of it or of another one, made by the openssl command."""
import os
import subprocess


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def alternative(host):
    return ("IP:" if host.replace(".", "").isdigit() else "DNS:") + host


class Authority:
    def __init__(self, folder, made=None):
        """`made`: the files of the certificate and key of an authority that exists. Otherwise a new one is made."""
        self.folder = folder
        if made:
            self.certificate, self.key = made
            return
        self.certificate, self.key = os.path.join(folder, "ca.pem"), os.path.join(folder, "ca-key.pem")
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-subj", "/CN=Authority of the test", "-addext", "basicConstraints=critical,CA:TRUE",
                "-addext", "keyUsage=critical,keyCertSign,cRLSign", "-keyout", self.key, "-out", self.certificate)

    def issue(self, hosts, name="server"):
        """Returns the paths of a certificate for these hosts or IPv4 addresses, and of its key."""
        paths = {kind: os.path.join(self.folder, f"{name}.{kind}") for kind in ("pem", "key", "csr", "ext")}
        openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=origin",
                "-keyout", paths["key"], "-out", paths["csr"])
        with open(paths["ext"], "w") as file:
            file.write(f"subjectAltName={','.join(map(alternative, hosts))}\nextendedKeyUsage=serverAuth\n"
                       "authorityKeyIdentifier=keyid\nsubjectKeyIdentifier=hash\n")
        openssl("x509", "-req", "-in", paths["csr"], "-CA", self.certificate, "-CAkey", self.key, "-CAcreateserial",
                "-days", "2", "-extfile", paths["ext"], "-out", paths["pem"])
        return paths["pem"], paths["key"]
