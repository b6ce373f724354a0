from __future__ import annotations

from ipaddress import ip_address

import pytest

from slate.domain.addresses import BadTarget, refusal, target_of

PUBLIC = ["8.8.8.8", "93.184.215.14", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"]
LOOPBACK = ["127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "::7f00:1"]
INSIDE = [
    *("10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "198.18.0.1", "192.0.0.170"),
    *("169.254.169.254", "169.254.170.2", "0.0.0.0", "224.0.0.1", "240.0.0.1", "255.255.255.255"),  # noqa: S104
    *("::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "2001:db8::1"),
    *("::ffff:10.0.0.1", "::ffff:169.254.169.254", "64:ff9b::a00:1", "64:ff9b:1::a9fe:a9fe", "2002:a9fe:a9fe::"),
    "64:ff9b:1:a00:0:100:808:808",  # 10.0.0.1 in a network's own NAT64, and something public where others have it
]


@pytest.mark.parametrize("text", PUBLIC)
def test_a_public_address_may_be_connected_to(text):
    assert refusal(ip_address(text), loopback=False) is None


@pytest.mark.parametrize("text", LOOPBACK)
def test_this_machine_may_be_connected_to_only_where_that_is_allowed(text):
    assert refusal(ip_address(text), loopback=False) == "this machine's own"
    assert refusal(ip_address(text), loopback=True) is None


@pytest.mark.parametrize("text", INSIDE)
def test_the_inside_of_a_network_is_never_connected_to(text):
    assert refusal(ip_address(text), loopback=False)
    assert refusal(ip_address(text), loopback=True)


@pytest.mark.parametrize(
    ("url", "authority", "path"),
    [
        ("https://example.com", "example.com", "/"),
        ("https://Example.com:443/a/b?c=d", "example.com", "/a/b?c=d"),
        ("https://agents.example.com:8443/", "agents.example.com:8443", "/"),
        ("https://8.8.8.8/", "8.8.8.8", "/"),
        ("https://[2606:4700::1111]:444/", "[2606:4700::1111]:444", "/"),
        ("https://xn--bcher-kva.example/", "xn--bcher-kva.example", "/"),
    ],
)
def test_a_public_https_url_is_a_target(url, authority, path):
    target = target_of(url, loopback=False)
    assert (target.https, target.authority, target.path) == (True, authority, path)


@pytest.mark.parametrize(
    "url",
    [
        *("http://example.com/", "ftp://example.com/", "example.com", "https://", "https:///x", "//example.com"),
        *("https://user@example.com/", "https://u:p@example.com/", "https://example.com/#f", "https://example.com:0/"),
        *(
            "https://example.com:70000/",
            "https://exa mple.com/",
            "https://example.com/\r\nX: y",
            "https://a.com\\@b.com",
        ),
        *(
            "https://intranet/",
            "https://metadata.google.internal/",
            "https://printer.local/",
            "https://b\u00fccher.example",
        ),
        *("https://2130706433/", "https://0x7f000001/", "https://0177.0.0.1/", "https://127.1/", "https://1.2.3/"),
        *("https://10.0.0.1/", "https://169.254.169.254/latest/meta-data/", "https://[fe80::1]/", "https://[::]/"),
        *("https://[::ffff:10.0.0.1]/", "https://[::ffff:a9fe:a9fe]/", f"https://example.com/{'x' * 2_000}"),
    ],
)
def test_any_other_url_is_refused_on_a_laptop_too(url):
    with pytest.raises(BadTarget):
        target_of(url, loopback=True)
    with pytest.raises(BadTarget):
        target_of(url, loopback=False)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8000/", "http://localhost:8000/", "https://[::1]/", "https://a.localhost/"]
)
def test_this_machine_is_a_target_only_where_that_is_allowed(url):
    assert target_of(url, loopback=True)
    with pytest.raises(BadTarget):
        target_of(url, loopback=False)
