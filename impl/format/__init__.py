"""The formats of certificates, read by those who make them and by those who check them."""
