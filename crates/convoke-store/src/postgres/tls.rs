//! Encrypted connections, verified as far as `sslmode` asks for.

use std::path::PathBuf;
use std::sync::Arc;

use postgres::config::SslMode;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::server::ServerError;

/// What is verified of a server's certificate.
#[derive(Debug, Clone)]
pub(super) enum Verification {
    /// Nothing: the connection is encrypted, and no more (`prefer`, `require`).
    None,
    /// That one of these authorities signed it (`verify-ca`).
    Authority(Arc<RootCertStore>),
    /// That, and that it is for this host (`verify-full`).
    Full(Arc<RootCertStore>),
}

impl Verification {
    pub(super) fn of(mode: &str, roots: Option<PathBuf>) -> Result<(SslMode, Self), ServerError> {
        Ok(match mode {
            "disable" => (SslMode::Disable, Self::None),
            "prefer" => (SslMode::Prefer, Self::None),
            // As in libpq, for compatibility: if a root certificate is configured, it is used.
            "require" if roots.is_some() => (SslMode::Require, Self::Authority(read(roots)?)),
            "require" => (SslMode::Require, Self::None),
            "verify-ca" => (SslMode::Require, Self::Authority(read(roots)?)),
            "verify-full" => (SslMode::Require, Self::Full(read(roots)?)),
            other => {
                let (name, value) = ("sslmode".to_owned(), other.to_owned());
                return Err(ServerError::Parameter { name, value });
            }
        })
    }
}

/// The authorities in a file, or those of the system.
fn read(path: Option<PathBuf>) -> Result<Arc<RootCertStore>, ServerError> {
    let mut store = RootCertStore::empty();
    match path {
        Some(path) => {
            let failed = |why: String| ServerError::File { path: path.clone(), why };
            let found = CertificateDer::pem_file_iter(&path);
            for certificate in found.map_err(|error| failed(error.to_string()))? {
                let certificate = certificate.map_err(|error| failed(error.to_string()))?;
                store.add(certificate).map_err(|error| failed(error.to_string()))?;
            }
            if store.is_empty() {
                return Err(failed("there is no certificate in it".to_owned()));
            }
        }
        None => {
            store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    Ok(Arc::new(store))
}

pub(super) fn connector(verification: &Verification) -> MakeRustlsConnect {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .expect("the provider has the usual versions");
    let config = match verification {
        Verification::Full(roots) => {
            builder.with_root_certificates(Arc::clone(roots)).with_no_client_auth()
        }
        Verification::Authority(roots) => {
            let chain = WebPkiServerVerifier::builder_with_provider(
                Arc::clone(roots),
                Arc::clone(&provider),
            );
            let chain = chain.build().ok();
            let verifier = Arc::new(LenientVerifier { chain, is_chain_needed: true, provider });
            builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
        }
        Verification::None => {
            let verifier =
                Arc::new(LenientVerifier { chain: None, is_chain_needed: false, provider });
            builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
        }
    };
    MakeRustlsConnect::new(config)
}

/// Accepts a certificate for another host, or any certificate.
#[derive(Debug)]
struct LenientVerifier {
    chain: Option<Arc<WebPkiServerVerifier>>,
    is_chain_needed: bool,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for LenientVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        stapled: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chain) = &self.chain else {
            if self.is_chain_needed {
                return Err(Error::InvalidCertificate(CertificateError::UnknownIssuer));
            }
            return Ok(ServerCertVerified::assertion());
        };
        match chain.verify_server_cert(certificate, intermediates, name, stapled, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
