"""Keys and sealing: every wrapper keeps one contract, and what is sealed opens only where it was put."""

import gc
import os
from hashlib import sha256

import pytest
from botocore.exceptions import ClientError

from slate.adapters.dynamodb.calls import Calls, Key
from slate.adapters.dynamodb.codec import OVERHEAD_BYTES, Codec, to_json
from slate.adapters.dynamodb.fence_store import DynamoFences
from slate.adapters.dynamodb.keyring import DynamoKeyring
from slate.adapters.dynamodb.table import KEYS, MAIN
from slate.adapters.inprocess.clocks import ManualClock
from slate.adapters.inprocess.master_key import MasterKeyWrapper
from slate.adapters.inprocess.moto_engine import MotoEngine
from slate.adapters.kms.wrapper import KmsKeyWrapper
from slate.adapters.s3.blob_store import S3BlobStore
from slate.domain.errors import Internal, NotFound, SubjectErased, Unavailable

DATA_KEY = bytes(range(32))


@pytest.fixture(scope="module")
def engine():
    with MotoEngine(region="eu-central-1") as engine:
        yield engine


@pytest.fixture(params=["master key", "kms"])
def wrapper(request, engine):
    if request.param == "master key":
        return MasterKeyWrapper.generate()
    client = engine.client("kms")
    return KmsKeyWrapper(client, client.create_key()["KeyMetadata"]["KeyId"])


class CountedCalls(Calls):
    """Counts reads, to see what the cache saves."""

    reads = 0

    def get(self, tenant, key):
        self.reads += 1
        return super().get(tenant, key)


class World:
    def __init__(self, engine, name):
        client = engine.client("dynamodb")
        client.create_table(**KEYS.create_arguments(name))
        client.create_table(**MAIN.create_arguments(f"{name}-main"))
        self.fences = DynamoFences(Calls(client, f"{name}-main", None, None))
        self.clock = ManualClock(1_000_000)
        self.wrapper = MasterKeyWrapper.generate()
        self.calls = CountedCalls(client, name, None, None)
        self.client, self.table = client, name

    def keyring(self):
        return DynamoKeyring(self.calls, self.wrapper, self.clock, self.fences, cache_seconds=300)


@pytest.fixture
def world(engine):
    return World(engine, "keys-" + os.urandom(4).hex())


def test_a_wrapped_key_unwraps_for_the_same_tenant_and_ref(wrapper):
    wrapped = wrapper.wrap(DATA_KEY, "acme", "r1")
    assert DATA_KEY not in wrapped
    assert wrapper.unwrap(wrapped, "acme", "r1") == DATA_KEY


@pytest.mark.parametrize(("tenant", "ref"), [("globex", "r1"), ("acme", "r2")])
def test_a_wrapped_key_unwraps_for_nobody_else(wrapper, tenant, ref):
    with pytest.raises(Unavailable):
        wrapper.unwrap(wrapper.wrap(DATA_KEY, "acme", "r1"), tenant, ref)


def test_a_master_key_file_is_made_once_and_for_its_owner_alone(tmp_path):
    path = tmp_path / "master.key"
    wrapped = MasterKeyWrapper.from_file(path).wrap(DATA_KEY, "acme", "-")
    assert path.stat().st_mode & 0o777 == 0o600
    assert MasterKeyWrapper.from_file(path).unwrap(wrapped, "acme", "-") == DATA_KEY


def test_a_master_key_file_of_another_length_is_refused(tmp_path):
    (tmp_path / "short").write_bytes(b"short")
    with pytest.raises(ValueError, match="5 bytes"):
        MasterKeyWrapper.from_file(tmp_path / "short")


def test_each_tenant_and_each_person_has_a_key_of_its_own_that_stays(world):
    first, second = world.keyring(), world.keyring()
    keys = {first.sealing_key(t, r) for t in ("acme", "globex") for r in (None, "r1", "r2")}
    assert len(keys) == 6
    assert second.sealing_key("acme", "r1") == first.sealing_key("acme", "r1")


def test_two_first_calls_agree_on_one_key(world):
    one, other = world.keyring(), world.keyring()
    one._stored = lambda _place: None  # it looked before the other wrote
    made_elsewhere = other.sealing_key("acme", "r1")
    assert one.sealing_key("acme", "r1") == made_elsewhere
    assert world.keyring().sealing_key("acme", "r1") == made_elsewhere


def test_opening_makes_no_key(world):
    with pytest.raises(SubjectErased):
        world.keyring().opening_key("acme", "r1", 0)


def test_a_key_is_read_once_in_five_minutes_and_a_shredded_one_is_gone_after_them(world):
    keyring = world.keyring()
    keyring.sealing_key("acme", "r1")
    before = world.calls.reads
    keyring.opening_key("acme", "r1", 0)
    assert world.calls.reads == before
    world.keyring().shred("acme", "r1", 1)
    world.clock.advance(301)
    with pytest.raises(SubjectErased):
        keyring.opening_key("acme", "r1", 0)


def test_a_ref_is_stable_within_a_tenant_and_tells_nothing_across(world):
    keyring = world.keyring()
    assert keyring.ref("acme", "ann") == world.keyring().ref("acme", "ann")
    assert len({keyring.ref("acme", "ann"), keyring.ref("acme", "bob"), keyring.ref("globex", "ann")}) == 3
    assert "ann" not in keyring.ref("acme", "ann")


PLACE = Key("acme#G#g", "T#a")


@pytest.mark.parametrize("value", [None, "ß漢\U0001f600", 1.5, 10**30, {"a": [True, {"b": ""}]}, []])
def test_what_is_sealed_opens_again(world, value):
    codec = Codec(world.keyring())
    sealed = codec.seal("acme", "r1", PLACE, "body", value)
    assert codec.open("acme", "r1", PLACE, "body", sealed) == value
    assert len(sealed) == len(to_json(value)) + OVERHEAD_BYTES


@pytest.mark.parametrize(
    ("ref", "place", "attribute"),
    [
        ("r1", Key("acme#G#h", "T#a"), "body"),
        ("r1", Key("acme#G#g", "T#b"), "body"),
        ("r1", PLACE, "outcome"),
        ("r2", PLACE, "body"),
    ],
)
def test_what_is_sealed_opens_nowhere_else(world, ref, place, attribute):
    codec = Codec(world.keyring())
    codec.seal("acme", "r2", PLACE, "body", "so that the other key is there")
    sealed = codec.seal("acme", "r1", PLACE, "body", "secret")
    with pytest.raises(Internal):
        codec.open("acme", ref, place, attribute, sealed)


def test_what_was_tampered_with_does_not_open(world):
    codec = Codec(world.keyring())
    sealed = bytearray(codec.seal("acme", None, PLACE, "body", "secret"))
    sealed[-1] ^= 1
    with pytest.raises(Internal):
        codec.open("acme", None, PLACE, "body", bytes(sealed))


def test_sealing_the_same_twice_is_not_the_same(world):
    codec = Codec(world.keyring())
    assert codec.seal("acme", None, PLACE, "body", 1) != codec.seal("acme", None, PLACE, "body", 1)


def test_no_data_key_outlives_its_five_minutes_in_memory(world):
    """Nor does what caches beside the keyring's hold on to: one that was shredded is in no process's memory then."""
    made = []

    def entropy(length):
        key = os.urandom(length)
        made.append(sha256(key).digest())
        return key

    keyring = DynamoKeyring(world.calls, world.wrapper, world.clock, world.fences, cache_seconds=300, entropy=entropy)
    codec = Codec(keyring)
    codec.open(
        "acme", "r1", PLACE, "body", codec.seal("acme", "r1", PLACE, "body", codec.digest("acme", "r1", 1).hex())
    )
    assert _in_memory(made[0])
    world.clock.advance(301)
    codec.seal("acme", "r2", PLACE, "body", 1)
    assert not _in_memory(made[0])
    assert _in_memory(made[1])


def _in_memory(digest):
    """Whether a key of this digest is held on to by anything."""
    held = (each for thing in gc.get_objects() for each in gc.get_referents(thing))
    return any(type(each) is bytes and len(each) == 32 and sha256(each).digest() == digest for each in held)


def test_a_digest_tells_equal_from_other_content_whatever_the_order_of_names(world):
    codec = Codec(world.keyring())
    assert codec.digest("acme", None, {"a": 1, "b": 2}) == codec.digest("acme", None, {"b": 2, "a": 1})
    assert codec.digest("acme", None, 1) != codec.digest("acme", None, 2)
    assert codec.digest("acme", None, 1) != codec.digest("acme", "r1", 1)


@pytest.fixture(scope="module")
def blobs(engine):
    s3 = engine.client("s3")
    s3.create_bucket(Bucket="blobs", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
    s3.put_bucket_versioning(Bucket="blobs", VersioningConfiguration={"Status": "Enabled"})
    return S3BlobStore(s3, "blobs")


def test_an_object_is_read_as_it_was_put_and_missing_ones_are_not_found(blobs):
    blobs.put("acme/graphs/g/x", b"\x00\xff")
    assert blobs.get("acme/graphs/g/x") == b"\x00\xff"
    with pytest.raises(NotFound):
        blobs.get("acme/graphs/g/y")


def test_a_missing_object_is_not_found_by_whoever_may_not_list_either(engine):
    s3 = engine.client("s3")

    def forbidden(**_):
        raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "GetObject")

    s3.meta.events.register("before-send.s3", forbidden)
    with pytest.raises(NotFound):
        S3BlobStore(s3, "blobs").get("acme/graphs/g/x")
    for refused in (lambda b: b.put("acme/x", b""), lambda b: b.delete_all("acme/x")):
        with pytest.raises(ClientError):
            refused(S3BlobStore(s3, "blobs"))


def test_deleting_by_prefix_takes_every_version_and_nothing_beside_it(blobs):
    for _ in range(3):
        blobs.put("acme/graphs/old/x", b"1")
    blobs.put("acme/graphs/old-corp/x", b"2")
    assert blobs.delete_all("acme/graphs/old/") == 3
    assert blobs.delete_all("acme/graphs/old/") == 0
    assert blobs.get("acme/graphs/old-corp/x") == b"2"
