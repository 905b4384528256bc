"""Valid and invalid certificates for test servers."""

import ssl
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

type _Key = ec.EllipticCurvePrivateKey

_DAY = timedelta(days=1)


class CertificateAuthority:
    """A certificate authority; tests can add it to the trusted authorities."""

    def __init__(self, name: str, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self.file = folder / f"{name}.pem"
        certificate = _certificate(self._name, self._key, self._name, self._key)
        self.file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def server(self, host: str, *, days: tuple[int, int] = (-1, 1)) -> ssl.SSLContext:
        """Return the TLS context of a server with a certificate for `host`.

        `days`: start and end of its validity, relative to now.
        """
        return _tls(self._certified(host, days, self_signed=False))

    def self_signed_server(self, host: str) -> ssl.SSLContext:
        """Return the TLS context of a server with a self-signed certificate."""
        return _tls(self._certified(host, (-1, 1), self_signed=True))

    @cache  # noqa: B019 - an authority exists during the whole test run
    def _certified(self, host: str, days: tuple[int, int], *, self_signed: bool) -> Path:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
        issuer, signer = (subject, key) if self_signed else (self._name, self._key)
        certificate = _certificate(subject, key, issuer, signer, host=host, days=days)
        file = self._folder / f"{certificate.serial_number}.pem"
        file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        return file


def _tls(file: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


def _certificate(
    subject: x509.Name,
    key: _Key,
    issuer: x509.Name,
    signer: _Key,
    *,
    host: str | None = None,
    days: tuple[int, int] = (-1, 1),
) -> x509.Certificate:
    """Return a certificate for a key: of a server, or of an authority if `host` is None."""
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + days[0] * _DAY)
        .not_valid_after(now + days[1] * _DAY)
        .add_extension(x509.BasicConstraints(ca=host is None, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False
        )
    )
    if host is None:
        builder = builder.add_extension(_signs_certificates(), critical=True)
    else:
        resolver = x509.SubjectAlternativeName([x509.DNSName(host)])
        use = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
        builder = builder.add_extension(resolver, critical=False).add_extension(use, critical=False)
    return builder.sign(signer, hashes.SHA256())


def _signs_certificates() -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=True,
        encipher_only=False,
        decipher_only=False,
    )
