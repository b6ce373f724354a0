"""Receipts as signed texts: JSON Web Signatures, made and checked by PyJWT."""
