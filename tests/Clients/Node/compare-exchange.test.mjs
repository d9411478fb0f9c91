// Compare-exchange values and cluster-wide sessions, with the client as published.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
    CompareExchangeValue, DeleteCompareExchangeValueOperation, GetCompareExchangeValueOperation, GetCompareExchangeValuesOperation, GetDetailedStatisticsOperation, PutCompareExchangeValueOperation,
} from "ravendb";
import { seed, User, withDatabase } from "./support.mjs";

const put = (store, key, value, index, metadata) => store.operations.send(new PutCompareExchangeValueOperation(key, value, index, metadata));
const get = (store, key, clazz = Object) => store.operations.send(new GetCompareExchangeValueOperation(key, clazz));

test("a value is put, read, changed and deleted if its index is the expected one", () => withDatabase(async store => {
    const made = await put(store, "emails/ada", "users/1", 0);
    assert.equal(made.successful, true);
    const again = await put(store, "EMAILS/ADA", "users/2", 0);
    assert.deepEqual([again.successful, again.index, again.value], [false, made.index, "users/1"]);
    const changed = await put(store, "emails/ada", { owner: "users/3" }, made.index);
    assert.equal(changed.successful, true);
    assert.ok(changed.index > made.index);
    const read = await get(store, "emails/ada");
    assert.deepEqual([read.key, read.index, read.value.owner], ["emails/ada", changed.index, "users/3"]);
    const refused = await store.operations.send(new DeleteCompareExchangeValueOperation("emails/ada", made.index, Object));
    assert.equal(refused.successful, false);
    const deleted = await store.operations.send(new DeleteCompareExchangeValueOperation("emails/ada", changed.index, Object));
    assert.equal(deleted.successful, true);
    assert.equal(await get(store, "emails/ada") ?? null, null);
}));

test("numbers, texts, arrays and metadata come back as they were", () => withDatabase(async store => {
    for (const value of [7, "text", [1, "2", null], { a: { b: 1.5 } }])
        assert.equal((await put(store, `v/${JSON.stringify(value)}`, value, 0)).successful, true);
    assert.equal((await get(store, "v/7", Number)).value, 7);
    assert.equal((await get(store, "v/\"text\"", String)).value, "text");
    assert.deepEqual((await get(store, "v/[1,\"2\",null]", Array)).value, [1, "2", null]);
    await put(store, "with", 1, 0, { own: "yes" });
    assert.equal((await get(store, "with", Number)).metadata["own"], "yes");
}));

test("values are listed by the beginning of their keys and by several keys", () => withDatabase(async store => {
    for (let i = 0; i < 30; i++)
        await put(store, `${i % 2 ? "odd" : "even"}/${String(i).padStart(2, "0")}`, i, 0);
    const odd = await store.operations.send(new GetCompareExchangeValuesOperation({ startWith: "ODD/", start: 2, pageSize: 5, clazz: Number }));
    assert.deepEqual(Object.values(odd).map(x => x.value), [5, 7, 9, 11, 13]);
    const some = await store.operations.send(new GetCompareExchangeValuesOperation({ keys: ["even/00", "odd/01", "none"], clazz: Number }));
    assert.deepEqual([some["even/00"].value, some["odd/01"].value, some["none"].value], [0, 1, null]);
    const statistics = await store.maintenance.send(new GetDetailedStatisticsOperation());
    assert.equal(statistics.countOfCompareExchange, 30);
}));

test("a cluster-wide session writes documents and values together", () => withDatabase(async store => {
    const session = store.openSession({ transactionMode: "ClusterWide" });
    session.advanced.clusterTransaction.createCompareExchangeValue("names/ada", "users/1");
    await session.store(new User({ name: "Ada" }), "users/1");
    await session.saveChanges();
    const other = store.openSession({ transactionMode: "ClusterWide" });
    const value = await other.advanced.clusterTransaction.getCompareExchangeValue("names/ada");
    assert.equal(value.value, "users/1");
    const user = await other.load("users/1", User);
    user.age = 36;
    value.value = "users/1!";
    await other.saveChanges();
    user.age = 37;
    await other.saveChanges();
    assert.equal((await get(store, "names/ada", String)).value, "users/1!");
    const last = store.openSession({ transactionMode: "ClusterWide" });
    last.advanced.clusterTransaction.deleteCompareExchangeValue(await last.advanced.clusterTransaction.getCompareExchangeValue("names/ada"));
    await last.delete("users/1");
    await last.saveChanges();
    assert.equal(await get(store, "names/ada") ?? null, null);
    assert.equal(await store.openSession().load("users/1", User), null);
}));

test("of two cluster-wide sessions that changed a document the second is refused, and the conflict is named", () => withDatabase(async store => {
    const first = store.openSession({ transactionMode: "ClusterWide" });
    await first.store(new User({ name: "Ada" }), "users/1");
    await first.saveChanges();
    const one = store.openSession({ transactionMode: "ClusterWide" }), two = store.openSession({ transactionMode: "ClusterWide" });
    const ofOne = await one.load("users/1", User), ofTwo = await two.load("users/1", User);
    ofOne.name = "Augusta";
    ofTwo.name = "Lovelace";
    await one.saveChanges();
    await assert.rejects(two.saveChanges(), error => error.name === "ClusterTransactionConcurrencyException" && error.message.includes("users/1"));
    assert.equal((await store.openSession().load("users/1", User)).name, "Augusta");
    const taken = store.openSession({ transactionMode: "ClusterWide" });
    await taken.store(new User({ name: "Bob" }), "users/1");
    await assert.rejects(taken.saveChanges(), { name: "ClusterTransactionConcurrencyException" });
}));

test("without atomic guards the later of two cluster-wide sessions wins", () => withDatabase(async store => {
    const open = () => store.openSession({ transactionMode: "ClusterWide", disableAtomicDocumentWritesInClusterWideTransaction: true });
    const guards = async () => Object.keys(await store.operations.send(new GetCompareExchangeValuesOperation({ startWith: "rvn-atomic/", start: 0, pageSize: 9 })));
    const first = open();
    await first.store(new User({ name: "Ada" }), "users/1");
    await first.saveChanges();
    assert.deepEqual(await guards(), []);
    const [one, two] = [open(), open()];
    const [a, b] = [await one.load("users/1", User), await two.load("users/1", User)];
    a.name = "one";
    b.name = "two";
    await one.saveChanges();
    await two.saveChanges();
    assert.equal((await store.openSession().load("users/1", User)).name, "two");
    const guarded = store.openSession({ transactionMode: "ClusterWide" });
    await guarded.store(new User({ name: "Bob" }), "users/2");
    await guarded.saveChanges();
    assert.deepEqual(await guards(), ["rvn-atomic/users/2"]);
}));

test("a document that was deleted outside of cluster-wide sessions can be stored again", () => withDatabase(async store => {
    const first = store.openSession({ transactionMode: "ClusterWide" });
    await first.store(new User({ name: "Ada" }), "users/1");
    await first.saveChanges();
    const plain = store.openSession();
    await plain.delete("users/1");
    await plain.saveChanges();
    const again = store.openSession({ transactionMode: "ClusterWide" });
    assert.equal(await again.load("users/1", User), null);
    await again.store(new User({ name: "Bob" }), "users/1");
    await again.saveChanges();
    assert.equal((await store.openSession().load("users/1", User)).name, "Bob");
}));

test("a value is loaded lazily and included in a load", () => withDatabase(async store => {
    await put(store, "k/1", "one", 0);
    await seed(store, { "users/1": new User({ name: "k/1" }) });
    const session = store.openSession({ transactionMode: "ClusterWide" });
    const lazy = session.advanced.clusterTransaction.lazily.getCompareExchangeValue("k/1");
    assert.equal((await lazy.getValue()).value, "one");
    await put(store, "k/2", "two", 0);
    const other = store.openSession({ transactionMode: "ClusterWide" });
    const several = await other.advanced.clusterTransaction.lazily.getCompareExchangeValues(["k/1", "k/2", "none"]).getValue();
    assert.deepEqual([several["k/1"].value, several["k/2"].value, several["none"] ?? null], ["one", "two", null]);
}));
